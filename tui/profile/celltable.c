/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Totals run for hours and the window changes with each refresh, so counting must be cheap. Making
 * room must work without memory: the dense array can be rebuilt in place.
 */
#include "tui/profile/celltable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tui/util/prefetch.h"
#include "tui/profile/profile.h"

#define SLOTS_AHEAD 16 /* iterations of a few ns each */
#define CELLS_AHEAD 8

static uint32_t cell_hash(uint32_t proc, uint32_t ustack, uint32_t kstack)
{
	return (uint32_t)idtable_mix((uint64_t)ustack << 32 | kstack, proc);
}

void sample_ids_free(struct sample_ids *ids)
{
	free(ids->at);
	idtable_free(&ids->index);
	*ids = (struct sample_ids){0};
}

int sample_ids_reserve(struct sample_ids *ids, uint32_t more)
{
	size_t need = (size_t)ids->live + more, room = ids->room ? ids->room : 256;
	struct sample_key *grown;

	if (need > INT32_MAX || idtable_reserve(&ids->index, need))
		return -ENOMEM;
	/* Ids below count that are not live are free. */
	if (need <= ids->room)
		return 0;
	while (room < need)
		room += room / 2;
	grown = reallocarray(ids->at, room, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	ids->at = grown;
	ids->room = (uint32_t)room;
	return 0;
}

uint32_t sample_ids_get(struct sample_ids *ids, uint32_t proc, uint32_t ustack, uint32_t kstack)
{
	uint32_t hash = cell_hash(proc, ustack, kstack), id;

	for (uint32_t at = hash; (id = idtable_next(&ids->index, hash, &at)) != IDTABLE_NONE;) {
		struct sample_key *same = &ids->at[id];

		if (same->proc == proc && same->ustack == ustack && same->kstack == kstack) {
			same->refs++;
			return id;
		}
	}
	id = ids->free ? ids->free - 1 : ids->count++;
	if (ids->free)
		ids->free = ids->at[id].proc;
	ids->at[id] =
		(struct sample_key){.proc = proc, .ustack = ustack, .kstack = kstack, .refs = 1};
	ids->live++;
	idtable_add(&ids->index, hash, id);
	return id;
}

void sample_ids_put(struct sample_ids *ids, uint32_t id)
{
	struct sample_key *cell = &ids->at[id];

	if (--cell->refs)
		return;
	idtable_remove(&ids->index, cell_hash(cell->proc, cell->ustack, cell->kstack), id);
	cell->proc = ids->free;
	ids->free = id + 1;
	ids->live--;
}

/* --- sums ------------------------------------------------------------------------------------ */

void celltable_free(struct celltable *table)
{
	free(table->cells);
	free(table->hints);
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
	*cell = (struct cell){proc, ustack, kstack, UINT32_MAX, 0, 0};
	idtable_add(&table->index, hash, (uint32_t)table->count++);
	return cell;
}

void celltable_add(struct celltable *table, const struct cell *cell)
{
	struct cell *to = celltable_get(table, cell->proc, cell->ustack, cell->kstack, NULL);

	to->count += cell->count;
	to->weight += cell->weight;
}

struct cell *celltable_find(const struct celltable *table, uint32_t proc, uint32_t ustack,
			    uint32_t kstack)
{
	return find(table, cell_hash(proc, ustack, kstack), proc, ustack, kstack);
}

/* The cell that the hint points to, if that has the right key. */
static struct cell *find_id(const struct celltable *table, const struct profile_cell *like,
			    uint32_t id)
{
	uint32_t hint = id < table->nhints ? table->hints[id] : 0;
	struct cell *cell;

	if (!hint || hint > table->count)
		return NULL;
	cell = &table->cells[hint - 1];
	return cell->proc == like->proc && cell->ustack == like->ustack &&
			       cell->kstack == like->kstack
		       ? cell
		       : NULL;
}

struct cell *celltable_get_id(struct celltable *table, const struct profile_cell *like, uint32_t id,
			      bool *made)
{
	struct cell *cell = find_id(table, like, id);

	if (made)
		*made = false;
	if (cell)
		return cell;
	cell = celltable_get(table, like->proc, like->ustack, like->kstack, made);
	cell->id = id;
	if (id < table->nhints)
		table->hints[id] = (uint32_t)(cell - table->cells) + 1;
	return cell;
}

int celltable_reserve_ids(struct celltable *table, uint32_t ids)
{
	uint32_t *grown;

	if (ids <= table->nhints)
		return 0;
	grown = reallocarray(table->hints, ids, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	memset(grown + table->nhints, 0, (ids - table->nhints) * sizeof(*grown));
	table->hints = grown;
	table->nhints = ids;
	return 0;
}

void celltable_expect(const struct celltable *table, const uint32_t *ids, size_t at, size_t count)
{
	uint32_t hint;

	if (at + SLOTS_AHEAD >= count || ids[at + SLOTS_AHEAD] >= table->nhints ||
	    ids[at + CELLS_AHEAD] >= table->nhints)
		return;
	prefetch_read(&table->hints[ids[at + SLOTS_AHEAD]]);
	hint = table->hints[ids[at + CELLS_AHEAD]];
	if (hint && hint <= table->count)
		prefetch_write(&table->cells[hint - 1]);
}

void celltable_append(struct celltable *table, const struct sample_key *id, uint32_t number,
		      uint64_t count, uint64_t weight)
{
	table->cells[table->count++] =
		(struct cell){id->proc, id->ustack, id->kstack, number, count, weight};
}

void celltable_clear(struct celltable *table)
{
	table->count = 0;
	idtable_clear(&table->index);
}

int celltable_copy(struct celltable *table, const struct celltable *from)
{
	size_t slots = (size_t)from->index.mask + 1;

	if (!from->count || !from->index.slots)
		return 0;
	table->index = from->index;
	table->index.slots = malloc(slots * sizeof(*table->index.slots));
	table->cells = malloc(from->room * sizeof(*table->cells));
	if (!table->index.slots || !table->cells || celltable_reserve_ids(table, from->nhints)) {
		celltable_free(table);
		return -ENOMEM;
	}
	memcpy(table->index.slots, from->index.slots, slots * sizeof(*table->index.slots));
	memcpy(table->cells, from->cells, from->count * sizeof(*table->cells));
	table->count = from->count;
	table->room = from->room;
	if (from->nhints)
		memcpy(table->hints, from->hints, from->nhints * sizeof(*table->hints));
	return 0;
}

void celltable_rebuild(struct celltable *table, void (*edit)(struct cell *cell, void *arg),
		       void *arg)
{
	size_t count = table->count;

	/* In place: the new table never has more cells than were read. */
	table->count = 0;
	idtable_clear(&table->index);
	for (size_t i = 0; i < count; i++) {
		struct cell cell = table->cells[i], *to;

		if (edit)
			edit(&cell, arg);
		if (!cell.count)
			continue;
		to = celltable_get(table, cell.proc, cell.ustack, cell.kstack, NULL);
		to->count += cell.count;
		to->weight += cell.weight;
		to->id = cell.id;
	}
}
