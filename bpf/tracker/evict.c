// SPDX-License-Identifier: GPL-2.0-or-later
/* See evict.h. */
#include "bpf/tracker/evict.h"

#include <errno.h>
#include <stdlib.h>

#include "bpf/sampler/sampler.h"
#include "bpf/sampler/clock.h"
#include "bpf/tracker/garbage.h"
#include "bpf/tracker/idlefile.h"
#include "bpf/tracker/maplist.h"
#include "bpf/tracker/object.h"
#include "bpf/tracker/proctable.h"
#include "bpf/tracker/publish.h"
#include "bpf/tracker/targets.h"
#include "symbols/base/grow.h"
#include "unwind/table.h"

#define STAY_NS	 (10ull * 1000000000)	  /* a table in use that was placed so long ago may go */
#define RETRY_NS (2ull * 1000000000)	  /* to build a table in vain costs time, too */
#define MISS_NS	 (1000000000ull * 9 / 10) /* scans are a second apart, or less under pressure */
#define WAIT_NS	 (20ull * 1000000000)	  /* an object that waits for longer is not overtaken */
#define BACK_MAX 256u			  /* objects that come back at a time */

bool placement_fits(const struct shards_room *room, uint64_t nwords)
{
	return nwords <= room->words || nwords <= room->largest;
}

/* --- targets --------------------------------------------------------------------------------- */

/* Marks the objects that targets map. */
static void mark_of_targets(struct evictor *ev)
{
	struct process *p, *next;

	if (!ev->targets->filtering)
		return;
	ev->chosen_round++;
	HASH_ITER(hh, ev->procs->live, p, next)
		for (size_t i = 0; p->target && i < p->nmappings; i++)
			if (p->mappings[i].object)
				p->mappings[i].object->chosen = ev->chosen_round;
	HASH_ITER(hh, ev->procs->live, p, next)
		if (p->target && p->code.table)
			p->code.table->chosen = ev->chosen_round;
}

bool evict_is_of_target(const struct evictor *ev, const struct object *o)
{
	return !ev->targets->filtering || o->chosen == ev->chosen_round;
}

/* --- what is sampled ------------------------------------------------------------------------- */

static void scan_list(const struct evictor *ev, struct process *p, uint64_t now)
{
	const uint32_t first = p->list->word / MAPLIST_ENTRY_WORDS;
	const struct map_entry *entries = sampler_memory(ev->sampler)->map_entries + first;
	uint8_t *touched = sampler_memory(ev->sampler)->touched + first;
	const struct mapping *m;
	struct object *o;

	for (uint32_t i = 0; i < p->list->count; i++) {
		if (!touched[i])
			continue;
		touched[i] = 0;
		p->list->sampled = now;
		m = mapping_at(p, entries[i].start);
		o = i >= p->list->count - p->list->ncode || (m && maplist_is_runcode(m))
			    ? p->code.table
		    : m ? m->object
			: NULL;
		if (!o)
			continue;
		if (o->state != OBJECT_READY && o->missed_at + MISS_NS <= now) {
			o->missed++;
			o->missed_at = now;
		}
		o->sampled = now;
		object_want_table(ev->objects, o);
	}
}

static int by_wait(const void *x, const void *y)
{
	const struct object *const *a = x, *const *b = y;

	return ((*a)->waits > (*b)->waits) - ((*a)->waits < (*b)->waits);
}

/*
 * Queues objects that have room now, those that wait for the longest first. A large table would
 * wait forever while small ones come and go, so after a time they wait with it.
 */
static void bring_back(struct evictor *ev, uint64_t now)
{
	struct object *list[BACK_MAX], *o, *next;
	struct shards_room room, ever;
	size_t n = 0, i;

	HASH_ITER(hh, ev->objects->all, o, next) {
		if (o->state != OBJECT_EVICTED || o->sampled != now || o->tried + RETRY_NS >= now)
			continue;
		if (object_is_closed(o))
			idlefile_want(ev->idlefiles,
				      o); /* and comes back when it is sampled again */
		else if (n < BACK_MAX)
			list[n++] = o;
	}
	mark_of_targets(ev);
	if (!n || evict_measure(ev, EVICT_FOR_SAMPLED, &room) ||
	    evict_measure(ev, EVICT_NOT_PINNED, &ever))
		return;
	qsort(list, n, sizeof(struct object *), by_wait);
	for (i = 0; i < n; i++) {
		if (placement_fits(&room, list[i]->need)) {
			room.words -= list[i]->need < room.words ? list[i]->need : room.words;
			room.largest -= list[i]->need < room.largest ? list[i]->need : room.largest;
			object_rebuild(ev->objects, list[i]);
		} else if (list[i]->waits + WAIT_NS < now && placement_fits(&ever, list[i]->need)) {
			break;
		}
	}
}

