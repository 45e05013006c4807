// SPDX-License-Identifier: GPL-2.0-or-later
/* See smallfile.h. */
#include "tui/util/smallfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/files/rootfile.h"
#include "tui/util/safepath.h"

static int open_file(const char *path, size_t max, bool own)
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
	if (!fd && own && !geteuid() && st.st_uid)
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

int smallfile_read(const char *path, size_t max, bool own, char **text, size_t *length)
{
	int fd = open_file(path, max, own), err;

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
