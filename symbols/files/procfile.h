/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_FILES_PROCFILE_H
#define STACKTOP_SYMBOLS_FILES_PROCFILE_H

/*
 * Files that a process left for its profilers, as the process itself sees them: in its own root,
 * under the number that its own PID namespace gives it.
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
	int64_t start; /* seconds since the epoch at which the process began, about */
};

/*
 * The whole of a text file of /proc/PID (status, stat), which a process can make as long as its
 * list of groups; the caller frees it. NULL: errno says why (ESRCH: there is no such process).
 */
char *procfile_text(pid_t pid, const char *name);

/* Asks /proc. -ESRCH: there is no such process; -EINVAL: /proc makes no sense. */
int procfile_owner(pid_t pid, struct procfile_owner *out);

/*
 * Opens a file for reading, path ("tmp/x") being below the root folder of the process and unable to
 * lead out of it. Links in its folders are followed, the last name may not be one. Only regular
 * files of the process's user or root, last written while the process lived, are opened; nothing
 * else is touched, so that a FIFO is not waited for and no device notices. *st describes it. A
 * descriptor, or -errno; -EPERM: it is not to be trusted.
 */
int procfile_open(const struct procfile_owner *owner, const char *path, struct stat *st);
/*
 * The same for a thread that must not wait (symbols/files/fileasker.h), which is not told -EXDEV
 * but asks the asker; NULL: it may wait. known: NULL, or of the copy that the caller has already.
 */
int procfile_ask(const struct procfile_owner *owner, const char *path, struct fileasker *asker,
		 const struct file_facts *known, struct file_facts *facts);

#endif