void evict_scan(struct evictor *ev, uint64_t now)
{
	struct process *p, *next;

	ev->scanned = now;
	HASH_ITER(hh, ev->procs->live, p, next) {
		/* Processes that forked from each other share a list. */
		if (!p->list || p->list->scanned == now)
			continue;
		p->list->scanned = now;
		scan_list(ev, p, now);
	}
	publish_scan_files(ev->publisher, now);
	publish_scan(ev->publisher, now);
	if (ev->objects->nevicted)
		bring_back(ev, now);
}

unsigned int evict_waiting(const struct evictor *ev)
{
	const uint64_t now = clock_now();
	const struct object *o, *next;
	unsigned int n = 0;

	if (!ev->objects->nevicted)
		return 0;
	HASH_ITER(hh, ev->objects->all, o, next)
		n += o->state == OBJECT_EVICTED && o->sampled + EVICT_IDLE_NS >= now;
	return n;
}

/* --- making room ----------------------------------------------------------------------------- */

/* Higher goes first; 0 stays. */
static unsigned int evict_rank(const struct evictor *ev, const struct object *o,
			       enum evict_extent extent, uint64_t now)
{
	if (o == ev->objects->vdso || !o->refs || !o->nspans || o->in_queue || o->pinned)
		return 0;
	if (!evict_is_of_target(ev, o))
		return 3;
	if (extent == EVICT_NOT_TARGETS)
		return 0;
	if (o->sampled + EVICT_IDLE_NS < now)
		return 2;
	return o->placed + STAY_NS < now ? 1 : 0;
}

static bool is_counted_gone(const struct evictor *ev, const struct object *o,
			    enum evict_extent extent, uint64_t now)
{
	if (extent == EVICT_NONE || o == ev->objects->vdso)
		return false;
	if (extent == EVICT_NOT_PINNED)
		return !o->pinned;
	if (!o->refs)
		return !o->in_queue;
	return extent != EVICT_UNUSED && evict_rank(ev, o, extent, now);
}

struct word_array {
	uint32_t *at;
	size_t count, room;
};

static int add_word(struct word_array *a, uint32_t word)
{
	if (GROW(a->at, a->count, a->room, SIZE_MAX))
		return -ENOMEM;
	a->at[a->count++] = word;
	return 0;
}

