/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Totals run for hours and the window turns over each refresh, so counting has to be cheap, and
 * making room has to work when there is no memory left: the dense array can be folded in place.
 */
#include "tui/celltable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint32_t cell_hash(uint32_t proc, uint32_t ustack, uint32_t kstack)
{
	return (uint32_t)idtable_mix((uint64_t)ustack << 32 | kstack, proc);
}

void celltable_free(struct celltable *table)
{
	free(table->cells);
	idtable_free(&table->index);
	memset(table, 0, sizeof(*table));
}

int celltable_reserve(struct celltable *table, size_t cells)
{
	struct cell *grown;
	size_t room = table->room ? table->room : 256;

	if (idtable_reserve(&table->index, cells))
		return -ENOMEM;
	if (cells <= table->room)
		return 0;
	while (room < cells)
		room += room / 2;
	grown = reallocarray(table->cells, room, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	table->cells = grown;
	table->room = room;
	return 0;
}

static struct cell *find(const struct celltable *table, uint32_t hash, uint32_t proc,
			 uint32_t ustack, uint32_t kstack)
{
	uint32_t id;

	for (uint32_t at = hash; (id = idtable_next(&table->index, hash, &at)) != IDTABLE_NONE;) {
		struct cell *cell = &table->cells[id];

		if (cell->proc == proc && cell->ustack == ustack && cell->kstack == kstack)
			return cell;
	}
	return NULL;
}

struct cell *celltable_get(struct celltable *table, uint32_t proc, uint32_t ustack, uint32_t kstack,
			   bool *made)
{
	uint32_t hash = cell_hash(proc, ustack, kstack);
	struct cell *cell = find(table, hash, proc, ustack, kstack);

	if (made)
		*made = !cell;
	if (cell)
		return cell;
	cell = &table->cells[table->count];
	*cell = (struct cell){proc, ustack, kstack, hash, 0};
	idtable_add(&table->index, hash, (uint32_t)table->count++);
	return cell;
}

void celltable_clear(struct celltable *table)
{
	table->count = 0;
	idtable_clear(&table->index);
}

void celltable_rebuild(struct celltable *table, void (*edit)(struct cell *cell, void *arg),
		       void *arg)
{
	size_t count = table->count;

	/* The new table grows behind the reader: it never has more cells than were read. */
	celltable_clear(table);
	for (size_t i = 0; i < count; i++) {
		struct cell cell = table->cells[i];

		if (edit)
			edit(&cell, arg);
		if (cell.count)
			celltable_get(table, cell.proc, cell.ustack, cell.kstack, NULL)->count +=
				cell.count;
	}
}
