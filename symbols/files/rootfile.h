/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_FILES_ROOTFILE_H
#define STACKTOP_SYMBOLS_FILES_ROOTFILE_H

/*
 * Regular files below another process's root. The owner of the root may put anything in their
 * place: a FIFO, a device, a file of procfs, a link that leads out of the root or in a circle.
 */

#include <sys/types.h>

struct stat;

/*
 * Opens path, absolute or not, for reading below the root folder of the descriptor root, and
 * resolves it as a process with that root would; root -1: as this process does. It opens only
 * regular files of file systems that keep data, none of procfs, sysfs, tracefs and the like. The
 * caller closes the descriptor. -EINVAL: no such file; else the error of a system call (-ELOOP:
 * links in a circle, or one of /proc's).
 */
int rootfile_open(int root, const char *path);

/*
 * The steps of rootfile_open, for callers that check more than the kind of a file. rootfile_hold
 * returns a descriptor for the file at path without opening it (O_PATH); of flags only O_NOFOLLOW
 * counts. rootfile_check tells whether it may be opened, and its status. rootfile_reopen opens the
 * very file that is held for reading. The caller closes both descriptors. -errno.
 */
int rootfile_hold(int root, const char *path, int flags);
int rootfile_check(int held, struct stat *st);
int rootfile_reopen(int held);

/*
 * The same for a thread that must not wait: no part of the path is on a file system that may not
 * answer, which would happen as soon as a name in it is looked up. -EXDEV: a part is, or may be
 * (symbols/files/localfs.h); ask another process (symbols/files/fileasker.h).
 */
int rootfile_hold_local(int root, const char *path, int flags);
int rootfile_open_local(int root, const char *path);

/* The root folder of a process, for rootfile_open. The caller closes it. -errno. */
int rootfile_root(int pid);
/*
 * A thread that still has the memory and the root of its process: the first one, unless it has
 * ended while others live. Use its number in /proc in place of the process's, which stands for the
 * first thread. Returns pid itself if no thread lives.
 */
pid_t rootfile_livethread(pid_t pid);

#endif
