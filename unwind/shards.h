/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_SHARDS_H
#define STACKTOP_UNWIND_SHARDS_H

/*
 * Allocates blocks in the word space. Word n is word n & SHARD_MASK of shard n >> SHARD_SHIFT. A
 * block never crosses a shard. A shard is created when a block needs one, within the budget. This
 * is bookkeeping only: callbacks create and destroy the memory. Not thread-safe: the tracker's
 * lock guards it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/row.h"

#define SHARDS_MAX 1024u

struct shards;

struct shards_ops {
	/* Creates shard number i; 0 or -errno. */
	int (*create)(void *arg, unsigned int i);
	/* Frees shard i, which has no block any more. May be NULL. */
	void (*destroy)(void *arg, unsigned int i);
	/* Copies words to the shard; 0 or -errno. */
	int (*write)(void *arg, unsigned int i, uint32_t at, const uint32_t *words, uint32_t count);
	/* Blocks are small and many: put a new one behind all others while it fits there. */
	bool many;
};

struct shard_info {
	bool created;
	uint32_t used; /* words */
	uint32_t blocks;
	uint32_t generation; /* grows by one at each creation */
};

/* max: shards allowed by the budget, at most SHARDS_MAX. NULL: no memory. */
struct shards *shards_new(unsigned int max, const struct shards_ops *ops, void *arg);
/* Calls no callback: the caller frees shards that still exist. */
void shards_free(struct shards *shards);

/*
 * Allocates a block of 1..SHARD_WORDS words and writes it. *word: its number in the word space.
 * -ENOSPC when the budget is used up, -ENOMEM, -EINVAL, or an error of the callbacks.
 */
int shards_add(struct shards *shards, const uint32_t *words, uint32_t count, uint32_t *word);

/* Frees a block. The caller makes sure that no running program still reads it. */
void shards_remove(struct shards *shards, uint32_t word);

/* Free space; a shard that may still be created is a gap. */
struct shards_room {
	uint64_t words;	  /* of all gaps, each without the first `least` */
	uint32_t largest; /* gap, as a whole */
};

/* As if the blocks at the words gone[0..ngone), ascending, had been removed. */
void shards_room(const struct shards *shards, const uint32_t *gone, size_t ngone, uint32_t least,
		 struct shards_room *out);

unsigned int shards_max(const struct shards *shards);
void shards_info(const struct shards *shards, unsigned int i, struct shard_info *out);
/* Words in use, and shards created. */
uint64_t shards_used(const struct shards *shards, unsigned int *created);

/*
 * Cuts the block of a span (see unwind/row.h) between granules, into blocks with the same rule for
 * each address. Tables are built with spans as large as possible, but the shards may only have
 * several smaller gaps.
 */

/* Words; only the last piece may be smaller, since each takes an entry of the lists. */
#define BLOCK_PIECE_MIN 4096u

struct block {
	const uint32_t *words; /* ngranules of index, then the rows */
	uint32_t ngranules;
	uint32_t nwords;
};

/*
 * The end (last granule + 1) of the longest piece that begins at granule from and has at most max
 * words; *nwords: its words. from: max is too small for any piece.
 */
uint32_t block_piece_end(const struct block *b, uint32_t from, uint32_t max, uint32_t *nwords);

/* Writes the words of the piece [from, to), which block_piece_end has given. */
void block_piece(const struct block *b, uint32_t from, uint32_t to, uint32_t *words);

#endif
