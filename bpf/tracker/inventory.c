// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which object's table is where in the shards and how many processes use it. The data is copied
 * under the tracker's lock and sorted without it.
 */
#include "bpf/tracker/inventory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/tracker/tracker_priv.h"
#include "symbols/base/refcount.h"

/* --- the copy -------------------------------------------------------------------------------- */

struct inventory *inventory_new(unsigned int nshards, uint32_t nobjects, uint32_t nblocks)
{
	struct inventory *inv = calloc(1, sizeof(*inv));

	if (!inv)
		return NULL;
	inv->refs = 1;
	inv->nshards = nshards;
	inv->nobjects = nobjects;
	inv->nblocks = nblocks;
	inv->shards = calloc(nshards + 1, sizeof(*inv->shards));
	inv->objects = calloc((size_t)nobjects + 1, sizeof(*inv->objects));
	inv->blocks = calloc((size_t)nblocks + 1, sizeof(*inv->blocks));
	if (inv->shards && inv->objects && inv->blocks)
		return inv;
	inventory_put(inv);
	return NULL;
}

struct inventory *inventory_get(struct inventory *inventory)
{
	refcount_get(&inventory->refs);
	return inventory;
}

void inventory_put(struct inventory *inventory)
{
	if (!inventory || !refcount_put(&inventory->refs))
		return;
	free(inventory->shards);
	free(inventory->objects);
	free(inventory->blocks);
	free(inventory);
}

static int by_word(const void *x, const void *y)
{
	const struct inventory_block *a = x, *b = y;

	return (a->word > b->word) - (a->word < b->word);
}

static int by_object(const void *x, const void *y)
{
	const struct inventory_block *a = x, *b = y;

	return (a->object > b->object) - (a->object < b->object);
}

/* To how many objects n blocks belong; leaves them sorted by word. */
static uint32_t count_objects(struct inventory_block *first, uint32_t n)
{
	uint32_t objects = 0;

	qsort(first, n, sizeof(*first), by_object);
	for (uint32_t i = 0; i < n; i++)
		objects += !i || first[i].object != first[i - 1].object;
	qsort(first, n, sizeof(*first), by_word);
	return objects;
}

void inventory_settle(struct inventory *inv)
{
	uint32_t i = 0, from;

	qsort(inv->blocks, inv->nblocks, sizeof(*inv->blocks), by_word);
	for (unsigned int s = 0; s < inv->nshards; s++) {
		struct inventory_shard *shard = &inv->shards[s];
		uint32_t at = 0, gap;

		shard->words = shard->largest = 0;
		for (from = i; i < inv->nblocks && inv->blocks[i].word >> SHARD_SHIFT == s; i++) {
			gap = (inv->blocks[i].word & SHARD_MASK) - at;
			if (gap > shard->largest)
				shard->largest = gap;
			at = (inv->blocks[i].word & SHARD_MASK) + inv->blocks[i].words;
			shard->words += inv->blocks[i].words;
		}
		if (SHARD_WORDS - at > shard->largest)
			shard->largest = SHARD_WORDS - at;
		shard->objects = count_objects(inv->blocks + from, i - from);
	}
}

/* --- taking it; lock held -------------------------------------------------------------------- */

static bool is_shown(const struct object *o)
{
	/* The others are files without CFI, or of processes that are not sampled. */
	return o->nspans || (o->state != OBJECT_READY && o->state != OBJECT_UNASKED);
}

static void count_shown(const struct tracker *t, uint32_t *nobjects, uint32_t *nblocks,
			uint64_t *left_out)
{
	const struct object *o, *next;

	HASH_ITER(hh, t->objects.all, o, next) {
		if (!is_shown(o))
			continue;
		if (*nobjects < INVENTORY_OBJECTS_MAX &&
		    o->nspans <= INVENTORY_BLOCKS_MAX - *nblocks) {
			++*nobjects;
			*nblocks += o->nspans;
		} else {
			++*left_out;
		}
	}
}

static void copy_object(const struct object *o, struct inventory_object *to)
{
	static const enum inventory_state states[] = {
		[OBJECT_QUEUED] = INVENTORY_QUEUED,
		[OBJECT_READY] = INVENTORY_READY,
		[OBJECT_EVICTED] = INVENTORY_EVICTED,
		[OBJECT_FAILED] = INVENTORY_FAILED,
	};

	to->id = o->id;
	memcpy(to->name, o->name, sizeof(to->name));
	to->state = o->refused ? INVENTORY_REFUSED : states[o->state];
	to->pinned = o->pinned;
	to->words = o->nwords;
	to->cfi_bytes = o->cfi_bytes;
	to->rows = o->nrows;
	to->derived = o->nderived;
	to->sampled = o->sampled;
	to->missed = o->missed;
	memcpy(to->build_id, o->build_id, o->build_id_size);
	to->build_id_size = o->build_id_size;
}

static void copy_objects(struct tracker *t, struct inventory *inv)
{
	uint32_t n = 0, blocks = 0, i;
	struct object *o, *next;

	HASH_ITER(hh, t->objects.all, o, next) {
		o->listed = UINT32_MAX;
		if (!is_shown(o) || n == inv->nobjects || o->nspans > inv->nblocks - blocks)
			continue;
		copy_object(o, &inv->objects[n]);
		for (i = 0; i < o->nspans; i++)
			inv->blocks[blocks++] =
				(struct inventory_block){o->spans[i].word, o->spans[i].nwords, n};
		o->listed = n++;
		o->counted = 0;
	}
	inv->nobjects = n;
	inv->nblocks = blocks;
}

static void count_processes(struct tracker *t, struct inventory *inv)
{
	struct process *p, *next;
	struct object *o;
	size_t i;

	HASH_ITER(hh, t->procs.live, p, next) {
		for (i = 0; i < p->nmappings; i++) {
			o = p->mappings[i].object;
			/* A process may map a file several times and counts once. */
			if (!o || o->listed == UINT32_MAX || o->counted == p->pid)
				continue;
			o->counted = p->pid;
			inv->objects[o->listed].processes++;
		}
		o = p->code.table;
		if (o && o->listed != UINT32_MAX)
			inv->objects[o->listed].processes++;
	}
}

static void copy_shards(const struct tracker *t, struct inventory *inv)
{
	struct shard_info info;

	for (unsigned int i = 0; i < inv->nshards; i++) {
		shards_info(t->shards, i, &info);
		inv->shards[i].created = info.created;
		inv->shards[i].generation = info.generation;
		inv->shards[i].since = info.created ? t->shard_since[i] : 0;
		inv->shards[i].evictions = t->evictor.shard_evictions[i];
	}
}

int tracker_inventory(struct tracker *t, struct inventory **out)
{
	uint32_t nobjects = 0, nblocks = 0;
	struct inventory *inv;
	uint64_t left_out = 0;

	*out = NULL;
	turnlock_take(&t->lock);
	count_shown(t, &nobjects, &nblocks, &left_out);
	inv = inventory_new(shards_max(t->shards), nobjects, nblocks);
	if (inv) {
		inv->time = clock_now();
		inv->left_out = left_out;
		copy_objects(t, inv);
		count_processes(t, inv);
		copy_shards(t, inv);
	}
	turnlock_give(&t->lock);
	if (!inv)
		return -ENOMEM;
	inventory_settle(inv);
	*out = inv;
	return 0;
}
