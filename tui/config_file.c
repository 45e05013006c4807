// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The settings as a file. If root runs with the HOME of another user, that user may own the
 * directory. So reads are bounded and do not block, root accepts only its own files, and a new file
 * takes its name in one step.
 */
#include "tui/config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tui/outfile.h"

bool config_path(char *to, size_t size)
{
	const char *config = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");
	int n = -1;

	if (config && config[0] == '/')
		n = snprintf(to, size, "%s/stacktop/config", config);
	else if (home && home[0] == '/')
		n = snprintf(to, size, "%s/.config/stacktop/config", home);
	return n > 0 && (size_t)n < size;
}

const char *config_error(int err)
{
	return err == -EINVAL  ? "not a regular file"
	       : err == -EFBIG ? "larger than 64 KiB"
	       : err == -EPERM ? "belongs to another user than root"
			       : strerror(-err);
}

/* Root trusts only its own files; for other users the permissions of the file suffice. */
static bool trusted(const struct stat *st)
{
	return geteuid() != 0 || st->st_uid == 0;
}

static int check(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return -EINVAL;
	if (!trusted(st))
		return -EPERM;
	return st->st_size > CONFIG_FILE_MAX ? -EFBIG : 0;
}

static int read_all(int fd, char *text, size_t *length)
{
	ssize_t n = 1;

	*length = 0;
	while (n > 0 && *length <= CONFIG_FILE_MAX) {
		n = TEMP_FAILURE_RETRY(read(fd, text + *length, CONFIG_FILE_MAX + 1 - *length));
		if (n < 0)
			return -errno;
		*length += (size_t)n;
	}
	/* It may have grown since it was looked at. */
	return *length > CONFIG_FILE_MAX ? -EFBIG : 0;
}

/* The caller frees *text; NULL with 0: there is no file. */
static int read_text(const char *path, char **text, size_t *length)
{
	struct stat st;
	int fd, err;

	*text = NULL;
	*length = 0;
	/* With a link another user could make root read any file that root owns. */
	if (!lstat(path, &st) && S_ISLNK(st.st_mode) && !trusted(&st))
		return -EPERM;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	err = fstat(fd, &st) ? -errno : check(&st);
	if (!err) {
		*text = malloc(CONFIG_FILE_MAX + 1);
		err = *text ? read_all(fd, *text, length) : -ENOMEM;
	}
	if (err) {
		free(*text);
		*text = NULL;
	}
	close(fd);
	return err;
}

int config_read(struct config *out, const char *path, config_warn_fn warn, void *arg)
{
	char *text;
	size_t length;
	int err = read_text(path, &text, &length);

	config_parse(out, text ? text : "", text ? length : 0, warn, arg);
	free(text);
	return err;
}

/* Makes the directory and the one above it, which a new user lacks, too. */
static int make_directory(const char *path)
{
	char directory[PATH_MAX], *slash;
	struct stat st;

	if (snprintf(directory, sizeof(directory), "%s", path) >= (int)sizeof(directory))
		return -ENAMETOOLONG;
	slash = strrchr(directory, '/');
	if (!slash || slash == directory)
		return 0;
	*slash = '\0';
	if (mkdir(directory, 0700) && errno == ENOENT) {
		char *above = strrchr(directory, '/');

		if (above && above != directory) {
			*above = '\0';
			if (mkdir(directory, 0700) && errno != EEXIST)
				return -errno;
			*above = '/';
		}
		if (mkdir(directory, 0700) && errno != EEXIST)
			return -errno;
	}
	if (stat(directory, &st))
		return -errno;
	return trusted(&st) ? 0 : -EPERM;
}

int config_write(const struct config *c, const char *path)
{
	struct outfile *file = NULL;
	char *text, *edited = NULL;
	size_t length;
	int err = make_directory(path);

	if (err)
		return err;
	err = read_text(path, &text, &length);
	if (!err)
		err = config_edit(c, text ? text : "", length, &edited);
	free(text);
	if (!err)
		err = outfile_open(path, &file);
	if (!err && fputs(edited, outfile_stream(file)) < 0)
		err = -EIO;
	if (err)
		outfile_abandon(file);
	else
		err = outfile_commit(file);
	free(edited);
	return err;
}
