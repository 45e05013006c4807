/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_BLOCK_H
#define STACKTOP_UNWIND_BLOCK_H

/*
 * Cuts the block of a span (see unwind/row.h) between granules, into blocks with the same rule for
 * each address. Tables are built with spans as large as possible, but the shards may only have
 * several smaller gaps.
 */

#include <stdint.h>

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
