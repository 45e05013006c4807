/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_FILES_PROCFILE_H
#define STACKTOP_SYMBOLS_FILES_PROCFILE_H

/*
 * Files that a process left for its profilers, as the process itself sees them: below its own root,
 * with its number in its own PID namespace.
 */

#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct file_facts;
struct fileasker;

struct procfile_owner {
	pid_t pid;     /* in this namespace */
	pid_t nspid;   /* in the innermost namespace of the process */
	uid_t uid;     /* real */
	uid_t euid;    /* effective */
	int64_t start; /* seconds since the epoch when the process started, about */
};

/*
 * The whole of a text file of /proc/PID (status, stat), which a process can make as long as its
 * list of groups; the caller frees it. NULL: see errno (ESRCH: no such process).
 */
char *procfile_text(pid_t pid, const char *name);

/* -ESRCH: no such process; -EINVAL: /proc contains nonsense. */
int procfile_owner(pid_t pid, struct procfile_owner *out);

/*
 * Opens a file for reading. path ("tmp/x") is below the root folder of the process and cannot lead
 * out of it. Links to folders are followed, but the last name must not be a link. Only regular
 * files of the process's user or root that were written while the process lived are opened. Others
 * are not touched, so that a FIFO does not block and a device does not notice. *st describes the
 * file. Returns a descriptor, or -errno; -EPERM: it cannot be trusted.
 */
int procfile_open(const struct procfile_owner *owner, const char *path, struct stat *st);
/*
 * The same for a thread that must not wait (symbols/files/fileasker.h): on -EXDEV it asks the
 * asker. NULL: the thread may wait. known: the copy that the caller already has, or NULL.
 */
int procfile_ask(const struct procfile_owner *owner, const char *path, struct fileasker *asker,
		 const struct file_facts *known, struct file_facts *facts);

#endif
