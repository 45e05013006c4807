// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What room there is for a table, or would be if others went. Words that are free say little: they
 * lie in gaps, and a table needs gaps that its blocks fit in. A block can be cut (unwind/block.h),
 * so a gap is good for all but a remainder that is too small for a piece. Tables are evicted only
 * for one that fits by this measure and is placed at once, so that none goes for nothing.
 */
#include <errno.h>
#include <stdlib.h>

#include "bpf/tracker/tracker_priv.h"
#include "unwind/block.h"

struct words {
	uint32_t *at;
	size_t count, room;
};

static int add_word(struct words *w, uint32_t word)
{
	size_t room;
	uint32_t *more;

	if (w->count == w->room) {
		room = w->room ? w->room * 2 : 1024;
		more = reallocarray(w->at, room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		w->at = more;
		w->room = room;
	}
	w->at[w->count++] = word;
	return 0;
}

static int by_word(const void *x, const void *y)
{
	const uint32_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

static bool goes(const struct tracker *t, const struct object *o, enum room_when when, uint64_t now)
{
	if (when == ROOM_NOW || o == t->vdso)
		return false;
	if (when == ROOM_EVER)
		return !o->pinned;
	if (!o->refs)
		return !o->in_queue;
	return when != ROOM_UNUSED && evict_may(t, o, when, now);
}

int room_measure(const struct tracker *t, enum room_when when, struct shards_room *out)
{
	const uint64_t now = tracker_now();
	const struct object *o, *next;
	struct words gone = {0};
	size_t i;
	int err = 0;

	for (i = 0; when != ROOM_NOW && i < t->ngarbage && !err; i++)
		if (t->garbage[i].from == t->shards)
			err = add_word(&gone, t->garbage[i].word);
	HASH_ITER(hh, t->objects, o, next)
		for (i = 0; !err && i < o->nspans && goes(t, o, when, now); i++)
			err = add_word(&gone, o->spans[i].word);
	*out = (struct shards_room){0};
	if (!err && gone.count)
		qsort(gone.at, gone.count, sizeof(*gone.at), by_word);
	if (!err)
		shards_room(t->shards, gone.at, gone.count, BLOCK_PIECE_MIN, out);
	free(gone.at);
	return err;
}

bool room_fits_empty(const struct tracker *t, uint64_t nwords)
{
	const struct shards_room room = {
		.words = (uint64_t)shards_max(t->shards) * (SHARD_WORDS - BLOCK_PIECE_MIN),
		.largest = SHARD_WORDS,
	};

	return room_fits(&room, nwords);
}

bool room_fits(const struct shards_room *room, uint64_t nwords)
{
	return nwords <= room->words || nwords <= room->largest;
}

/* --- placing --------------------------------------------------------------------------------- */

/* -EDQUOT: the user's files have all the memory that they may have. */
static int grow_placed(struct tracker *t, struct object *o)
{
	const uint32_t room = o->spans_room ? 2 * o->spans_room : 1;
	const int64_t more = (int64_t)((room - o->spans_room) * sizeof(*o->spans));
	struct placed_span *spans;

	if (!object_charge(t, o, more))
		return -EDQUOT;
	spans = reallocarray(o->spans, room, sizeof(*spans));
	if (!spans) {
		object_charge(t, o, -more);
		return -ENOMEM;
	}
	o->spans = spans;
	o->spans_room = room;
	return 0;
}

static int add_placed(struct tracker *t, struct object *o, const struct placed_span *span)
{
	int err = o->nspans == o->spans_room ? grow_placed(t, o) : 0;

	if (err)
		return err;
	o->spans[o->nspans++] = *span;
	o->nwords += span->nwords;
	return 0;
}

/* One block of the object's, in one piece. */
static int place_block(struct tracker *t, struct object *o, uint64_t start, const struct block *b)
{
	struct placed_span span = {
		.start = start,
		.end = start + ((uint64_t)b->ngranules << GRANULE_SHIFT),
		.nwords = b->nwords,
		.ngranules = b->ngranules,
	};
	int err = shards_add(t->shards, b->words, b->nwords, &span.word);

	if (err)
		return err;
	err = add_placed(t, o, &span);
	if (err)
		tracker_discard(t, t->shards, span.word);
	return err;
}

/* The largest gap takes the first piece of what is left from granule *from on. */
static int place_piece(struct tracker *t, struct object *o, uint64_t start, const struct block *b,
		       uint32_t *from)
{
	struct shards_room room;
	struct block piece;
	uint32_t *words, end;
	int err;

	shards_room(t->shards, NULL, 0, BLOCK_PIECE_MIN, &room);
	end = block_piece_end(b, *from, room.largest, &piece.nwords);
	if (end == *from || (end < b->ngranules && room.largest < BLOCK_PIECE_MIN))
		return -ENOSPC;
	words = malloc(piece.nwords * sizeof(*words));
	if (!words)
		return -ENOMEM;
	block_piece(b, *from, end, words);
	piece.words = words;
	piece.ngranules = end - *from;
	err = place_block(t, o, start + ((uint64_t)*from << GRANULE_SHIFT), &piece);
	free(words);
	*from = end;
	return err;
}

static int place_span(struct tracker *t, struct object *o, const struct unwind_table *table,
		      const struct unwind_span *span)
{
	const struct block b = {table->words + span->first, span->ngranules, span->nwords};
	int err = place_block(t, o, span->start, &b);
	uint32_t from = 0;

	if (err != -ENOSPC)
		return err;
	do
		err = place_piece(t, o, span->start, &b, &from);
	while (!err && from < b.ngranules);
	return err;
}

int room_place(struct tracker *t, struct object *o, const struct unwind_table *table)
{
	uint32_t i;
	int err = 0;

	for (i = 0; i < table->nspans && !err; i++)
		err = place_span(t, o, table, &table->spans[i]);
	if (err)
		object_drop_spans(t, o);
	return err;
}
