/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_COLLECT_WAITCELLS_H
#define STACKTOP_TUI_COLLECT_WAITCELLS_H

/*
 * Makes cells of waits, with the stacks that the profile has for them: the kernel's frames without
 * those of the switch, the cause as the leaf, and, of who ended a wait, the frames of the wakers.
 * Used by one thread, without the profile's lock.
 */

#include <stddef.h>
#include <stdint.h>

#include "tui/profile/waits.h"

struct profile;
struct profile_cell;
struct stackcache;
struct waitcells;
struct waker;

/* What waits, for what, and where. */
struct waiting {
	uint32_t proc, tid; /* proc: profile id */
	enum wait_cause cause;
	uint64_t user, kernel; /* hashes of its stacks; both 0: they were not taken */
	uint64_t object;       /* address of the lock; 0: it is none */
};

/* Nothing is owned. -ENOMEM. */
int waitcells_new(struct profile *profile, struct stackcache *stacks, struct waitcells **out);
void waitcells_free(struct waitcells *w);
/* Drops the cells of the slice before. */
void waitcells_begin(struct waitcells *w);
/* -ENOMEM, as those below. */
int waitcells_add(struct waitcells *w, const struct profile_cell *cell);
/* So many waits, ns together. */
int waitcells_wait(struct waitcells *w, const struct waiting *of, uint64_t count, uint64_t ns);
/* Who ended a wait, innermost waker first; nwakers 0: it goes on. */
int waitcells_wake(struct waitcells *w, const struct waiting *of, const struct waker *wakers,
		   uint32_t nwakers, uint64_t ns);
/* The cells and their number; they belong to w, and hold their stacks until waitcells_release. */
size_t waitcells_all(const struct waitcells *w, const struct profile_cell **cells);
/* Waits whose stacks were lost on their way, since the last call. */
uint64_t waitcells_lost(struct waitcells *w);
/* After the commit. */
void waitcells_release(struct waitcells *w);

#endif
