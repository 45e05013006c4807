/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UTIL_SAFEPATH_H
#define STACKTOP_TUI_UTIL_SAFEPATH_H

/*
 * Where a path leads, without letting other users choose it. Root follows a link only if root made
 * it and no other user can move it: its folder is root's, and writable by root alone or sticky. For
 * other users the kernel's own rule (fs.protected_symlinks of proc_sys_fs(5)) is enough.
 */

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

enum safepath_flags {
	SAFEPATH_NOFOLLOW = 1, /* return the entry itself, even if it is a link */
	SAFEPATH_MAKE = 2,     /* the last two folders are made, 0700, if they are missing */
};

struct safepath {
	int folder;	    /* the folder of the name, O_PATH */
	int held;	    /* the entry of that name, O_PATH; -1: there is none */
	struct stat status; /* of held */
	bool given; /* held is a file that a process has open, by a link of procfs: it has no name
		     */
	char name[NAME_MAX + 1];
	char why[256]; /* for -EPERM, printable: the file and its owner */
};

/*
 * 0, also if there is no entry of that name; safepath_close ends it. -EPERM: refused, *s says why;
 * other errors are those of open(2) for the folders, and -ENOENT for a link that leads to nothing;
 * nothing is open then.
 */
int safepath_open(struct safepath *s, const char *path, unsigned int flags);
void safepath_close(struct safepath *s);
/* Opens what is held with the flags of open(2). A descriptor, which the caller owns, or -errno. */
int safepath_reopen(const struct safepath *s, int flags);
/* True if root or this user owns the folder, and others cannot rename this user's files in it. */
bool safepath_is_own(const struct safepath *s);
/* -EPERM, and says why: what is held belongs to another user. */
int safepath_refuse(struct safepath *s);

#endif
