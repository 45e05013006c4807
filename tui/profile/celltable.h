/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PROFILE_CELLTABLE_H
#define STACKTOP_TUI_PROFILE_CELLTABLE_H

/*
 * Samples counted by process and stacks, threads put together. The cells stand in one dense array,
 * which is what queries walk; the index only serves counting.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/profile/sample_ids.h"
#include "tui/util/idtable.h"

struct profile_cell;

struct cell {
	uint32_t proc;
	uint32_t ustack;
	uint32_t kstack;
	uint32_t id; /* number (sample_ids.h), if it is the one of these; UINT32_MAX: none */
	uint64_t count;
};

struct celltable {
	struct cell *cells;
	size_t count;
	size_t room;
	struct idtable index;
	/* By number of the cell (sample_ids.h): where it stands, + 1. May be wrong or 0, so that it
	 * is compared. */
	uint32_t *hints;
	uint32_t nhints;
};

/* A zeroed struct is an empty table. */
void celltable_free(struct celltable *table);
/* Room for so many cells in all: adds up to there cannot fail. -ENOMEM. */
int celltable_reserve(struct celltable *table, size_t cells);
/* The cell of the key, made with count 0 when new; *made says so (may be NULL). */
struct cell *celltable_get(struct celltable *table, uint32_t proc, uint32_t ustack, uint32_t kstack,
			   bool *made);
/* NULL: there is none. */
struct cell *celltable_find(const struct celltable *table, uint32_t proc, uint32_t ustack,
			    uint32_t kstack);
/* The same of a cell of a slice by its number. */
struct cell *celltable_get_id(struct celltable *table, const struct profile_cell *cell, uint32_t id,
			      bool *made);
/* Numbers are below, for the tables that are asked for cells by them. -ENOMEM. */
int celltable_reserve_ids(struct celltable *table, uint32_t ids);
/* To be called at each turn of a loop that looks for the cells one after another, by their numbers:
 * what the table has of those that come soon is fetched meanwhile, instead of waited for at each.
 */
void celltable_expect(const struct celltable *table, const uint32_t *ids, size_t at, size_t count);
/* Appends a cell that lookups do not find, to a table that is empty or was filled by this alone.
 * There is room. */
void celltable_append(struct celltable *table, const struct sample_key *id, uint32_t number,
		      uint64_t count);
void celltable_clear(struct celltable *table);
/* Makes an empty table like another one, -ENOMEM: it is empty. */
int celltable_copy(struct celltable *table, const struct celltable *from);
/*
 * Rebuilds the table in place: edit changes a key, or sets count to 0 for a cell that shall go;
 * cells that have become equal are added up. NULL only drops those of count 0. Needs no memory, so
 * it cannot fail.
 */
void celltable_rebuild(struct celltable *table, void (*edit)(struct cell *cell, void *arg),
		       void *arg);

#endif
