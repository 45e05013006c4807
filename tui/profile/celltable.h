/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PROFILE_CELLTABLE_H
#define STACKTOP_TUI_PROFILE_CELLTABLE_H

/*
 * Samples counted by process and stacks, and ids for these. The cells are in one dense array, which
 * queries walk; the index only serves counting.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/util/idtable.h"

struct profile_cell;

/*
 * Ids for the keys of cells: a process and two stacks, without the thread. Most keys are in slice
 * after slice, so a key is looked up once, when its slice comes; sums find their cells by its id
 * from then on. Ids are small and dense, and reused when no slice has them any more.
 */

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

/* --- sums ------------------------------------------------------------------------------------ */

struct cell {
	uint32_t proc;
	uint32_t ustack;
	uint32_t kstack;
	uint32_t id; /* sample id of the last lookup by id; UINT32_MAX: none */
	uint64_t count;
	uint64_t weight; /* see struct profile_cell */
};

struct celltable {
	struct cell *cells;
	size_t count;
	size_t room;
	struct idtable index;
	/* By sample id: index of the cell + 1. May be 0 or wrong, so the key is compared. */
	uint32_t *hints;
	uint32_t nhints;
};

/* A zeroed struct is an empty table. */
void celltable_free(struct celltable *table);
/* Room for so many cells in all: adds up to there cannot fail. -ENOMEM. */
int celltable_reserve(struct celltable *table, size_t cells);
/* The cell of the key, added with count 0 if it is new (*made, may be NULL). */
struct cell *celltable_get(struct celltable *table, uint32_t proc, uint32_t ustack, uint32_t kstack,
			   bool *made);
/* Adds the count and weight of a cell to that of its key. There is room. */
void celltable_add(struct celltable *table, const struct cell *cell);
/* NULL: there is none. */
struct cell *celltable_find(const struct celltable *table, uint32_t proc, uint32_t ustack,
			    uint32_t kstack);
/* celltable_get for a cell of a slice with that sample id: faster. */
struct cell *celltable_get_id(struct celltable *table, const struct profile_cell *cell, uint32_t id,
			      bool *made);
/* Makes celltable_get_id remember ids below `ids`. -ENOMEM. */
int celltable_reserve_ids(struct celltable *table, uint32_t ids);
/* Prefetches, in a loop of celltable_get_id over ids[0] to ids[count - 1], what later iterations
 * need. Saves a third of the time. */
void celltable_expect(const struct celltable *table, const uint32_t *ids, size_t at, size_t count);
/* Appends a cell without adding it to the index, to a table filled in no other way. There is room.
 */
void celltable_append(struct celltable *table, const struct sample_key *id, uint32_t number,
		      uint64_t count, uint64_t weight);
void celltable_clear(struct celltable *table);
/* Copies into an empty table. -ENOMEM: it stays empty. */
int celltable_copy(struct celltable *table, const struct celltable *from);
/*
 * Rebuilds the table in place: edit (may be NULL) changes the key of a cell, or sets its count to
 * 0. Merges cells that have become equal and drops those of count 0. Needs no memory, so it cannot
 * fail.
 */
void celltable_rebuild(struct celltable *table, void (*edit)(struct cell *cell, void *arg),
		       void *arg);

#endif
