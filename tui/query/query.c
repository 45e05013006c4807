/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which samples a query counts. All answers use query_take or query_passes, so none disagree. */
#include "tui/query/query.h"

#include <errno.h>
#include <string.h>

#include "tui/profile/slice_order.h"
#include "tui/util/prefetch.h"
#include "tui/query/query_priv.h"

#define STACKS_AHEAD 8 /* cells */

/* Visits only the cells of the process or thread asked for: there may be thousands of others. */
static int slice_each(const struct profile *p, const struct query *q, const struct slice *slice,
		      cell_fn fn, void *arg)
{
	struct cells_range range = {0, slice->ncells};
	const bool counts = query_counts(p, q);
	struct profile_cell cell;
	int err = 0;

	if (q->proc != QUERY_ALL)
		range = cells_of(p, slice->cells, slice->ncells, q->proc,
				 q->scope ? q->scope->tid : 0);
	for (size_t i = range.from; i < range.to && !err; i++) {
		if (counts) {
			err = fn(&slice->cells[i], arg);
			continue;
		}
		cell = slice->cells[i];
		if (query_measures(p, q, &cell))
			err = fn(&cell, arg);
	}
	return err;
}

/* Not for SPAN_LAST. NULL: no memory. */
static const struct celltable *table_of(const struct profile *p, enum span span)
{
	return span == SPAN_DECAY ? decay_cells(p) : &span_sum(p, span)->cells;
}

/* Stacks are scattered in memory. Without this, a tree or flat profile takes 1.5 times as long. */
static void expect_stack(const struct profile *p, const struct celltable *table, size_t at)
{
	if (at + STACKS_AHEAD < table->count &&
	    table->cells[at + STACKS_AHEAD].ustack != PROFILE_NO_STACK)
		prefetch_read(stack_at(p, table->cells[at + STACKS_AHEAD].ustack));
}

static int table_each(const struct profile *p, const struct query *q, const struct celltable *table,
		      cell_fn fn, void *arg)
{
	const bool counts = query_counts(p, q);
	const uint32_t proc = q->proc;
	int err = 0;

	for (size_t i = 0; i < table->count && !err; i++) {
		const struct cell *from = &table->cells[i];
		struct profile_cell cell = {from->proc,	 0, from->ustack, from->kstack,
					    from->count, 0, from->weight};

		expect_stack(p, table, i);
		/* Of a sum that decays, less than one wait may still be a long time. */
		if ((from->count || from->weight) && (proc == QUERY_ALL || from->proc == proc) &&
		    (counts || query_measures(p, q, &cell)) && cell.count)
			err = fn(&cell, arg);
	}
	return err;
}

int query_raw(const struct profile *p, const struct query *q, cell_fn fn, void *arg)
{
	const struct celltable *table;
	size_t newest, n;
	int err = 0;

	if (q->span == SPAN_LAST)
		return p->nslices ? slice_each(p, q, slice_at(p, 0), fn, arg) : 0;
	if (query_apart(q) && span_has_slices(p, q->span, &newest, &n)) {
		for (size_t age = newest; age < newest + n && !err; age++)
			err = slice_each(p, q, slice_at(p, age), fn, arg);
		return err;
	}
	table = table_of(p, q->span);
	return table ? table_each(p, q, table, fn, arg) : -ENOMEM;
}

/* Of a wait its cause stays. */
static void hide_kernel(const struct profile *p, struct profile_cell *cell)
{
	const struct profile_stack *stack;

	if (cell->kstack == PROFILE_NO_STACK)
		return;
	stack = &stack_at(p, cell->kstack)->stack;
	if (stack->use == STACK_SAMPLES)
		cell->kstack = PROFILE_NO_STACK;
	else if (stack->use == STACK_WAITS)
		cell->kstack = p->folded_waits[stack->cause];
}

bool query_take(const struct profile *p, const struct query *q, struct profile_cell *cell)
{
	if (q->proc != QUERY_ALL && q->proc != cell->proc)
		return false;
	if (q->hide_user) {
		if (cell->kstack == PROFILE_NO_STACK || !stack_at(p, cell->kstack)->stack.nframes)
			return false;
		cell->ustack = PROFILE_NO_STACK;
	}
	if (q->hide_kernel)
		hide_kernel(p, cell);
	return query_passes(p, q, q->scope, cell) && query_passes(p, q, q->filter, cell);
}

struct taker {
	const struct profile *p;
	const struct query *q;
	cell_fn fn;
	void *arg;
};

static int take_cell(const struct profile_cell *raw, void *arg)
{
	const struct taker *taker = arg;
	struct profile_cell cell = *raw;

	return query_take(taker->p, taker->q, &cell) ? taker->fn(&cell, taker->arg) : 0;
}

int query_cells(const struct profile *p, const struct query *q,
		int (*fn)(const struct profile_cell *cell, void *arg), void *arg)
{
	struct taker taker = {p, q, fn, arg};

	return query_raw(p, q, take_cell, &taker);
}

int query_slice(const struct profile *p, const struct query *q, const struct slice *slice,
		cell_fn fn, void *arg)
{
	struct taker taker = {p, q, fn, arg};

	return slice_each(p, q, slice, take_cell, &taker);
}

bool query_prior(const struct profile *p, const struct query *q, cell_fn fn, void *arg)
{
	struct taker taker = {p, q, fn, arg};

	if (!p->prior_valid || query_apart(q))
		return false;
	table_each(p, q, &p->prior.cells, take_cell, &taker);
	return true;
}

