/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PROFILE_PARENTS_H
#define STACKTOP_TUI_PROFILE_PARENTS_H

/* Processes above the sampled ones, up to the first: most of them sleep, so no sample names them.
 */

#include <stddef.h>
#include <sys/types.h>

struct profile;

#define PROFILE_PARENTS 4096 /* at most */

struct profile_parent {
	pid_t pid, ppid;
	char comm[16]; /* clean */
};

/* Replaces all of them by a copy of the list, which is sorted by PID. The lock is held. -ENOMEM:
 * there are none then. */
int profile_parents(struct profile *p, const struct profile_parent *list, size_t count);
/* NULL: it is not known. Valid while the lock is held. */
const struct profile_parent *query_parent(const struct profile *p, pid_t pid);

#endif
