/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one place that knows how time is weighed and what is hidden: every answer goes through
 * query_cells, so none can disagree with another about which samples there are.
 */
#include "tui/query/query.h"

#include <errno.h>
#include <string.h>

#include "tui/profile/slice_order.h"
#include "tui/util/prefetch.h"
#include "tui/query/query_priv.h"

#define STACKS_AHEAD 8 /* cells */

/* Of one process or thread only its cells are looked at: there may be thousands of others. */
static int slice_each(const struct profile *p, const struct query *q, const struct slice *slice,
		      cell_fn fn, void *arg)
{
	struct cells_range range = {0, slice->ncells};
	int err = 0;

	if (q->proc != QUERY_ALL)
		range = cells_of(p, slice->cells, slice->ncells, q->proc,
				 q->whose ? q->whose->tid : 0);
	for (size_t i = range.from; i < range.to && !err; i++)
		err = fn(&slice->cells[i], arg);
	return err;
}

static struct extract *extract_of(const struct profile *p, enum weigh weigh)
{
	struct extract *extracts = (struct extract *)p->extracts;

	return weigh == WEIGH_MOMENT   ? &extracts[EXTRACT_MOMENT]
	       : weigh == WEIGH_BEFORE ? &extracts[EXTRACT_BEFORE]
				       : &extracts[EXTRACT_BASELINE];
}

/* Not for WEIGH_LAST. NULL: no memory. What is known of cells may change, so it is not const. */
static struct celltable *table_of(const struct profile *p, enum weigh weigh)
{
	switch (weigh) {
	case WEIGH_TOTAL:
		return (struct celltable *)&p->totals;
	case WEIGH_DECAY:
		return query_decayed(p);
	case WEIGH_MOMENT:
	case WEIGH_BEFORE:
	case WEIGH_BASELINE:
		return &extract_of(p, weigh)->cells;
	default:
		return (struct celltable *)&p->sliding;
	}
}

void query_slices_weighed(const struct profile *p, enum weigh weigh, uint64_t *first,
			  uint64_t *last)
{
	size_t n = query_span(p, weigh);

	*last = p->committed;
	*first = n ? p->committed + 1 - n : 0;
	if (weigh == WEIGH_TOTAL || weigh == WEIGH_DECAY)
		*first = 0;
	if (weigh == WEIGH_MOMENT || weigh == WEIGH_BEFORE || weigh == WEIGH_BASELINE) {
		*first = extract_of(p, weigh)->first;
		*last = extract_of(p, weigh)->last;
	}
}

bool query_slices_of(const struct profile *p, enum weigh weigh, size_t *newest, size_t *n)
{
	uint64_t first, last;

	query_slices_weighed(p, weigh, &first, &last);
	*n = (size_t)(last + 1 - first);
	return first && slice_age(p, last, newest) && *newest + *n <= p->nslices;
}

static int slices_each(const struct profile *p, const struct query *q, size_t newest, size_t n,
		       cell_fn fn, void *arg)
{
	int err = 0;

	for (size_t age = newest; age < newest + n && !err; age++)
		err = slice_each(p, q, slice_at(p, age), fn, arg);
	return err;
}

/* Stacks are scattered in memory: without this a question waits for each. */
static void expect_stack(const struct profile *p, const struct celltable *table, size_t at)
{
	if (at + STACKS_AHEAD < table->count &&
	    table->cells[at + STACKS_AHEAD].ustack != PROFILE_NO_STACK)
		prefetch_read(stack_at(p, table->cells[at + STACKS_AHEAD].ustack));
}

static int table_each(const struct profile *p, const struct celltable *table, uint32_t proc,
		      cell_fn fn, void *arg)
{
	int err = 0;

	for (size_t i = 0; i < table->count && !err; i++) {
		const struct cell *from = &table->cells[i];
		struct profile_cell cell = {from->proc,	  0,	       from->ustack,
					    from->kstack, from->count, 0};

		expect_stack(p, table, i);
		if (from->count && (proc == QUERY_ALL || from->proc == proc))
			err = fn(&cell, arg);
	}
	return err;
}

struct celltable *query_table(const struct profile *p, const struct query *q)
{
	size_t newest, n;

	if (q->weigh == WEIGH_LAST || (query_apart(q) && query_slices_of(p, q->weigh, &newest, &n)))
		return NULL;
	return table_of(p, q->weigh);
}

int query_raw(const struct profile *p, const struct query *q, cell_fn fn, void *arg)
{
	struct celltable *table;
	size_t newest, n;

	if (q->weigh == WEIGH_LAST)
		return p->nslices ? slice_each(p, q, slice_at(p, 0), fn, arg) : 0;
	if (query_apart(q) && query_slices_of(p, q->weigh, &newest, &n))
		return slices_each(p, q, newest, n, fn, arg);
	table = table_of(p, q->weigh);
	return table ? table_each(p, table, q->proc, fn, arg) : -ENOMEM;
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
	return query_passes(p, q, q->whose, cell) && query_passes(p, q, q->filter, cell);
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
	table_each(p, (struct celltable *)&p->prior, q->proc, take_cell, &taker);
	return true;
}

size_t query_cell_count(const struct profile *p, const struct query *q)
{
	const struct celltable *table;
	size_t count = 0, newest, n;

	if (q->weigh == WEIGH_LAST)
		return p->nslices ? slice_at(p, 0)->ncells : 0;
	if (query_apart(q) && query_slices_of(p, q->weigh, &newest, &n)) {
		for (size_t age = newest; age < newest + n; age++)
			count += slice_at(p, age)->ncells;
		return count;
	}
	table = table_of(p, q->weigh);
	return table ? table->count : 0;
}

size_t query_span(const struct profile *p, enum weigh weigh)
{
	if (weigh == WEIGH_LAST)
		return p->nslices ? 1 : 0;
	return p->nwindow;
}

struct query query_of_baseline(const struct query *q)
{
	struct query baseline = *q;

	baseline.weigh = WEIGH_BASELINE;
	return baseline;
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
			if (query_shows(p, q, stack->frames[n]))
				return stack->frames[n];
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

uint32_t query_find_proc(const struct profile *p, pid_t pid, uint64_t image)
{
	uint32_t hash = profile_proc_hash(pid, image), id;

	for (uint32_t at = hash; (id = idtable_next(&p->procs.index, hash, &at)) != IDTABLE_NONE;)
		if (proc_at(p, id)->proc.pid == pid && proc_at(p, id)->proc.image == image)
			return id;
	return QUERY_ALL;
}

uint32_t query_pid(const struct profile *p, pid_t pid)
{
	for (uint32_t id = 0; id < p->procs.count; id++) {
		const struct proc_entry *proc = proc_at(p, id);

		if (proc->entry.live && proc->proc.pid == pid && !proc->proc.exited)
			return id;
	}
	return QUERY_ALL;
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
	if (weigh == WEIGH_DECAY) {
		query_decayed_health(p, sum);
		return;
	}
	if (weigh != WEIGH_WINDOW && weigh != WEIGH_LAST) {
		*sum = extract_of(p, weigh)->health;
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

/* For queries that take each cell as it is. */
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

	if (query_takes_all(q) && !query_apart(q) && q->weigh != WEIGH_LAST)
		samples = sum_table(table_of(p, q->weigh), q->proc);
	else
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
