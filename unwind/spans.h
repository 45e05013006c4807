/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_SPANS_H
#define STACKTOP_UNWIND_SPANS_H

/*
 * Packs a stream of rows into the spans and words of an unwind_table.
 */

#include <stdbool.h>
#include <stdint.h>

struct unwind_table;

/* A run of more granules than this without any row is left out of the index. */
#define SPAN_GAP_MAX 64u

struct spans {
	struct unwind_table *table;
	uint64_t words_max;
	/* The last row that was added; a later one of the same pc replaces it. */
	uint64_t pc;
	uint32_t rule;
	bool pending;
	/* The span at hand. */
	bool open;
	uint64_t start; /* granule, that is, address >> GRANULE_SHIFT */
	uint32_t *index;
	uint32_t nindex, index_room;
	uint32_t *rows;
	uint32_t nrows, rows_room;
	uint32_t now;	 /* rule that was last asked for */
	uint32_t stored; /* rule of the last word; differs from now in a granule that is full */
	uint32_t words_room, spans_room; /* of the table */
};

/* table: empty, gets the result. words_max: where spans_add gives up. */
void spans_init(struct spans *spans, struct unwind_table *table, uint64_t words_max);

/*
 * The rule that holds from pc on. Calls come in ascending order of pc; of two with the same pc the
 * second counts. -ENOMEM, or -EFBIG when the table gets larger than words_max.
 */
int spans_add(struct spans *spans, uint64_t pc, uint32_t rule);

/* Closes the last span. The last rule must be ROW_END. Errors as above. */
int spans_finish(struct spans *spans);

/* Frees everything but the table. */
void spans_free(struct spans *spans);

#endif
