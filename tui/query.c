/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one place that knows how time is weighed and what is hidden: every answer goes through
 * query_cells, so none can disagree with another about which samples there are.
 */
#include "tui/query.h"

#include <string.h>

#include "tui/query_priv.h"

static int slice_each(const struct slice *slice, uint32_t proc, cell_fn fn, void *arg)
{
	for (size_t i = 0; i < slice->ncells; i++) {
		int err = 0;

		if (proc == QUERY_ALL || slice->cells[i].proc == proc)
			err = fn(&slice->cells[i], arg);
		if (err)
			return err;
	}
	return 0;
}

int query_raw(const struct profile *p, enum weigh weigh, uint32_t proc, cell_fn fn, void *arg)
{
	const struct celltable *table = weigh == WEIGH_TOTAL ? &p->totals : &p->sliding;

	if (weigh == WEIGH_LAST)
		return p->nslices ? slice_each(slice_at(p, 0), proc, fn, arg) : 0;
	for (size_t i = 0; i < table->count; i++) {
		const struct cell *from = &table->cells[i];
		struct profile_cell cell = {from->proc, 0, from->ustack, from->kstack, from->count};
		int err;

		if (!from->count || (proc != QUERY_ALL && from->proc != proc))
			continue;
		err = fn(&cell, arg);
		if (err)
			return err;
	}
	return 0;
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
		cell->kstack = PROFILE_NO_STACK;
	return true;
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

	return query_raw(p, q->weigh, q->proc, take_cell, &taker);
}

int query_slice(const struct profile *p, const struct query *q, const struct slice *slice,
		cell_fn fn, void *arg)
{
	struct taker taker = {p, q, fn, arg};

	return slice_each(slice, q->proc, take_cell, &taker);
}

size_t query_cell_count(const struct profile *p, enum weigh weigh)
{
	if (weigh == WEIGH_LAST)
		return p->nslices ? slice_at(p, 0)->ncells : 0;
	return weigh == WEIGH_TOTAL ? p->totals.count : p->sliding.count;
}

size_t query_span(const struct profile *p, enum weigh weigh)
{
	if (weigh == WEIGH_LAST)
		return p->nslices ? 1 : 0;
	return p->nwindow;
}

uint32_t query_leaf(const struct profile *p, const struct profile_cell *cell)
{
	const uint32_t ids[] = {cell->kstack, cell->ustack};

	for (int i = 0; i < 2; i++) {
		const struct profile_stack *stack;

		if (ids[i] == PROFILE_NO_STACK)
			continue;
		stack = &stack_at(p, ids[i])->stack;
		if (stack->nframes)
			return stack->frames[stack->nframes - 1];
	}
	return IDTABLE_NONE;
}

/* --- by id ----------------------------------------------------------------------------------- */

const struct profile_func *query_func(const struct profile *p, uint32_t func)
{
	return pool_has(&p->funcs, func) ? &func_at(p, func)->func : NULL;
}

const struct profile_stack *query_stack(const struct profile *p, uint32_t stack)
{
	return pool_has(&p->stacks, stack) ? &stack_at(p, stack)->stack : NULL;
}

const struct profile_proc *query_proc(const struct profile *p, uint32_t proc)
{
	return pool_has(&p->procs, proc) ? &proc_at(p, proc)->proc : NULL;
}

/* --- health ---------------------------------------------------------------------------------- */

void query_health(const struct profile *p, struct profile_health *last)
{
	*last = p->last;
}

void query_health_sum(const struct profile *p, enum weigh weigh, struct profile_health *sum)
{
	memset(sum, 0, sizeof(*sum));
	if (weigh == WEIGH_TOTAL) {
		*sum = p->total_health;
		return;
	}
	for (size_t age = query_span(p, weigh); age-- > 0;)
		profile_health_add(sum, &slice_at(p, age)->health);
}

static int count_cell(const struct profile_cell *cell, void *arg)
{
	*(uint64_t *)arg += cell->count;
	return 0;
}

uint64_t query_samples(const struct profile *p, const struct query *q, double *seconds)
{
	struct profile_health sum;
	uint64_t samples = 0;

	query_cells(p, q, count_cell, &samples);
	query_health_sum(p, q->weigh, &sum);
	if (seconds)
		*seconds = (double)sum.elapsed / NS_PER_SEC;
	return samples;
}

size_t query_timeline(const struct profile *p, float *use, size_t max)
{
	size_t n = p->ntimeline < TIMELINE_MAX ? (size_t)p->ntimeline : TIMELINE_MAX;

	if (n > max)
		n = max;
	for (size_t i = 0; i < n; i++)
		use[i] = p->timeline[(p->ntimeline - n + i) % TIMELINE_MAX];
	return n;
}

uint64_t query_slices(const struct profile *p)
{
	return p->committed;
}
