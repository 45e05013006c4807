/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacktop runs as root and may write into folders of other users. So the temporary file is made
 * with O_EXCL under a name that cannot be guessed, and the last step is a rename, which does not
 * follow a link that another user puts there meanwhile. Both are done in the folder that was found
 * at first (tui/util/safepath.h).
 */
#include "tui/util/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "symbols/base/text.h"
#include "tui/util/safepath.h"

struct outfile {
	FILE *stream;
	struct safepath path;
	char *temporary; /* NULL: not a regular file, or one that was given open */
	bool fresh;	 /* an existing file must not be replaced */
};

static void outfile_free(struct outfile *file)
{
	safepath_close(&file->path);
	free(file->temporary);
	free(file);
}

/* The umask can only be read by setting it. */
static mode_t default_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/* If others can put one of our files under another name, its mode must not be kept. */
static mode_t mode_of(const struct safepath *path)
{
	mode_t mode = path->status.st_mode & 0777;

	if (path->status.st_nlink == 1 && safepath_is_own(path))
		return mode;
	return mode & default_mode();
}

/* A name that cannot be guessed, beside the final one; mkostemp(3) takes no folder. */
static int make_unguessed(struct outfile *file)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	unsigned char bytes[12];
	char *at;
	int fd;

	if (asprintf(&file->temporary, ".%s.xxxxxxxxxxxx", file->path.name) < 0) {
		file->temporary = NULL;
		return -ENOMEM;
	}
	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return -EIO;
	at = file->temporary + strlen(file->temporary) - sizeof(bytes);
	for (size_t i = 0; i < sizeof(bytes); i++)
		at[i] = letters[bytes[i] % (sizeof(letters) - 1)];
	fd = openat(file->path.folder, file->temporary,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

static int open_temporary(struct outfile *file, mode_t mode)
{
	int fd = make_unguessed(file), err;

	if (fd < 0) {
		free(file->temporary);
		file->temporary = NULL;
		return fd;
	}
	if (fchmod(fd, mode) && errno != EPERM) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

/* A device may be written: only root can make one. */
static int may_write(struct safepath *path)
{
	mode_t kind = path->status.st_mode & S_IFMT;

	if (path->given || kind == S_IFCHR)
		return 0;
	if (kind == S_IFDIR)
		return -EISDIR;
	return path->status.st_uid == geteuid() ? 0 : safepath_refuse(path);
}

/* 0: the name is free, or belongs to what may be written. Only -EPERM sets path->why. */
static int find(struct safepath *path, const char *name, bool fresh)
{
	int err = safepath_open(path, name, fresh ? SAFEPATH_NOFOLLOW : 0);

	if (!err && path->held >= 0)
		err = fresh ? -EEXIST : may_write(path);
	return err;
}

static int open_for(struct outfile *file, const char *name)
{
	struct safepath *path = &file->path;
	int err = find(path, name, file->fresh);

	if (err)
		return err;
	if (path->held < 0)
		return open_temporary(file, default_mode());
	if (S_ISREG(path->status.st_mode) && !path->given)
		return open_temporary(file, mode_of(path));
	/* The shell may have opened standard output for appending. */
	return safepath_reopen(path, O_WRONLY | O_APPEND);
}

void outfile_error(const char *path, int err, char *to, size_t size)
{
	struct safepath at;
	char text[PATH_MAX + 300];

	/* Asks again for the reason of the refusal, only to report it. */
	if (err != -EPERM || find(&at, path, false) != -EPERM)
		at.why[0] = '\0';
	if (err == -EPERM)
		safepath_close(&at);
	snprintf(text, sizeof(text), "%s: %s", path, at.why[0] ? at.why : strerror(-err));
	text_clean(to, size, text, strlen(text));
}

static int outfile_make(const char *path, bool fresh, struct outfile **out)
{
	struct outfile *file = calloc(1, sizeof(*file));
	int fd;

	*out = NULL;
	if (!file)
		return -ENOMEM;
	file->path = (struct safepath){.folder = -1, .held = -1};
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

/* musl has no renameat2. */
static int take_name(const struct outfile *file)
{
	unsigned int flags = file->fresh ? RENAME_NOREPLACE : 0;

	if (!syscall(SYS_renameat2, file->path.folder, file->temporary, file->path.folder,
		     file->path.name, flags))
		return 0;
	return -errno;
}

int outfile_commit(struct outfile *file)
{
	int err = 0;

	errno = 0;
	if (fflush(file->stream) || ferror(file->stream))
		err = errno ? -errno : -EIO;
	/* Only regular files can be synced. */
	if (!err && file->temporary && fsync(fileno(file->stream)) && errno != EINVAL &&
	    errno != EROFS)
		err = -errno;
	if (fclose(file->stream) && !err)
		err = -errno;
	file->stream = NULL;
	if (!err && file->temporary)
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
		unlinkat(file->path.folder, file->temporary, 0);
	outfile_free(file);
}
