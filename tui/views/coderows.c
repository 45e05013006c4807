// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Short jumps take the inner lanes, so that lines rarely cross. Machine code is data of others: the
 * number of jumps and their length are bounded.
 */
#include "tui/views/annotate_priv.h"

#include <errno.h>
#include <stdlib.h>

#define JUMPS_MAX 8192u
#define SPAN_MAX  1024u /* rows; a longer line is too hard to follow */

struct code_jump {
	uint32_t from, to; /* rows */
};

static uint32_t span(const struct code_jump *j)
{
	return j->from < j->to ? j->to - j->from : j->from - j->to;
}

static int by_span(const void *a, const void *b)
{
	const struct code_jump *x = a, *y = b;

	if (span(x) != span(y))
		return span(x) < span(y) ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

static void add_rows(struct coderows *rows, const struct listing *l)
{
	uint32_t line = LISTING_NONE;

	for (uint32_t i = 0; i < l->ninsns; i++) {
		uint32_t now = l->insns[i].line;

		if (now != LISTING_NONE && now != line)
			rows->row[rows->count++] = (struct coderow){.insn = i, .line = now};
		line = now;
		rows->of_insn[i] = rows->count;
		rows->row[rows->count++] = (struct coderow){.insn = i, .line = LISTING_NONE};
	}
}

static void draw_jump(struct coderows *rows, const struct code_jump *j)
{
	uint32_t top = j->from < j->to ? j->from : j->to, end = top + span(j);
	uint8_t used = 0, bit;

	for (uint32_t i = top; i <= end; i++)
		used |= rows->row[i].pass | rows->row[i].down | rows->row[i].up;
	if (used == UINT8_MAX)
		return;
	bit = (uint8_t)(~used & (used + 1)); /* the lowest that is free */
	for (uint32_t i = top + 1; i < end; i++)
		rows->row[i].pass |= bit;
	rows->row[top].down |= bit;
	rows->row[end].up |= bit;
	rows->row[j->from].source |= bit;
	rows->row[j->to].head |= bit;
}

static int add_jumps(struct coderows *rows, const struct listing *l)
{
	struct code_jump *jumps = calloc(JUMPS_MAX, sizeof(*jumps));
	uint32_t n = 0;

	if (!jumps)
		return -ENOMEM;
	for (uint32_t i = 0; i < l->ninsns && n < JUMPS_MAX; i++) {
		uint32_t to = l->insns[i].to;

		if (to == LISTING_NONE || to == i)
			continue;
		jumps[n] = (struct code_jump){rows->of_insn[i], rows->of_insn[to]};
		n += span(&jumps[n]) <= SPAN_MAX;
	}
	qsort(jumps, n, sizeof(*jumps), by_span);
	for (uint32_t i = 0; i < n; i++)
		draw_jump(rows, &jumps[i]);
	free(jumps);
	return 0;
}

int coderows_make(struct coderows *rows, const struct listing *listing)
{
	int err = -ENOMEM;

	coderows_free(rows);
	rows->row = calloc(2 * (size_t)listing->ninsns + 1, sizeof(*rows->row));
	rows->of_insn = calloc((size_t)listing->ninsns + 1, sizeof(*rows->of_insn));
	if (rows->row && rows->of_insn) {
		add_rows(rows, listing);
		err = add_jumps(rows, listing);
	}
	if (err)
		coderows_free(rows);
	return err;
}

void coderows_free(struct coderows *rows)
{
	free(rows->row);
	free(rows->of_insn);
	*rows = (struct coderows){0};
}
