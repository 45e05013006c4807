// SPDX-License-Identifier: GPL-2.0-or-later
/* See placement.h. */
#include "bpf/tracker/placement.h"

#include <errno.h>
#include <stdlib.h>

#include "bpf/tracker/garbage.h"
#include "bpf/tracker/object.h"
#include "unwind/block.h"
#include "unwind/shards.h"
#include "unwind/table.h"

bool placement_fits_empty(const struct shards *shards, uint64_t nwords)
{
	const struct shards_room room = {
		.words = (uint64_t)shards_max(shards) * (SHARD_WORDS - BLOCK_PIECE_MIN),
		.largest = SHARD_WORDS,
	};

	return placement_fits(&room, nwords);
}

bool placement_fits(const struct shards_room *room, uint64_t nwords)
{
	return nwords <= room->words || nwords <= room->largest;
}

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