size_t query_cell_count(const struct profile *p, const struct query *q)
{
	const struct celltable *table;
	size_t count = 0, newest, n;

	if (q->span == SPAN_LAST)
		return p->nslices ? slice_at(p, 0)->ncells : 0;
	if (query_apart(q) && span_has_slices(p, q->span, &newest, &n)) {
		for (size_t age = newest; age < newest + n; age++)
			count += slice_at(p, age)->ncells;
		return count;
	}
	table = table_of(p, q->span);
	return table ? table->count : 0;
}

struct query query_of_baseline(const struct query *q)
{
	struct query baseline = *q;

	baseline.span = SPAN_BASELINE;
	return baseline;
}

static const char *const frames_names[FRAMES_MODES] = {
	[FRAMES_MERGED] = "merged", [FRAMES_ALL] = "all", [FRAMES_LANGUAGE] = "language"};

const char *query_frames_name(enum frames_mode mode)
{
	return frames_names[mode];
}

bool query_frames_parse(const char *name, enum frames_mode *mode)
{
	for (int i = 0; i < FRAMES_MODES; i++)
		if (strcmp(frames_names[i], name) == 0) {
			*mode = (enum frames_mode)i;
			return true;
		}
	return false;
}

bool query_shows_frame(const struct profile *p, const struct query *q,
		       const struct profile_stack *stack, uint32_t frame)
{
	enum func_kind kind = func_at(p, stack->frames[frame])->func.kind;

	if (q->hide_inline && kind == FUNC_INLINE)
		return false;
	if (!stack->language || q->frames == FRAMES_ALL)
		return true;
	if (q->frames == FRAMES_LANGUAGE)
		return func_is_language(kind) || kind == FUNC_END;
	/* An inlined call goes with the function that it is in. */
	while (kind == FUNC_INLINE && frame)
		kind = func_at(p, stack->frames[--frame])->func.kind;
	return kind != FUNC_EVAL;
}

uint32_t query_leaf(const struct profile *p, const struct query *q, const struct profile_cell *cell)
{
	const uint32_t ids[] = {cell->kstack, cell->ustack};

	for (int i = 0; i < 2; i++) {
		const struct profile_stack *stack;

		if (ids[i] == PROFILE_NO_STACK)
			continue;
		stack = &stack_at(p, ids[i])->stack;
		for (uint32_t n = stack->nframes; n-- > 0;)
			if (query_shows(p, q, stack, n))
				return stack->frames[n];
	}
	return IDTABLE_NONE;
}

uint32_t query_hot_leaf(const struct profile *p, const struct query *q,
			const struct profile_cell *cell)
{
	struct profile_cell user = *cell;
	uint32_t leaf;

	if (cell->kstack == PROFILE_NO_STACK || cell->ustack == PROFILE_NO_STACK ||
	    stack_at(p, cell->kstack)->stack.use != STACK_WAITS)
		return query_leaf(p, q, cell);
	user.kstack = PROFILE_NO_STACK;
	leaf = query_leaf(p, q, &user);
	return leaf != IDTABLE_NONE ? leaf : query_leaf(p, q, cell);
}

static int count_cell(const struct profile_cell *cell, void *arg)
{
	*(uint64_t *)arg += cell->count;
	return 0;
}

bool query_slice_samples(const struct profile *p, const struct query *q, uint64_t slice,
			 uint64_t *samples, size_t *cells)
{
	const struct slice *at;
	size_t age;

	*samples = 0;
	if (!slice_age(p, slice, &age))
		return false;
	at = slice_at(p, age);
	*cells += q->proc == QUERY_ALL ? at->ncells : 1;
	query_slice(p, q, at, count_cell, samples);
	return true;
}

int query_slice_each(const struct profile *p, const struct query *q, uint64_t slice,
		     int (*fn)(const struct profile_cell *cell, void *arg), void *arg)
{
	size_t age;

	return slice_age(p, slice, &age) ? query_slice(p, q, slice_at(p, age), fn, arg) : -ENOENT;
}

/* For queries without filters and hiding. */
static uint64_t sum_table(const struct celltable *table, uint32_t proc)
{
	uint64_t sum = 0;

	for (size_t i = 0; table && i < table->count; i++)
		if (proc == QUERY_ALL || table->cells[i].proc == proc)
			sum += table->cells[i].count;
	return sum;
}

uint64_t query_samples(const struct profile *p, const struct query *q, double *seconds)
{
	struct profile_health sum;
	uint64_t samples = 0;

	if (query_takes_all(q) && !query_apart(q) && q->span != SPAN_LAST && query_counts(p, q))
		samples = sum_table(table_of(p, q->span), q->proc);
	else
		query_cells(p, q, count_cell, &samples);
	query_health_sum(p, q->span, &sum);
	if (seconds)
		*seconds = (double)sum.elapsed / NS_PER_SEC;
	return samples;
}

double query_full(const struct query *q, const struct profile_health *health)
{
	if (q->measure != MEASURE_CPU)
		return (double)health->elapsed / NS_PER_US;
	return profile_full(health);
}

void query_rates(const struct profile *p, const struct query *q, struct proc_row *rows,
		 size_t count)
{
	struct profile_health sum;
	double seconds, full;

	query_health_sum(p, q->span, &sum);
	seconds = (double)sum.elapsed / NS_PER_SEC;
	full = query_full(q, &sum);
	for (size_t i = 0; i < count && seconds > 0; i++) {
		rows[i].rate = (double)rows[i].samples / seconds;
		rows[i].full = full;
		if (full > 0)
			rows[i].cpu_percent = 100 * (double)rows[i].samples / full;
	}
}
