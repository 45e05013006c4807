// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each part of a path is opened by itself, below the one before it, with O_PATH, which has no side
 * effects. So the file that was checked is the one that is used: no other user can put something
 * else there in between.
 */
#include "tui/util/safepath.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "symbols/base/text.h"

#define STEPS_MAX   100000 /* ends a path of folders that come and go */
#define LINKS_MAX   40	   /* as in path_resolution(7) */
#define MADE_MAX    2
#define PROCFS_TYPE 0x9fa0

struct safepath_walk {
	struct safepath *s;
	unsigned int flags;
	unsigned int links;
	bool through_link; /* the last name is not the given one */
	const char *at;	   /* in rest */
	char rest[PATH_MAX];
};

static void close_held(struct safepath *s)
{
	if (s->held >= 0)
		close(s->held);
	s->held = -1;
}

void safepath_close(struct safepath *s)
{
	close_held(s);
	if (s->folder >= 0)
		close(s->folder);
	s->folder = -1;
}

static void say_why(struct safepath *s, const char *what)
{
	char fd[32], folder[PATH_MAX] = "", text[sizeof(s->why)];
	const char *slash;
	ssize_t n;

	snprintf(fd, sizeof(fd), "/proc/self/fd/%d", s->folder);
	n = readlink(fd, folder, sizeof(folder) - 1);
	if (n >= 0)
		folder[n] = '\0';
	slash = !*folder || !strcmp(folder, "/") ? "" : "/";
	snprintf(text, sizeof(text), "%.150s%s%.60s %s %u", folder, slash, s->name, what,
		 (unsigned int)s->status.st_uid);
	text_clean(s->why, sizeof(s->why), text, strlen(text));
}

int safepath_refuse(struct safepath *s)
{
	say_why(s, "belongs to user ID");
	return -EPERM;
}

static bool is_ours(uid_t uid)
{
	return !uid || uid == geteuid();
}

bool safepath_is_own(const struct safepath *s)
{
	struct stat st;

	return !fstat(s->folder, &st) && is_ours(st.st_uid) &&
	       (!(st.st_mode & (S_IWGRP | S_IWOTH)) || st.st_mode & S_ISVTX);
}

/* The kernel's own links, which lead to files and not to names. */
static bool is_magic(const struct safepath *s)
{
	struct statfs system;

	return !fstatfs(s->folder, &system) && system.f_type == PROCFS_TYPE;
}

/* *length of the part at walk->at, skipping the slashes before it; true: it is the last one. */
static bool next_part(struct safepath_walk *w, size_t *length)
{
	w->at += strspn(w->at, "/");
	*length = strcspn(w->at, "/");
	return w->at[*length + strspn(w->at + *length, "/")] == '\0';
}

static unsigned int parts_after(const char *at)
{
	unsigned int n = 0;

	while (at += strcspn(at, "/"), at += strspn(at, "/"), *at)
		n++;
	return n;
}

static int go_to(struct safepath *s, const char *folder)
{
	if (s->folder >= 0)
		close(s->folder);
	s->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return s->folder < 0 ? -errno : 0;
}

static int check_link(struct safepath *s)
{
	if (geteuid())
		return 0;
	if (!s->status.st_uid && safepath_is_own(s))
		return 0;
	say_why(s, s->status.st_uid ? "is a link of user ID"
				    : "is a link that other users can move, of user ID");
	return -EPERM;
}

/* The rest of the path is the link's target and what came after the link. */
static int follow_text(struct safepath_walk *w, size_t length, bool last)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(w->s->held, "", target, sizeof(target) - 1);
	size_t left = strlen(w->at + length);

	close_held(w->s);
	if (n < 0)
		return -errno;
	if ((size_t)n + left >= sizeof(w->rest))
		return -ENAMETOOLONG;
	target[n] = '\0';
	memmove(w->rest + n, w->at + length, left + 1);
	memcpy(w->rest, target, (size_t)n);
	w->at = w->rest;
	w->through_link |= last;
	return *target == '/' ? go_to(w->s, "/") : n ? 0 : -ENOENT;
}

/* 1: the rest has changed. */
static int follow(struct safepath_walk *w, size_t length, bool last)
{
	struct safepath *s = w->s;
	int err = check_link(s);

	if (!err && ++w->links > LINKS_MAX)
		err = -ELOOP;
	if (err)
		return err;
	if (!is_magic(s) || !strcmp(s->name, "self") || !strcmp(s->name, "thread-self")) {
		err = follow_text(w, length, last);
		return err ? err : 1;
	}
	close_held(s);
	s->held = openat(s->folder, s->name, O_PATH | O_CLOEXEC);
	if (s->held < 0 || fstat(s->held, &s->status))
		return -errno;
	s->given = last;
	return 0;
}

/* 1: try the same name again. */
static int missing(const struct safepath_walk *w, bool last)
{
	if (errno != ENOENT)
		return -errno;
	if (last)
		return w->through_link || strchr(w->at, '/') ? -ENOENT : 0;
	if (!(w->flags & SAFEPATH_MAKE) || parts_after(w->at) > MADE_MAX)
		return -ENOENT;
	if (mkdirat(w->s->folder, w->s->name, 0700) && errno != EEXIST)
		return -errno;
	return 1;
}

/* 1: the path goes on. */
static int step(struct safepath_walk *w)
{
	struct safepath *s = w->s;
	size_t length;
	bool last = next_part(w, &length);
	int err = 0;

	if (length >= sizeof(s->name))
		return -ENAMETOOLONG;
	/* An empty part ("/", or the end of a link's target) is the folder itself. */
	snprintf(s->name, sizeof(s->name), "%.*s", length ? (int)length : 1, length ? w->at : ".");
	s->held = openat(s->folder, s->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (s->held < 0)
		return missing(w, last);
	if (fstat(s->held, &s->status))
		return -errno;
	if (S_ISLNK(s->status.st_mode) && !(last && w->flags & SAFEPATH_NOFOLLOW))
		err = follow(w, length, last);
	if (err)
		return err;
	if (!S_ISDIR(s->status.st_mode) && w->at[length])
		return -ENOTDIR;
	if (last)
		return 0;
	close(s->folder);
	s->folder = s->held;
	s->held = -1;
	w->at += length;
	return 1;
}

int safepath_open(struct safepath *s, const char *path, unsigned int flags)
{
	struct safepath_walk w = {.s = s, .flags = flags};
	int err;

	*s = (struct safepath){.folder = -1, .held = -1};
	w.at = w.rest;
	if (!*path)
		return -ENOENT;
	if (snprintf(w.rest, sizeof(w.rest), "%s", path) >= (int)sizeof(w.rest))
		return -ENAMETOOLONG;
	err = go_to(s, *path == '/' ? "/" : ".");
	if (!err)
		err = 1;
	for (unsigned int i = 0; err == 1; i++)
		err = i < STEPS_MAX ? step(&w) : -ELOOP;
	if (err)
		safepath_close(s);
	return err;
}

int safepath_reopen(const struct safepath *s, int flags)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", s->held);
	fd = open(path, flags | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}
