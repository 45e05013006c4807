/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacktop runs as root and may be asked to write into folders of other users: the temporary file
 * is made with O_EXCL under a name that cannot be guessed, and the last step is a rename, which
 * does not follow a link that another user puts there meanwhile.
 */
#include "tui/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct outfile {
	FILE *stream;
	char *path; /* to be; NULL: it is no regular file */
	char *temporary;
	bool fresh; /* nothing may be replaced */
};

static void outfile_free(struct outfile *file)
{
	free(file->path);
	free(file->temporary);
	free(file);
}

/* Whatever umask hides from others; asking for it means to set it. */
static mode_t default_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

static int open_temporary(struct outfile *file, mode_t mode)
{
	int length =
		(int)(strrchr(file->path, '/') ? strrchr(file->path, '/') + 1 - file->path : 0);
	int fd, err;

	if (asprintf(&file->temporary, "%.*s.%s.XXXXXX", length, file->path, file->path + length) <
	    0) {
		file->temporary = NULL;
		return -ENOMEM;
	}
	fd = mkostemp(file->temporary, O_CLOEXEC);
	if (fd < 0) {
		err = -errno;
		free(file->temporary);
		file->temporary = NULL;
		return err;
	}
	if (fchmod(fd, mode) && errno != EPERM) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

static int open_for(struct outfile *file, const char *path)
{
	struct stat status;
	bool exists, link;
	int fd;

	if (!*path)
		return -ENOENT;
	exists = !lstat(path, &status);
	link = exists && S_ISLNK(status.st_mode);
	if (!exists && errno != ENOENT)
		return -errno;
	if (file->fresh && exists)
		return -EEXIST;
	if (!exists) {
		file->path = strdup(path);
		return file->path ? open_temporary(file, default_mode()) : -ENOMEM;
	}
	/* Root goes where its own links lead, not where others point it to. */
	if (link && !geteuid() && status.st_uid)
		return -EPERM;
	if (link && stat(path, &status))
		return -errno;
	if (S_ISREG(status.st_mode)) {
		file->path = link ? realpath(path, NULL) : strdup(path);
		return file->path ? open_temporary(file, status.st_mode & 0777) : -errno;
	}
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | (link ? 0 : O_NOFOLLOW));
	return fd < 0 ? -errno : fd;
}

static int outfile_make(const char *path, bool fresh, struct outfile **out)
{
	struct outfile *file = calloc(1, sizeof(*file));
	int fd;

	*out = NULL;
	if (!file)
		return -ENOMEM;
	file->fresh = fresh;
	fd = open_for(file, path);
	if (fd >= 0) {
		file->stream = fdopen(fd, "w");
		if (!file->stream) {
			close(fd);
			fd = -ENOMEM;
		}
	}
	if (fd < 0) {
		outfile_abandon(file);
		return fd;
	}
	*out = file;
	return 0;
}

int outfile_open(const char *path, struct outfile **out)
{
	return outfile_make(path, false, out);
}

int outfile_new(const char *path, struct outfile **out)
{
	return outfile_make(path, true, out);
}

FILE *outfile_stream(struct outfile *file)
{
	return file->stream;
}

/* musl has no function for it. */
static int take_name(const struct outfile *file)
{
	unsigned int flags = file->fresh ? RENAME_NOREPLACE : 0;

	if (!syscall(SYS_renameat2, AT_FDCWD, file->temporary, AT_FDCWD, file->path, flags))
		return 0;
	return -errno;
}

int outfile_commit(struct outfile *file)
{
	int err = 0;

	errno = 0;
	if (fflush(file->stream) || ferror(file->stream))
		err = errno ? -errno : -EIO;
	/* What is no file on a disk has nothing to be synced. */
	if (!err && file->path && fsync(fileno(file->stream)) && errno != EINVAL && errno != EROFS)
		err = -errno;
	if (fclose(file->stream) && !err)
		err = -errno;
	file->stream = NULL;
	if (!err && file->path)
		err = take_name(file);
	if (err) {
		outfile_abandon(file);
		return err;
	}
	outfile_free(file);
	return 0;
}

void outfile_abandon(struct outfile *file)
{
	if (!file)
		return;
	if (file->stream)
		fclose(file->stream);
	if (file->temporary)
		unlink(file->temporary);
	outfile_free(file);
}
