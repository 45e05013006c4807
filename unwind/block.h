/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_BLOCK_H
#define STACKTOP_UNWIND_BLOCK_H

/*
 * Cuts a span's block (see unwind/row.h) between two granules, into blocks that say the same of
 * every address. A span is as large as it can be when its table is built; where it is to stand,
 * there may be no gap of that size, but several smaller ones.
 */

#include <stdint.h>

/* Words; a gap that is smaller takes no piece but the last: an entry of a list each has its price.
 */
#define BLOCK_PIECE_MIN 4096u

struct block {
	const uint32_t *words; /* ngranules of index, then the rows */
	uint32_t ngranules;
	uint32_t nwords;
};

/*
 * The last granule + 1 of the longest piece that begins at granule from and takes at most max
 * words; *nwords: those that it takes. from: none, no piece is so small.
 */
uint32_t block_piece_end(const struct block *b, uint32_t from, uint32_t max, uint32_t *nwords);

/* Writes the words of the piece [from, to), which block_piece_end has given. */
void block_piece(const struct block *b, uint32_t from, uint32_t to, uint32_t *words);

#endif
