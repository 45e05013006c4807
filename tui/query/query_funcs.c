/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flat profile. Each function has a mark with the number of the last cell that counted for it,
 * so that recursion counts once. With query.by_module, functions have the mark of one function of
 * their module.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tui/query/query_priv.h"

struct func_mark {
	uint64_t self, total;
	uint64_t before; /* self in the time before */
	uint32_t sample; /* number of the last cell; 0: the function has no row */
	uint32_t caller; /* with most of self, + 1; 0: none */
	uint64_t called; /* that many of them */
};

struct flat {
	const struct profile *p;
	const struct query *q;
	struct func_mark *marks; /* by function */
	uint32_t *rows;		 /* by function, whose mark it has; NULL: its own */
	uint32_t serial;
	uint64_t before;
	struct celltable callers; /* (function that executed, its caller, 0) */
};

static uint32_t row_of(const struct flat *flat, uint32_t func)
{
	return flat->rows && func != IDTABLE_NONE ? flat->rows[func] : func;
}

/* The first function of each module stands for all. */
static int find_rows(struct flat *flat)
{
	const struct profile *p = flat->p;
	struct idtable modules = {0};
	int err = idtable_reserve(&modules, p->funcs.count);

	flat->rows = calloc((size_t)p->funcs.count + 1, sizeof(*flat->rows));
	if (!flat->rows)
		err = -ENOMEM;
	for (uint32_t i = 0; !err && i < p->funcs.count; i++) {
		const struct func_entry *entry = func_at(p, i);
		uint32_t hash, id;

		flat->rows[i] = i;
		if (!entry->entry.live || !entry->func.module[0])
			continue;
		hash = idtable_text(entry->func.module);
		for (uint32_t at = hash; (id = idtable_next(&modules, hash, &at)) != IDTABLE_NONE;)
			if (!strcmp(func_at(p, id)->func.module, entry->func.module))
				break;
		if (id == IDTABLE_NONE)
			idtable_add(&modules, hash, i);
		else
			flat->rows[i] = id;
	}
	idtable_free(&modules);
	return err;
}

static void flat_stack(struct flat *flat, uint32_t id, uint64_t count)
{
	const struct profile_stack *stack;

	if (id == PROFILE_NO_STACK)
		return;
	stack = &stack_at(flat->p, id)->stack;
	for (uint32_t i = 0; i < stack->nframes; i++) {
		struct func_mark *mark = &flat->marks[row_of(flat, stack->frames[i])];

		if (mark->sample == flat->serial || !query_shows(flat->p, flat->q, stack, i))
			continue;
		mark->sample = flat->serial;
		mark->total += count;
	}
}

/* The last two frames that are shown: the function that executed, and its caller; of modules, the
 * last frame of another one. */
static uint32_t leaf_of(const struct flat *flat, const struct profile_cell *cell, uint32_t *caller)
{
	const uint32_t ids[] = {cell->kstack, cell->ustack};
	uint32_t leaf = IDTABLE_NONE, row;

	*caller = IDTABLE_NONE;
	for (int i = 0; i < 2; i++) {
		const struct profile_stack *stack;

		if (ids[i] == PROFILE_NO_STACK)
			continue;
		stack = &stack_at(flat->p, ids[i])->stack;
		for (uint32_t n = stack->nframes; n-- > 0;) {
			if (!query_shows(flat->p, flat->q, stack, n))
				continue;
			row = row_of(flat, stack->frames[n]);
			if (leaf != IDTABLE_NONE && flat->rows && row == leaf)
				continue;
			if (leaf != IDTABLE_NONE) {
				*caller = row;
				return leaf;
			}
			leaf = row;
		}
	}
	return leaf;
}

static int flat_cell(const struct profile_cell *cell, void *arg)
{
	struct flat *flat = arg;
	uint32_t caller, leaf = leaf_of(flat, cell, &caller);

	if (caller != IDTABLE_NONE) {
		if (celltable_reserve(&flat->callers, flat->callers.count + 1))
			return -ENOMEM;
		celltable_get(&flat->callers, leaf, caller, 0, NULL)->count += cell->count;
	}

	flat->serial++;
	flat_stack(flat, cell->ustack, cell->count);
	flat_stack(flat, cell->kstack, cell->count);
	if (leaf != IDTABLE_NONE)
		flat->marks[leaf].self += cell->count;
	return 0;
}

