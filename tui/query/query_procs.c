/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of processes: CPU use, the kernel's share of it, and the hottest function. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tui/query/query_priv.h"

struct proclist {
	const struct profile *p;
	const struct query *q;
	uint32_t *row_of; /* by process id; IDTABLE_NONE: no row yet */
	struct proc_row *rows;
	size_t count;
	struct query_leaf *leaves; /* of each cell that has one */
	size_t nleaves;
	struct celltable cpus; /* (QUERY_ALL, 0, CPU): row + 1, with query.by_cpu */
	/* By row, kept apart from the rows since every slice visits all of them. */
	uint16_t (*past)[PROC_HISTORY];
	size_t history; /* which of the past slices is being counted */
};

/* NULL: no memory. */
static struct proc_row *cpu_get(struct proclist *list, uint32_t cpu)
{
	struct cell *cell;
	bool made;

	if (celltable_reserve(&list->cpus, list->cpus.count + 1))
		return NULL;
	cell = celltable_get(&list->cpus, QUERY_ALL, 0, cpu, &made);
	if (made) {
		list->rows[list->count] =
			(struct proc_row){.proc = QUERY_ALL, .cpu = cpu, .before_cpu = -1};
		cell->count = ++list->count;
	}
	return &list->rows[cell->count - 1];
}

static uint32_t owner(const struct proclist *list, uint32_t proc)
{
	return list->q->owners ? list->q->owners[proc] : proc;
}

static struct proc_row *row_get(struct proclist *list, uint32_t proc)
{
	struct proc_row *row = &list->rows[list->count];

	proc = owner(list, proc);
	if (list->row_of[proc] != IDTABLE_NONE)
		return &list->rows[list->row_of[proc]];
	list->row_of[proc] = (uint32_t)list->count++;
	*row = (struct proc_row){.proc = proc, .before_cpu = -1};
	return row;
}

static int count_cell(const struct profile_cell *raw, void *arg)
{
	struct proclist *list = arg;
	struct profile_cell cell = *raw;
	struct proc_row *row;
	uint32_t leaf;

	if (!query_take(list->p, list->q, &cell))
		return 0;
	row = list->q->by_cpu ? cpu_get(list, cell.cpu) : row_get(list, cell.proc);
	if (!row)
		return -ENOMEM;
	row->samples += cell.count;
	if (raw->kstack != PROFILE_NO_STACK)
		row->kernel_samples += cell.count;
	if (raw->ustack != PROFILE_NO_STACK) {
		row->walks += cell.count;
		row->locks[stack_at(list->p, raw->ustack)->stack.lock] += cell.count;
		if (stack_at(list->p, raw->ustack)->stack.complete)
			row->complete += cell.count;
	}
	leaf = query_hot_leaf(list->p, list->q, &cell);
	if (leaf != IDTABLE_NONE)
		list->leaves[list->nleaves++] =
			(struct query_leaf){cell.count, leaf, (uint32_t)(row - list->rows)};
	return 0;
}

static int history_cell(const struct profile_cell *cell, void *arg)
{
	struct proclist *list = arg;
	uint32_t at = list->row_of[owner(list, cell->proc)];

	if (list->q->by_cpu) {
		const struct cell *found = celltable_find(&list->cpus, QUERY_ALL, 0, cell->cpu);

		at = found ? (uint32_t)found->count - 1 : IDTABLE_NONE;
	}
	if (at != IDTABLE_NONE)
		query_history_count(&list->past[at][list->history],
				    query_history_unit(list->q, cell->count));
	return 0;
}

/* Adds one bar to the history of all rows. */
static void history_slice(struct proclist *list, const struct slice *slice)
{
	if (list->q->by_cpu || !query_takes_all(list->q) || !query_counts(list->p, list->q)) {
		query_slice(list->p, list->q, slice, history_cell, list);
		return;
	}
	/* Cells of a process are adjacent. */
	for (size_t i = 0; i < slice->ncells;) {
		struct profile_cell sum = slice->cells[i];

		while (++i < slice->ncells && slice->cells[i].proc == sum.proc)
			sum.count += slice->cells[i].count;
		if (list->q->proc == QUERY_ALL || sum.proc == list->q->proc)
			history_cell(&sum, list);
	}
}

/* Sorts leaves by row: those of row n are from[n] to from[n + 1] - 1. */
static struct query_leaf *leaves_sorted(const struct proclist *list, size_t *from)
{
	struct query_leaf *sorted = calloc(list->nleaves + 1, sizeof(*sorted));

	if (!sorted)
		return NULL;
	for (size_t i = 0; i < list->nleaves; i++)
		from[list->leaves[i].row + 2]++;
	for (size_t row = 1; row <= list->count; row++)
		from[row + 1] += from[row];
	for (size_t i = 0; i < list->nleaves; i++)
		sorted[from[list->leaves[i].row + 1]++] = list->leaves[i];
	return sorted;
}

uint32_t query_hottest(const struct query_leaf *leaves, size_t n, uint64_t *sum)
{
	uint32_t hottest = UINT32_MAX;
	uint64_t best = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t func = leaves[i].func;

		sum[func] += leaves[i].count;
		if (sum[func] < best || (sum[func] == best && func > hottest))
			continue;
		best = sum[func];
		hottest = func;
	}
	for (size_t i = 0; i < n; i++)
		sum[leaves[i].func] = 0;
	return hottest;
}

