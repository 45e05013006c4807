/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_FILES_ROOTFILE_H
#define STACKTOP_SYMBOLS_FILES_ROOTFILE_H

/*
 * Regular files below another process's root, whose owner may put anything in their place: a FIFO,
 * a device, a file of procfs, a link that leads out of the root or in a circle.
 */

struct stat;

/*
 * Opens path, absolute or not, for reading below the root that the descriptor root stands for, and
 * resolves it as a process with that root would; root -1: as this process does. Nothing but a
 * regular file of a file system that keeps data is ever opened, so none of procfs, sysfs, tracefs
 * and the like. The caller closes what is returned. -EINVAL: no such file; else the error of a
 * system call (-ELOOP: links in a circle, or one of /proc's).
 */
int rootfile_open(int root, const char *path);

/*
 * The steps of it, for callers that have more to ask of a file than its kind: a descriptor that
 * stands for what is at path without having opened it (O_PATH), O_NOFOLLOW being the only flag that
 * counts; whether it may be opened, as said above, and its status; and a descriptor that reads the
 * very file that was held. The caller closes both. -errno.
 */
int rootfile_hold(int root, const char *path, int flags);
int rootfile_check(int held, struct stat *st);
int rootfile_reopen(int held);

/*
 * The same for a thread that must not wait: nothing on the way is of a file system that may not
 * answer, which would be asked as soon as a name in it is looked up. -EXDEV: something is, or may
 * be (symbols/files/localfs.h), and another process has to be asked (symbols/files/fileasker.h).
 */
int rootfile_hold_local(int root, const char *path, int flags);
int rootfile_open_local(int root, const char *path);

/* Root folder of a process, for rootfile_open. The caller closes it. -errno. */
int rootfile_root(int pid);

#endif
