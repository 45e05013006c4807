/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A shard has hundreds of blocks at most, most of them long-lived, in one sorted array: free space
 * is between them, and gaps need no merging. Best fit keeps large gaps for the few large tables.
 * Lists of mappings are small, but there are tens of thousands, so a new one goes behind the last
 * while there is space: to search a gap for each would take longer than all other work for them.
 */
#include "unwind/shards.h"

#include <stdlib.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "symbols/base/search.h"

struct shard_block {
	uint32_t at;
	uint32_t count;
};

struct shard {
	struct shard_block *blocks; /* ascending by at */
	uint32_t nblocks;
	uint32_t capacity;
	uint32_t used;
	uint32_t largest; /* upper bound of the largest gap, to skip full shards */
	uint32_t generation;
	bool created;
};

struct shards {
	const struct shards_ops *ops;
	void *arg;
	unsigned int max;
	unsigned int created;
	uint64_t used;
	struct shard shard[];
};

/* A gap that a block fits in: the block would become number index of its shard. */
struct shard_place {
	unsigned int shard;
	uint32_t index;
	uint32_t at;
	uint32_t gap;
};

struct shards *shards_new(unsigned int max, const struct shards_ops *ops, void *arg)
{
	struct shards *shards;

	if (max > SHARDS_MAX)
		max = SHARDS_MAX;
	shards = calloc(1, sizeof(*shards) + max * sizeof(shards->shard[0]));
	if (!shards)
		return NULL;
	shards->ops = ops;
	shards->arg = arg;
	shards->max = max;
	return shards;
}

void shards_free(struct shards *shards)
{
	unsigned int i;

	if (!shards)
		return;
	for (i = 0; i < shards->max; i++)
		free(shards->shard[i].blocks);
	free(shards);
}

/* Looks for a tighter gap than *best in one shard. */
static void shard_fit(struct shard *shard, unsigned int number, uint32_t count,
		      struct shard_place *best)
{
	uint32_t at = 0, end, gap, largest = 0, i;

	for (i = 0; i <= shard->nblocks; i++) {
		end = i < shard->nblocks ? shard->blocks[i].at : SHARD_WORDS;
		gap = end - at;
		if (gap > largest)
			largest = gap;
		if (gap >= count && gap < best->gap)
			*best = (struct shard_place){number, i, at, gap};
		if (i < shard->nblocks)
			at = end + shard->blocks[i].count;
	}
	shard->largest = largest;
}

/* Free space behind the last block of a shard is found without a search. */
static bool shards_fit_behind(const struct shards *shards, uint32_t count, struct shard_place *best)
{
	for (unsigned int i = 0; i < shards->max; i++) {
		const struct shard *s = &shards->shard[i];
		const struct shard_block *last = s->nblocks ? &s->blocks[s->nblocks - 1] : NULL;
		const uint32_t at = last ? last->at + last->count : 0;

		if (s->created && SHARD_WORDS - at >= count) {
			*best = (struct shard_place){i, s->nblocks, at, SHARD_WORDS - at};
			return true;
		}
	}
	return false;
}

/* The tightest gap of the shards in use, else the first shard that is not. */
static int shards_fit(struct shards *shards, uint32_t count, struct shard_place *best)
{
	unsigned int i, fresh = shards->max;
	struct shard *shard;

	if (shards->ops->many && shards_fit_behind(shards, count, best))
		return 0;
	best->gap = UINT32_MAX;
	for (i = 0; i < shards->max && best->gap != count; i++) {
		shard = &shards->shard[i];
		if (shard->created && shard->largest >= count)
			shard_fit(shard, i, count, best);
		else if (!shard->created && fresh == shards->max)
			fresh = i;
	}
	if (best->gap != UINT32_MAX)
		return 0;
	if (fresh == shards->max)
		return -ENOSPC;
	*best = (struct shard_place){fresh, 0, 0, SHARD_WORDS};
	return 0;
}

static int shard_create(struct shards *shards, unsigned int i)
{
	struct shard *shard = &shards->shard[i];
	int err;

	if (shard->created)
		return 0;
	err = shards->ops->create(shards->arg, i);
	if (err)
		return err;
	shard->created = true;
	shard->generation++;
	shard->largest = SHARD_WORDS;
	shards->created++;
	return 0;
}

/* Without a destroy callback an empty shard stays for the next block. */
static void shard_drop_empty(struct shards *shards, unsigned int i)
{
	struct shard *shard = &shards->shard[i];

	if (shard->nblocks || !shards->ops->destroy)
		return;
	shards->ops->destroy(shards->arg, i);
	free(shard->blocks);
	shard->blocks = NULL;
	shard->capacity = 0;
	shard->created = false;
	shards->created--;
}