static int by_word(const void *x, const void *y)
{
	const uint32_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

int evict_measure(const struct evictor *ev, enum evict_extent extent, struct shards_room *out)
{
	const struct garbage *garbage = ev->garbage;
	const uint64_t now = clock_now();
	const struct object *o, *next;
	struct word_array gone = {0};
	size_t i;
	int err = 0;

	for (i = 0; extent != EVICT_NONE && i < garbage->n && !err; i++)
		if (garbage->blocks[i].from == ev->shards)
			err = add_word(&gone, garbage->blocks[i].word);
	HASH_ITER(hh, ev->objects->all, o, next)
		for (i = 0; !err && i < o->nspans && is_counted_gone(ev, o, extent, now); i++)
			err = add_word(&gone, o->spans[i].word);
	*out = (struct shards_room){0};
	if (!err && gone.count)
		qsort(gone.at, gone.count, sizeof(*gone.at), by_word);
	if (!err)
		shards_room(ev->shards, gone.at, gone.count, BLOCK_PIECE_MIN, out);
	free(gone.at);
	return err;
}

static struct object *coldest_object(const struct evictor *ev, enum evict_extent extent,
				     uint64_t now)
{
	struct object *o, *next, *best = NULL;
	unsigned int ready, best_ready = 0;

	HASH_ITER(hh, ev->objects->all, o, next) {
		ready = evict_rank(ev, o, extent, now);
		if (ready > best_ready ||
		    (best && ready == best_ready &&
		     (ready >= 2 ? o->sampled < best->sampled : o->placed < best->placed))) {
			best = o;
			best_ready = ready;
		}
	}
	return best;
}

/* A table may have many blocks in a shard. */
static void count_eviction(struct evictor *ev, const struct object *o)
{
	bool seen[SHARDS_MAX] = {false};
	uint32_t i, shard;

	ev->evictions++;
	for (i = 0; i < o->nspans; i++) {
		shard = o->spans[i].word >> SHARD_SHIFT;
		ev->shard_evictions[shard] += !seen[shard];
		seen[shard] = true;
	}
}

/* The coldest objects go until so many words are gained; false: none may go. */
static bool evict_some(struct evictor *ev, enum evict_extent extent, uint64_t nwords)
{
	const uint64_t now = clock_now();
	uint64_t gained = 0;
	struct object *o;

	while (gained < nwords && (o = coldest_object(ev, extent, now))) {
		gained += o->nwords;
		count_eviction(ev, o);
		object_drop_spans(ev->objects, o);
		object_set_state(ev->objects, o, OBJECT_EVICTED);
		proctable_touch(ev->procs, o);
	}
	/* No list may refer to what the next flush frees. */
	if (gained)
		publish_all(ev->publisher);
	return gained != 0;
}

bool placement_fits_empty(const struct shards *shards, uint64_t nwords)
{
	const struct shards_room room = {
		.words = (uint64_t)shards_max(shards) * (SHARD_WORDS - BLOCK_PIECE_MIN),
		.largest = SHARD_WORDS,
	};

	return placement_fits(&room, nwords);
}

int evict_for(struct evictor *ev, const struct object *o, uint64_t nwords)
{
	struct shards_room room, later;
	enum evict_extent extent;
	int err;

	if (!placement_fits_empty(ev->shards, nwords))
		return -EFBIG;
	evict_measure(ev, EVICT_NONE, &room);
	if (placement_fits(&room, nwords))
		return 0;
	if (ev->objects->nevicted && o->sampled)
		evict_scan(ev, clock_now());
	mark_of_targets(ev);
	if (o->sampled)
		extent = EVICT_FOR_SAMPLED;
	else if (ev->targets->filtering && evict_is_of_target(ev, o))
		extent = EVICT_NOT_TARGETS;
	else
		extent = EVICT_UNUSED;
	err = evict_measure(ev, extent, &later);
	if (err)
		return err;
	if (!placement_fits(&later, nwords))
		return -ENOSPC;
	for (;;) {
		if (ev->garbage->unpublished)
			publish_all(ev->publisher);
		if (ev->garbage->n)
			garbage_flush(ev->garbage, NULL);
		else if (!object_evict_unused(ev->objects) &&
			 (extent == EVICT_UNUSED || !evict_some(ev, extent, nwords - room.words)))
			return -ENOSPC;
		evict_measure(ev, EVICT_NONE, &room);
		if (placement_fits(&room, nwords))
			return 0;
	}
}

/* --- placing --------------------------------------------------------------------------------- */

/* -EDQUOT: over the user's quota. */
static int grow_placed(struct objects *os, struct object *o)
{
	const uint32_t room = o->spans_room ? 2 * o->spans_room : 1;
	const int64_t more = (int64_t)((room - o->spans_room) * sizeof(*o->spans));
	struct placed_span *spans;

	if (!object_charge(os, o, more))
		return -EDQUOT;
	spans = reallocarray(o->spans, room, sizeof(*spans));
	if (!spans) {
		object_charge(os, o, -more);
		return -ENOMEM;
	}
	o->spans = spans;
	o->spans_room = room;
	return 0;
}

/* Places one of the object's blocks in one piece. */
static int place_block(struct objects *os, struct object *o, uint64_t start, const struct block *b)
{
	struct placed_span span = {
		.start = start,
		.end = start + ((uint64_t)b->ngranules << GRANULE_SHIFT),
		.nwords = b->nwords,
		.ngranules = b->ngranules,
	};
	int err = shards_add(os->shards, b->words, b->nwords, &span.word);

	if (err)
		return err;
	err = o->nspans == o->spans_room ? grow_placed(os, o) : 0;
	if (err) {
		garbage_add(os->garbage, os->shards, span.word);
		return err;
	}
	o->spans[o->nspans++] = span;
	o->nwords += span.nwords;
	return 0;
}

/* Places the first piece of what is left from granule *from on in the largest gap. */
static int place_piece(struct objects *os, struct object *o, uint64_t start, const struct block *b,
		       uint32_t *from)
{
	struct shards_room room;
	struct block piece;
	uint32_t *words, end;
	int err;

	shards_room(os->shards, NULL, 0, BLOCK_PIECE_MIN, &room);
	end = block_piece_end(b, *from, room.largest, &piece.nwords);
	if (end == *from || (end < b->ngranules && room.largest < BLOCK_PIECE_MIN))
		return -ENOSPC;
	words = malloc(piece.nwords * sizeof(*words));
	if (!words)
		return -ENOMEM;
	block_piece(b, *from, end, words);
	piece.words = words;
	piece.ngranules = end - *from;
	err = place_block(os, o, start + ((uint64_t)*from << GRANULE_SHIFT), &piece);
	free(words);
	*from = end;
	return err;
}

static int place_span(struct objects *os, struct object *o, const struct unwind_table *table,
		      const struct unwind_span *span)
{
	const struct block b = {table->words + span->first, span->ngranules, span->nwords};
	int err = place_block(os, o, span->start, &b);
	uint32_t from = 0;

	if (err != -ENOSPC)
		return err;
	do
		err = place_piece(os, o, span->start, &b, &from);
	while (!err && from < b.ngranules);
	return err;
}

int placement_add(struct objects *os, struct object *o, const struct unwind_table *table)
{
	uint32_t i;
	int err = 0;

	for (i = 0; i < table->nspans && !err; i++)
		err = place_span(os, o, table, &table->spans[i]);
	if (err)
		object_drop_spans(os, o);
	return err;
}
