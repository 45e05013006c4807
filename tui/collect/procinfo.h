/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_COLLECT_PROCINFO_H
#define STACKTOP_TUI_COLLECT_PROCINFO_H

/*
 * Facts about the sampled processes: name, parent, user, arguments and threads, from the tracker
 * and /proc, read anew every few seconds. Used by one thread, without the profile's lock.
 */

#include <stdint.h>
#include <sys/types.h>

#include "tui/profile/profile.h"

struct procinfo;
struct tracker;
struct tracker_exec;
struct users;

/* Nothing is owned. -ENOMEM. */
int procinfo_new(struct profile *profile, struct tracker *tracker, struct procinfo **out);
void procinfo_free(struct procinfo *pi);

/*
 * The slice has samples of that exec (count_key.exec_id) of the PID. Call it for all before the
 * first procinfo_proc: an earlier exec of a process is over, and /proc does not show it any more.
 */
void procinfo_seen(struct procinfo *pi, pid_t pid, uint64_t exec);
/*
 * Profile id of the process, valid for the commit that ends this slice; there is one for each PID
 * and exec. comm (16 bytes, raw): from the sample. of->start_stack is 0 for a kernel thread, and
 * for a process without an address space, since it ends or is within exec. now: CLOCK_MONOTONIC ns.
 * -ENOMEM.
 */
int64_t procinfo_proc(struct procinfo *pi, const struct tracker_exec *of, const char *comm,
		      uint64_t now);
/*
 * The process runs a language, but its stacks have no frames of it, and why; FUNC_USER: not so (any
 * more). Before the commit. -ENOMEM.
 */
int procinfo_mute(struct procinfo *pi, const struct tracker_exec *of, enum func_kind language,
		  const char *why);
/* After the processes of a slice: adds those that ended or changed once more. -ENOMEM. */
int procinfo_update(struct procinfo *pi, uint64_t now);
/* Gives the profile the processes above those that were sampled; see parents.h. -ENOMEM. */
int procinfo_parents(struct procinfo *pi, uint64_t now);
/* Its names of users, for others to use. */
struct users *procinfo_users(const struct procinfo *pi);
/* After its commit. */
void procinfo_age(struct procinfo *pi);

#endif
