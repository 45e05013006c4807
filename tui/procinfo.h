/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PROCINFO_H
#define STACKTOP_TUI_PROCINFO_H

/*
 * Who the sampled processes are: name, parent, user, arguments and threads, from the tracker and
 * /proc, read anew every few seconds. Used by one thread, without the profile's lock.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct procinfo;
struct profile;
struct tracker;
struct users;

/* Nothing is owned. -ENOMEM. */
int procinfo_new(struct profile *profile, struct tracker *tracker, struct procinfo **out);
void procinfo_free(struct procinfo *pi);

/*
 * Image that a sample of the process belongs to: its own, or for a kernel-mode sample without an
 * address space (it is exiting) the one it had last. 0: a kernel thread.
 */
uint64_t procinfo_image(const struct procinfo *pi, pid_t pid, uint64_t image);
/*
 * Profile id of the process, good for the commit that ends this slice. comm (16 bytes, raw) is
 * what the sample says. now: CLOCK_MONOTONIC ns. -ENOMEM.
 */
int64_t procinfo_proc(struct procinfo *pi, pid_t pid, uint64_t image, const char *comm,
		      uint64_t now);
/* After the processes of a slice: those that ended or changed are fed again. -ENOMEM. */
int procinfo_update(struct procinfo *pi, uint64_t now);
/* Its names of users, for others to ask. */
struct users *procinfo_users(const struct procinfo *pi);
/* After its commit. */
void procinfo_age(struct procinfo *pi);

#endif
