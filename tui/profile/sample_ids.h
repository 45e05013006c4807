/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PROFILE_SAMPLE_IDS_H
#define STACKTOP_TUI_PROFILE_SAMPLE_IDS_H

/*
 * Numbers for what slices count: a process and two stacks, threads put together. Most of it is in
 * slice after slice, so that it is looked for once, when its slice comes, and sums of slices are
 * found by a number from then on. Numbers are small and dense, and used again when no slice has
 * them any more.
 */

#include <stdint.h>

#include "tui/util/idtable.h"

struct sample_key {
	uint32_t proc, ustack, kstack;
	uint32_t refs; /* how many cells of slices have the number; 0: it is free, ... */
};

struct sample_ids {
	struct sample_key *at; /* by number */
	uint32_t count, room;
	uint32_t live;
	uint32_t free; /* ... and proc is the next of these; number + 1, 0: none */
	struct idtable index;
};

/* A zeroed struct has none. */
void sample_ids_free(struct sample_ids *ids);
/* Room for so many more: that many calls of sample_ids_get cannot fail. -ENOMEM. */
int sample_ids_reserve(struct sample_ids *ids, uint32_t more);
/* With a reference. */
uint32_t sample_ids_get(struct sample_ids *ids, uint32_t proc, uint32_t ustack, uint32_t kstack);
void sample_ids_put(struct sample_ids *ids, uint32_t id);

#endif
