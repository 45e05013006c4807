/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flat profile. Each function has a mark with the serial number of the sample that last
 * touched it, which answers "counted already in this sample?" and "first time in this query?"
 * without clearing anything between queries.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tui/query_priv.h"

struct flat {
	const struct profile *p;
	struct scratch *scratch;
	uint32_t base; /* marks below belong to an earlier query */
	uint64_t before;
};

static int scratch_begin(struct flat *flat, size_t ncells)
{
	struct scratch *scratch = flat->scratch;
	uint32_t nfuncs = flat->p->funcs.count, room;
	struct func_mark *marks;
	uint32_t *funcs;

	if (nfuncs > scratch->nmarks) {
		room = nfuncs + nfuncs / 2;
		marks = reallocarray(scratch->marks, room, sizeof(*marks));
		if (!marks)
			return -ENOMEM;
		scratch->marks = marks;
		funcs = reallocarray(scratch->funcs, room, sizeof(*funcs));
		if (!funcs)
			return -ENOMEM;
		scratch->funcs = funcs;
		memset(marks + scratch->nmarks, 0, (room - scratch->nmarks) * sizeof(*marks));
		scratch->nmarks = room;
	}
	if (ncells >= UINT32_MAX - 1)
		return -ENOMEM;
	if (scratch->serial >= UINT32_MAX - 1 - ncells) {
		memset(scratch->marks, 0, scratch->nmarks * sizeof(*scratch->marks));
		scratch->serial = 0;
	}
	flat->base = scratch->serial + 1;
	scratch->nfuncs = 0;
	return 0;
}

static struct func_mark *mark_touch(struct flat *flat, uint32_t func)
{
	struct func_mark *mark = &flat->scratch->marks[func];

	if (mark->sample < flat->base) {
		*mark = (struct func_mark){0};
		flat->scratch->funcs[flat->scratch->nfuncs++] = func;
	}
	return mark;
}

static void flat_stack(struct flat *flat, uint32_t id, uint64_t count)
{
	const struct profile_stack *stack;
	uint32_t serial = flat->scratch->serial;

	if (id == PROFILE_NO_STACK)
		return;
	stack = &stack_at(flat->p, id)->stack;
	for (uint32_t i = 0; i < stack->nframes; i++) {
		struct func_mark *mark = mark_touch(flat, stack->frames[i]);

		if (mark->sample != serial) {
			mark->sample = serial;
			mark->total += count;
		}
	}
}

static int flat_cell(const struct profile_cell *cell, void *arg)
{
	struct flat *flat = arg;
	uint32_t leaf = query_leaf(flat->p, cell);

	flat->scratch->serial++;
	flat_stack(flat, cell->ustack, cell->count);
	flat_stack(flat, cell->kstack, cell->count);
	if (leaf != IDTABLE_NONE)
		flat->scratch->marks[leaf].self += cell->count;
	return 0;
}

static int before_cell(const struct profile_cell *cell, void *arg)
{
	struct flat *flat = arg;
	uint32_t leaf = query_leaf(flat->p, cell);

	flat->before += cell->count;
	if (leaf != IDTABLE_NONE && flat->scratch->marks[leaf].sample >= flat->base)
		flat->scratch->marks[leaf].before += cell->count;
	return 0;
}

/* The slices just before those that were weighed, as long a time. */
static void flat_before(struct flat *flat, const struct query *q)
{
	const struct profile *p = flat->p;
	size_t from, n;

	if (q->weigh == WEIGH_TOTAL)
		return;
	from = query_span(p, q->weigh);
	n = q->weigh == WEIGH_LAST ? p->nslices > 1 : profile_span(p, from);
	for (size_t age = from; age < from + n; age++)
		query_slice(p, q, slice_at(p, age), before_cell, flat);
}

int query_funcs(const struct profile *p, const struct query *q, struct func_row **rows,
		size_t *count)
{
	struct flat flat = {.p = p, .scratch = p->scratch};

	*rows = NULL;
	*count = 0;
	if (scratch_begin(&flat, query_cell_count(p, q->weigh)))
		return -ENOMEM;
	query_cells(p, q, flat_cell, &flat);
	flat_before(&flat, q);

	*rows = malloc((flat.scratch->nfuncs + 1) * sizeof(**rows));
	if (!*rows)
		return -ENOMEM;
	for (size_t i = 0; i < flat.scratch->nfuncs; i++) {
		uint32_t func = flat.scratch->funcs[i];
		const struct func_mark *mark = &flat.scratch->marks[func];
		double before = flat.before ? (double)mark->before / (double)flat.before : -1;

		(*rows)[i] = (struct func_row){func, mark->self, mark->total, before};
	}
	*count = flat.scratch->nfuncs;
	return 0;
}
