// SPDX-License-Identifier: GPL-2.0-or-later
/* See smallfile.h. */
#include "tui/util/smallfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/files/rootfile.h"
#include "tui/util/safepath.h"

static bool is_trusted(const struct stat *st, enum smallfile_trust trust)
{
	if (trust == SMALLFILE_ANY || geteuid())
		return true;
	return !st->st_uid && (trust == SMALLFILE_OWN || !(st->st_mode & (S_IWGRP | S_IWOTH)));
}

static int open_file(const char *path, size_t max, enum smallfile_trust trust)
{
	struct safepath at;
	struct stat st;
	int fd = safepath_open(&at, path, 0);

	if (fd)
		return fd;
	if (at.held < 0)
		fd = -ENOENT;
	else
		fd = rootfile_check(at.held, &st);
	if (!fd && !is_trusted(&st, trust))
		fd = -EPERM;
	if (!fd && (uintmax_t)st.st_size > max)
		fd = -EFBIG;
	if (!fd)
		fd = safepath_reopen(&at, O_RDONLY | O_NONBLOCK);
	safepath_close(&at);
	return fd;
}

/* room: one more than the size, for the file may have grown since. */
static int read_all(int fd, char *text, size_t room, size_t *length)
{
	ssize_t n = 1;

	*length = 0;
	while (n > 0 && *length < room) {
		n = TEMP_FAILURE_RETRY(read(fd, text + *length, room - *length));
		if (n < 0)
			return -errno;
		*length += (size_t)n;
	}
	return *length < room ? 0 : -EFBIG;
}

int smallfile_read(const char *path, size_t max, enum smallfile_trust trust, char **text,
		   size_t *length)
{
	int fd = open_file(path, max, trust), err;

	*text = NULL;
	*length = 0;
	if (fd < 0)
		return fd;
	*text = malloc(max + 1);
	err = *text ? read_all(fd, *text, max + 1, length) : -ENOMEM;
	close(fd);
	if (!err) {
		(*text)[*length] = '\0';
		return 0;
	}
	free(*text);
	*text = NULL;
	return err;
}