static int before_cell(const struct profile_cell *cell, void *arg)
{
	struct flat *flat = arg;
	uint32_t leaf = row_of(flat, query_leaf(flat->p, flat->q, cell));

	flat->before += cell->count;
	if (!query_passes(flat->p, flat->q, flat->q->filter, cell))
		return 0;
	if (leaf != IDTABLE_NONE && flat->marks[leaf].sample)
		flat->marks[leaf].before += cell->count;
	return 0;
}

/* A function that only the baseline has gets a row, too. */
static int baseline_cell(const struct profile_cell *cell, void *arg)
{
	struct flat *flat = arg;
	uint32_t leaf = row_of(flat, query_leaf(flat->p, flat->q, cell));

	if (leaf != IDTABLE_NONE && query_passes(flat->p, flat->q, flat->q->filter, cell))
		flat->marks[leaf].sample = flat->serial;
	return before_cell(cell, arg);
}

/* The equally long time just before the span. A part of it would differ by chance alone, so it is
 * not compared. */
static void flat_before(struct flat *flat, const struct query *q)
{
	const struct profile *p = flat->p;
	struct query before = q->baseline ? query_of_baseline(q) : *q;
	size_t from, n;

	before.filter = NULL;
	if (q->baseline) {
		flat->serial++;
		query_cells(p, &before, baseline_cell, flat);
		return;
	}
	if (q->span == SPAN_MOMENT) {
		before.span = SPAN_BEFORE;
		query_cells(p, &before, before_cell, flat);
		return;
	}
	if (q->span != SPAN_WINDOW && q->span != SPAN_LAST)
		return;
	from = span_count(p, q->span);
	n = q->span == SPAN_LAST ? p->nslices > 1 : profile_span(p, from);
	if (q->span == SPAN_WINDOW && !profile_span_whole(p, from, n))
		return;
	if (q->span == SPAN_WINDOW && query_prior(p, &before, before_cell, flat))
		return;
	for (size_t age = from; age < from + n; age++)
		query_slice(p, &before, slice_at(p, age), before_cell, flat);
}

/* Of equal ones that with the lower id, so that the order of samples does not matter. */
static void flat_callers(struct flat *flat)
{
	for (size_t i = 0; i < flat->callers.count; i++) {
		const struct cell *pair = &flat->callers.cells[i];
		struct func_mark *mark = &flat->marks[pair->proc];

		if (pair->count < mark->called ||
		    (pair->count == mark->called && pair->ustack + 1 > mark->caller))
			continue;
		mark->called = pair->count;
		mark->caller = pair->ustack + 1;
	}
}

static int flat_rows(const struct flat *flat, struct func_row **rows, size_t *count)
{
	size_t n = 0;

	for (uint32_t i = 0; i < flat->p->funcs.count; i++)
		n += flat->marks[i].sample != 0;
	*rows = malloc((n + 1) * sizeof(**rows));
	if (!*rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < flat->p->funcs.count; i++) {
		const struct func_mark *mark = &flat->marks[i];

		if (mark->sample)
			(*rows)[(*count)++] = (struct func_row){
				.func = i,
				.self = mark->self,
				.total = mark->total,
				.before = mark->before,
				.before_of = flat->before,
				.caller = mark->caller - 1,
			};
	}
	return 0;
}

int query_funcs(const struct profile *p, const struct query *q, struct func_row **rows,
		size_t *count)
{
	struct flat flat = {.p = p, .q = q};
	int err = -ENOMEM;

	*rows = NULL;
	*count = 0;
	flat.marks = calloc((size_t)p->funcs.count + 1, sizeof(*flat.marks));
	if (flat.marks && query_cell_count(p, q) < UINT32_MAX - 1)
		err = q->by_module ? find_rows(&flat) : 0;
	if (!err)
		err = query_cells(p, q, flat_cell, &flat);
	if (!err) {
		flat_callers(&flat);
		flat_before(&flat, q);
		err = flat_rows(&flat, rows, count);
	}
	celltable_free(&flat.callers);
	free(flat.rows);
	free(flat.marks);
	return err;
}
