/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_CELLTABLE_H
#define STACKTOP_TUI_CELLTABLE_H

/*
 * Samples counted by process and stacks, threads put together. The cells stand in one dense array,
 * which is what queries walk; the index only serves counting.
 */

#include <stdint.h>

#include "tui/idtable.h"

struct cell {
	uint32_t proc;
	uint32_t ustack;
	uint32_t kstack;
	uint32_t hash;
	uint64_t count;
};

struct celltable {
	struct cell *cells;
	size_t count;
	size_t room;
	struct idtable index;
};

/* A zeroed struct is an empty table. */
void celltable_free(struct celltable *table);
/* Room for so many cells in all: adds up to there cannot fail. -ENOMEM. */
int celltable_reserve(struct celltable *table, size_t cells);
/* The cell of the key, made with count 0 when new; *made says so (may be NULL). */
struct cell *celltable_get(struct celltable *table, uint32_t proc, uint32_t ustack, uint32_t kstack,
			   bool *made);
void celltable_clear(struct celltable *table);
/*
 * Rebuilds the table in place: edit changes a key, or sets count to 0 for a cell that shall go;
 * cells that have become equal are added up. NULL only drops those of count 0. Needs no memory, so
 * it cannot fail.
 */
void celltable_rebuild(struct celltable *table, void (*edit)(struct cell *cell, void *arg),
		       void *arg);

#endif
