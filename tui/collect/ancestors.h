/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_COLLECT_ANCESTORS_H
#define STACKTOP_TUI_COLLECT_ANCESTORS_H

/*
 * Who started the sampled processes, from /proc, for the tree of processes. Most parents sleep, so
 * a table of their own keeps what was read of them, and each is read anew every few seconds.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ancestors;
struct profile;

/* NULL: no memory. */
struct ancestors *ancestors_new(void);
void ancestors_free(struct ancestors *a);
/* Gives the profile the processes above these: parents[count], PIDs, in any order and as often as
 * they come. now: CLOCK_MONOTONIC ns. Takes the profile's lock. -ENOMEM. */
int ancestors_feed(struct ancestors *a, struct profile *p, const pid_t *parents, size_t count,
		   uint64_t now);

#endif