static int list_hottest(struct proclist *list)
{
	size_t *from = calloc(list->count + 2, sizeof(*from));
	uint64_t *sum = calloc((size_t)list->p->funcs.count + 1, sizeof(*sum));
	struct query_leaf *sorted = from && sum ? leaves_sorted(list, from) : NULL;
	int err = sorted ? 0 : -ENOMEM;

	for (size_t row = 0; sorted && row < list->count; row++)
		list->rows[row].hottest =
			query_hottest(sorted + from[row], from[row + 1] - from[row], sum);
	free(from);
	free(sum);
	free(sorted);
	return err;
}

/* How many slices the history has; 0: the span is older than what is kept. *newest: age of the last
 * one. */
static size_t history_slices(const struct profile *p, enum span span, size_t *newest)
{
	uint64_t first, last;
	size_t count;

	span_slices(p, span, &first, &last);
	if (!slice_age(p, last, newest))
		return 0;
	count = p->nslices - *newest;
	return count < PROC_HISTORY ? count : PROC_HISTORY;
}

size_t query_history_kept(const struct profile *p, enum span span)
{
	size_t newest;

	return history_slices(p, span, &newest);
}

static int list_finish(struct proclist *list)
{
	const struct profile *p = list->p;
	size_t last, count = history_slices(p, list->q->span, &last);

	if (list_hottest(list))
		return -ENOMEM;
	list->past = calloc(list->count + 1, sizeof(*list->past));
	if (!list->past)
		return -ENOMEM;
	for (size_t age = 0; age < count; age++) {
		list->history = PROC_HISTORY - 1 - age;
		history_slice(list, slice_at(p, last + age));
	}
	for (size_t i = 0; i < list->count; i++)
		memcpy(list->rows[i].history, list->past[i], sizeof(list->past[i]));
	query_rates(p, list->q, list->rows, list->count);
	return 0;
}

static int before_cell(const struct profile_cell *cell, void *arg)
{
	struct proclist *list = arg;
	struct proc_row *row = row_get(list, cell->proc);

	row->before_samples += cell->count;
	return 0;
}

/* A process that only the baseline has gets a row, too. */
static void list_baseline(struct proclist *list)
{
	struct query q = query_of_baseline(list->q);
	struct profile_health sum;
	double whole;

	query_cells(list->p, &q, before_cell, list);
	query_health_sum(list->p, SPAN_BASELINE, &sum);
	whole = query_full(list->q, &sum);
	for (size_t i = 0; i < list->count; i++) {
		struct proc_row *row = &list->rows[i];

		row->before_full = whole;
		row->before_cpu = whole > 0 ? 100 * (double)row->before_samples / whole : 0;
	}
}

/* Attached processes are listed even while they sleep, else attaching would seem to have failed. */
static void list_attached(struct proclist *list)
{
	const struct profile *p = list->p;

	if (!p->last.filtering || list->q->by_cpu)
		return;
	for (uint32_t id = 0; id < p->procs.count; id++) {
		const struct process_entry *proc = proc_at(p, id);

		if (proc->entry.live && proc->proc.attached && !proc->proc.exited &&
		    (list->q->proc == QUERY_ALL || list->q->proc == id))
			row_get(list, id);
	}
}

int query_procs(const struct profile *p, const struct query *q, struct proc_row **rows,
		size_t *count)
{
	/* There are no more CPUs than cells. */
	size_t room = 1 + (q->by_cpu ? query_cell_count(p, q) : p->procs.live);
	size_t nprocs = p->procs.count;
	struct proclist list = {.p = p, .q = q};
	int err = -ENOMEM;

	*rows = NULL;
	*count = 0;
	if (q->threads && !q->by_cpu)
		return query_threads(p, q, rows, count);
	list.row_of = malloc(nprocs * sizeof(*list.row_of));
	list.rows = malloc(room * sizeof(*list.rows));
	list.leaves = malloc((query_cell_count(p, q) + 1) * sizeof(*list.leaves));
	if (!list.row_of || !list.rows || !list.leaves)
		goto out;
	memset(list.row_of, 0xff, nprocs * sizeof(*list.row_of));
	err = query_raw(p, q, count_cell, &list);
	if (err)
		goto out;
	list_attached(&list);
	if (q->baseline && !q->by_cpu)
		list_baseline(&list);
	err = list_finish(&list);
	if (err)
		goto out;
	*rows = list.rows;
	*count = list.count;
	list.rows = NULL;
out:
	celltable_free(&list.cpus);
	free(list.leaves);
	free(list.past);
	free(list.rows);
	free(list.row_of);
	return err;
}

static int add_samples(const struct profile_cell *cell, void *arg)
{
	uint64_t *samples = arg;

	samples[cell->proc] += cell->count;
	return 0;
}

int query_proc_samples(const struct profile *p, const struct query *q, uint64_t **samples,
		       size_t *count)
{
	int err;

	*count = p->procs.count;
	*samples = calloc(*count + 1, sizeof(**samples));
	err = *samples ? query_cells(p, q, add_samples, *samples) : -ENOMEM;
	if (err) {
		free(*samples);
		*samples = NULL;
	}
	return err;
}
