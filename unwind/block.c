// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A granule without a row at its first byte continues the row before it, which is in another block
 * after a cut: the piece gets a copy of that row at its beginning.
 */
#include "unwind/block.h"

#include <stdbool.h>
#include <string.h>

#include "symbols/base/search.h"
#include "unwind/row.h"

static const uint32_t *rows_of(const struct block *b)
{
	return b->words + b->ngranules;
}

/* Number of the first row that does not belong to the granules below. */
static uint32_t row_at(const struct block *b, uint32_t granule)
{
	return granule < b->ngranules ? INDEX_FIRST(b->words[granule]) : b->nwords - b->ngranules;
}

static bool needs_row(const struct block *b, uint32_t granule)
{
	const uint32_t word = b->words[granule];

	return !INDEX_ROWS(word) || ROW_OFFSET(rows_of(b)[INDEX_FIRST(word)]) != 0;
}

/* A granule that is full has no place for one more row. */
static bool may_begin(const struct block *b, uint32_t granule)
{
	return granule >= b->ngranules || INDEX_ROWS(b->words[granule]) < INDEX_ROWS_MAX ||
	       !needs_row(b, granule);
}

static uint32_t piece_words(const struct block *b, uint32_t from, uint32_t to)
{
	return to - from + row_at(b, to) - row_at(b, from) + needs_row(b, from);
}

uint32_t block_piece_end(const struct block *b, uint32_t from, uint32_t max, uint32_t *nwords)
{
	uint32_t low = from;

	low += SEARCH(b->ngranules - from, i, piece_words(b, from, from + (uint32_t)i + 1) <= max);
	while (low > from && !may_begin(b, low))
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
