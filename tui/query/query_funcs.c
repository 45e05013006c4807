/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flat profile. Each function has a mark with the serial number of the sample that last
 * touched it, which answers "counted already in this sample?" and "first time in this query?"
 * without clearing anything between queries.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tui/query/query_priv.h"

struct flat {
	const struct profile *p;
	const struct query *q;
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
		struct func_mark *mark;

		if (!query_shows(flat->p, flat->q, stack->frames[i]))
			continue;
		mark = mark_touch(flat, stack->frames[i]);
		if (mark->sample != serial) {
			mark->sample = serial;
			mark->total += count;
		}
	}
}

static int flat_cell(const struct profile_cell *cell, void *arg)
{
	struct flat *flat = arg;
	uint32_t leaf = query_leaf(flat->p, flat->q, cell);

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
	uint32_t leaf = query_leaf(flat->p, flat->q, cell);

	flat->before += cell->count;
	if (!query_passes(flat->p, flat->q, flat->q->filter, cell))
		return 0;
	if (leaf != IDTABLE_NONE && flat->scratch->marks[leaf].sample >= flat->base)
		flat->scratch->marks[leaf].before += cell->count;
	return 0;
}

/* What the baseline has and nothing else is part of the answer, too. */
static int baseline_cell(const struct profile_cell *cell, void *arg)
{
	struct flat *flat = arg;
	uint32_t leaf = query_leaf(flat->p, flat->q, cell);

	if (leaf != IDTABLE_NONE && query_passes(flat->p, flat->q, flat->q->filter, cell))
		mark_touch(flat, leaf)->sample = flat->scratch->serial;
	return before_cell(cell, arg);
}

/* The same for all cells, by the paths that they take. */
static int flat_paths(struct flat *flat)
{
	const struct stacktrie *paths;
	const struct path_sum *sums;
	int err = query_path_sums(flat->p, flat->q, &paths, &sums);

	flat->scratch->serial++;
	for (uint32_t i = 1; !err && i < paths->count; i++) {
		uint32_t at = i;

		if (!sums[i].total)
			continue;
		if (query_shows(flat->p, flat->q, paths->nodes[i].func)) {
			struct func_mark *mark = mark_touch(flat, paths->nodes[i].func);

			mark->sample = flat->scratch->serial;
			if (!paths->nodes[i].again)
				mark->total += sums[i].total;
		}
		/* Inlined calls that are hidden count for whom they are in. */
		while (sums[i].self && at && !query_shows(flat->p, flat->q, paths->nodes[at].func))
			at = paths->nodes[at].parent;
		if (at)
			flat->scratch->marks[paths->nodes[at].func].self += sums[i].self;
	}
	return err;
}

static int flat_cells(struct flat *flat)
{
	int err = query_by_paths(flat->p, flat->q, false) ? flat_paths(flat) : -E2BIG;

	if (err == -E2BIG)
		err = query_cells(flat->p, flat->q, flat_cell, flat);
	return err;
}

/* The slices just before those that were weighed, as long a time. */
static void flat_before(struct flat *flat, const struct query *q)
{
	const struct profile *p = flat->p;
	struct query before = q->baseline ? query_of_baseline(q) : *q;
	size_t from, n;

	before.filter = NULL;
	if (q->baseline) {
		flat->scratch->serial++;
		query_cells(p, &before, baseline_cell, flat);
		return;
	}
	if (q->weigh == WEIGH_MOMENT) {
		before.weigh = WEIGH_BEFORE;
		query_cells(p, &before, before_cell, flat);
		return;
	}
	if (q->weigh != WEIGH_WINDOW && q->weigh != WEIGH_LAST)
		return;
	if (q->weigh == WEIGH_WINDOW && query_prior(p, &before, before_cell, flat))
		return;
	from = query_span(p, q->weigh);
	n = q->weigh == WEIGH_LAST ? p->nslices > 1 : profile_span(p, from);
	for (size_t age = from; age < from + n; age++)
		query_slice(p, &before, slice_at(p, age), before_cell, flat);
}

int query_funcs(const struct profile *p, const struct query *q, struct func_row **rows,
		size_t *count)
{
	struct flat flat = {.p = p, .q = q, .scratch = p->scratch};
	bool judged;
	int err;

	*rows = NULL;
	*count = 0;
	if (scratch_begin(&flat, query_cell_count(p, q) + 1))
		return -ENOMEM;
	err = flat_cells(&flat);
	if (err)
		return err;
	judged = query_sieves_begin(p, q);
	flat_before(&flat, q);
	if (judged)
		query_sieves_end(p);

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
