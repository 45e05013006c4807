/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PROFILE_SAMPLE_IDS_H
#define STACKTOP_TUI_PROFILE_SAMPLE_IDS_H

/*
 * Ids for the keys of cells: a process and two stacks, without the thread. Most keys are in slice
 * after slice, so a key is looked up once, when its slice comes; sums find their cells by its id
 * from then on. Ids are small and dense, and reused when no slice has them any more.
 */

#include <stdint.h>

#include "tui/util/idtable.h"

struct sample_key {
	uint32_t proc, ustack, kstack;
	uint32_t refs; /* cells of slices with this id; 0: free, and proc is the next free id */
};

struct sample_ids {
	struct sample_key *at; /* by id */
	uint32_t count, room;
	uint32_t live;
	uint32_t free; /* first free id + 1; 0: none */
	struct idtable index;
};

/* A zeroed struct is empty. */
void sample_ids_free(struct sample_ids *ids);
/* Room for so many more ids: that many calls of sample_ids_get cannot fail. -ENOMEM. */
int sample_ids_reserve(struct sample_ids *ids, uint32_t more);
/* Takes a reference. */
uint32_t sample_ids_get(struct sample_ids *ids, uint32_t proc, uint32_t ustack, uint32_t kstack);
void sample_ids_put(struct sample_ids *ids, uint32_t id);

#endif