int shards_add(struct shards *shards, const uint32_t *words, uint32_t count, uint32_t *word)
{
	struct shard *shard;
	struct shard_place place = {0};
	int err;

	if (!count || count > SHARD_WORDS)
		return -EINVAL;
	err = shards_fit(shards, count, &place);
	if (err)
		return err;
	shard = &shards->shard[place.shard];
	if (GROW(shard->blocks, shard->nblocks, shard->capacity, UINT32_MAX))
		return -ENOMEM;
	err = shard_create(shards, place.shard);
	if (err)
		return err;
	err = shards->ops->write(shards->arg, place.shard, place.at, words, count);
	if (err) {
		shard_drop_empty(shards, place.shard);
		return err;
	}
	memmove(shard->blocks + place.index + 1, shard->blocks + place.index,
		(shard->nblocks - place.index) * sizeof(*shard->blocks));
	shard->blocks[place.index] = (struct shard_block){place.at, count};
	shard->nblocks++;
	shard->used += count;
	shards->used += count;
	*word = place.shard << SHARD_SHIFT | place.at;
	return 0;
}

void shards_remove(struct shards *shards, uint32_t word)
{
	unsigned int i = word >> SHARD_SHIFT;
	struct shard *shard;
	uint32_t index;

	if (i >= shards->max)
		return;
	shard = &shards->shard[i];
	index = (uint32_t)SEARCH(shard->nblocks, n, shard->blocks[n].at < (word & SHARD_MASK));
	if (index == shard->nblocks || shard->blocks[index].at != (word & SHARD_MASK))
		return;
	shard->used -= shard->blocks[index].count;
	shards->used -= shard->blocks[index].count;
	shard->nblocks--;
	memmove(shard->blocks + index, shard->blocks + index + 1,
		(shard->nblocks - index) * sizeof(*shard->blocks));
	shard->largest = SHARD_WORDS;
	shard_drop_empty(shards, i);
}

static void room_add(struct shards_room *room, uint32_t gap, uint32_t least)
{
	if (gap > least)
		room->words += gap - least;
	if (gap > room->largest)
		room->largest = gap;
}

void shards_room(const struct shards *shards, const uint32_t *gone, size_t ngone, uint32_t least,
		 struct shards_room *out)
{
	const struct shard *shard;
	uint32_t at, i, number;
	size_t next = 0;

	*out = (struct shards_room){0};
	for (number = 0; number < shards->max; number++) {
		shard = &shards->shard[number];
		at = 0;
		for (i = 0; i < shard->nblocks; i++) {
			const struct shard_block *b = &shard->blocks[i];
			const uint32_t word = number << SHARD_SHIFT | b->at;

			while (next < ngone && gone[next] < word)
				next++;
			if (next < ngone && gone[next] == word)
				continue;
			room_add(out, b->at - at, least);
			at = b->at + b->count;
		}
		room_add(out, SHARD_WORDS - at, least);
	}
}

unsigned int shards_max(const struct shards *shards)
{
	return shards->max;
}

void shards_info(const struct shards *shards, unsigned int i, struct shard_info *out)
{
	const struct shard *shard;

	*out = (struct shard_info){0};
	if (i >= shards->max)
		return;
	shard = &shards->shard[i];
	out->created = shard->created;
	out->used = shard->used;
	out->blocks = shard->nblocks;
	out->generation = shard->generation;
}

uint64_t shards_used(const struct shards *shards, unsigned int *created)
{
	if (created)
		*created = shards->created;
	return shards->used;
}

static const uint32_t *rows_of(const struct block *b)
{
	return b->words + b->ngranules;
}

/* Number of the first row that does not belong to the granules below. */
static uint32_t row_at(const struct block *b, uint32_t granule)
{
	return granule < b->ngranules ? INDEX_FIRST(b->words[granule]) : b->nwords - b->ngranules;
}

/*
 * A granule without a row at its first byte continues the row before it, which is in another block
 * after a cut: the piece gets a copy of that row at its beginning.
 */
static bool needs_row(const struct block *b, uint32_t granule)
{
	const uint32_t word = b->words[granule];

	return !INDEX_ROWS(word) || ROW_OFFSET(rows_of(b)[INDEX_FIRST(word)]) != 0;
}

static uint32_t piece_words(const struct block *b, uint32_t from, uint32_t to)
{
	return to - from + row_at(b, to) - row_at(b, from) + needs_row(b, from);
}

uint32_t block_piece_end(const struct block *b, uint32_t from, uint32_t max, uint32_t *nwords)
{
	uint32_t low = from;

	low += SEARCH(b->ngranules - from, i, piece_words(b, from, from + (uint32_t)i + 1) <= max);
	/* A granule that is full has no place for one more row. */
	while (low > from && low < b->ngranules && INDEX_ROWS(b->words[low]) == INDEX_ROWS_MAX &&
	       needs_row(b, low))
		low--;
	*nwords = low > from ? piece_words(b, from, low) : 0;
	return low;
}

void block_piece(const struct block *b, uint32_t from, uint32_t to, uint32_t *words)
{
	const uint32_t first = row_at(b, from), n = to - from, more = needs_row(b, from);
	const uint32_t *rows = rows_of(b);

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t word = b->words[from + i];

		words[i] = INDEX_WORD(INDEX_FIRST(word) - first + (i ? more : 0),
				      INDEX_ROWS(word) + (i ? 0 : more));
	}
	if (more)
		words[n] = ROW_WORD(0, ROW_RULE(rows[first - 1]));
	memcpy(words + n + more, rows + first, (row_at(b, to) - first) * sizeof(*words));
}
