// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A mistyped name after --record must not destroy a file that is not a session, and root does not
 * write through links that other users made.
 */
#include "tui/session/session_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tui/util/safepath.h"
#include "tui/session/session.h"

static bool is_session(int fd, const struct stat *st)
{
	char begin[SESSION_MAGIC_SIZE];

	return S_ISREG(st->st_mode) &&
	       (!st->st_size || (pread(fd, begin, sizeof(begin), 0) == sizeof(begin) &&
				 memcmp(begin, SESSION_MAGIC, SESSION_MAGIC_SIZE) == 0));
}

/* -EBUSY: another recorder has the lock. A file system without locks has none to respect. */
static int lock(int fd, const char *path, char *error, size_t size)
{
	if (!flock(fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
		return 0;
	snprintf(error, size, "%s: is being recorded by another stacktop", path);
	return -EBUSY;
}

/* Locks what is ours to overwrite, and empties it. The owner of a file can always read it. */
static int take_over(int fd, const char *path, char *error, size_t size)
{
	struct stat st;
	int err;

	if (fstat(fd, &st) || !is_session(fd, &st)) {
		snprintf(error, size, "%s: exists and is not a session; it was not changed", path);
		return -EEXIST;
	}
	if (st.st_uid != geteuid() || st.st_nlink != 1) {
		snprintf(error, size, "%s: %s; it was not changed", path,
			 st.st_nlink != 1 ? "has another hard link" : "belongs to another user");
		return -EPERM;
	}
	err = lock(fd, path, error, size);
	if (err)
		return err;
	if (fchmod(fd, 0600) || ftruncate(fd, 0)) {
		err = -errno;
		snprintf(error, size, "%s: %s", path, strerror(-err));
		return err;
	}
	return 0;
}

/* An existing file must be a session, or empty. Returns its descriptor or -errno. */
static int open_old(const struct safepath *at, const char *path, char *error, size_t size)
{
	int fd = openat(at->folder, at->name,
			O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int err = fd < 0 ? -errno : 0;

	if (err) {
		snprintf(error, size, "%s: %s", path,
			 err == -ELOOP ? "is a link, which is not followed" : strerror(-err));
		return err;
	}
	err = take_over(fd, path, error, size);
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int open_at(const struct safepath *at, const char *path, char *error, size_t size)
{
	int fd = openat(at->folder, at->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0600);
	int err;

	if (fd < 0 && errno == EEXIST)
		return open_old(at, path, error, size);
	if (fd < 0) {
		err = -errno;
		snprintf(error, size, "%s: %s", path, strerror(-err));
		return err;
	}
	/* Another recorder may have found the new, empty file before it was locked. */
	err = lock(fd, path, error, size);
	if (!err)
		return fd;
	close(fd);
	return err;
}

int session_file_new(const char *path, char *error, size_t size)
{
	struct safepath at;
	int fd = safepath_open(&at, path, SAFEPATH_NOFOLLOW);

	if (fd) {
		snprintf(error, size, "%s: %s", path, at.why[0] ? at.why : strerror(-fd));
		return fd;
	}
	fd = open_at(&at, path, error, size);
	safepath_close(&at);
	return fd;
}
