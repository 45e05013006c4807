/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of processes: who used the CPU, how much of it in the kernel, and where most. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tui/query_priv.h"

struct proclist {
	const struct profile *p;
	const struct query *q;
	uint32_t *row_of; /* by process id; IDTABLE_NONE: no row yet */
	struct proc_row *rows;
	uint64_t *hottest; /* by row: self samples of row.hottest */
	size_t count;
	struct celltable leaves; /* process, function at the end, 0 */
	size_t history;		 /* which of the past slices is being counted */
};

static struct proc_row *row_get(struct proclist *list, uint32_t proc)
{
	struct proc_row *row = &list->rows[list->count];

	if (list->row_of[proc] != IDTABLE_NONE)
		return &list->rows[list->row_of[proc]];
	list->row_of[proc] = (uint32_t)list->count++;
	*row = (struct proc_row){.proc = proc, .hottest = UINT32_MAX};
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
	row = row_get(list, cell.proc);
	row->samples += cell.count;
	if (raw->kstack != PROFILE_NO_STACK)
		row->kernel_samples += cell.count;
	if (raw->ustack != PROFILE_NO_STACK) {
		row->walks += cell.count;
		if (stack_at(list->p, raw->ustack)->stack.complete)
			row->complete += cell.count;
	}
	leaf = query_leaf(list->p, &cell);
	if (leaf == IDTABLE_NONE)
		return 0;
	if (celltable_reserve(&list->leaves, list->leaves.count + 1))
		return -ENOMEM;
	celltable_get(&list->leaves, cell.proc, leaf, 0, NULL)->count += cell.count;
	return 0;
}

static int history_cell(const struct profile_cell *cell, void *arg)
{
	struct proclist *list = arg;
	uint16_t *samples;

	if (list->row_of[cell->proc] == IDTABLE_NONE)
		return 0;
	samples = &list->rows[list->row_of[cell->proc]].history[list->history];
	*samples = (uint16_t)(cell->count > (uint64_t)(UINT16_MAX - *samples)
				      ? UINT16_MAX
				      : *samples + cell->count);
	return 0;
}

static void list_finish(struct proclist *list)
{
	const struct profile *p = list->p;
	struct profile_health sum;
	double seconds;

	for (size_t i = 0; i < list->leaves.count; i++) {
		const struct cell *leaf = &list->leaves.cells[i];
		uint32_t at = list->row_of[leaf->proc];

		if (leaf->count < list->hottest[at] ||
		    (leaf->count == list->hottest[at] && leaf->ustack > list->rows[at].hottest))
			continue;
		list->hottest[at] = leaf->count;
		list->rows[at].hottest = leaf->ustack;
	}
	for (size_t age = 0; age < PROC_HISTORY && age < p->nslices; age++) {
		list->history = PROC_HISTORY - 1 - age;
		query_slice(p, list->q, slice_at(p, age), history_cell, list);
	}
	query_health_sum(p, list->q->weigh, &sum);
	seconds = (double)sum.elapsed / NS_PER_SEC;
	for (size_t i = 0; i < list->count && seconds > 0; i++) {
		list->rows[i].rate = (double)list->rows[i].samples / seconds;
		if (sum.frequency)
			list->rows[i].cpu_percent = 100 * list->rows[i].rate / sum.frequency;
	}
}

/* Whom a person attached to is listed even while it sleeps, lest it look as if that had failed. */
static void list_attached(struct proclist *list)
{
	const struct profile *p = list->p;

	if (!p->last.filtering)
		return;
	for (uint32_t id = 0; id < p->procs.count; id++) {
		const struct proc_entry *proc = proc_at(p, id);

		if (proc->entry.live && proc->proc.attached && !proc->proc.exited &&
		    (list->q->proc == QUERY_ALL || list->q->proc == id))
			row_get(list, id);
	}
}

int query_procs(const struct profile *p, const struct query *q, struct proc_row **rows,
		size_t *count)
{
	size_t nprocs = p->procs.count;
	struct proclist list = {.p = p, .q = q};
	int err = -ENOMEM;

	*rows = NULL;
	*count = 0;
	list.row_of = malloc(nprocs * sizeof(*list.row_of));
	list.rows = malloc((p->procs.live + 1) * sizeof(*list.rows));
	list.hottest = calloc(p->procs.live + 1, sizeof(*list.hottest));
	if (!list.row_of || !list.rows || !list.hottest)
		goto out;
	memset(list.row_of, 0xff, nprocs * sizeof(*list.row_of));
	err = query_raw(p, q->weigh, q->proc, count_cell, &list);
	if (err)
		goto out;
	list_attached(&list);
	list_finish(&list);
	*rows = list.rows;
	*count = list.count;
	list.rows = NULL;
out:
	celltable_free(&list.leaves);
	free(list.hottest);
	free(list.rows);
	free(list.row_of);
	return err;
}
