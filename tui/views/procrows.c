// SPDX-License-Identifier: GPL-2.0-or-later
/* See procline.h. */
#include "tui/views/procline.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/ui/bycpu.h"
#include "tui/ui/selection.h"
#include "tui/ui/ui.h"
#include "tui/views/proctree.h"
#include "tui/util/share.h"

#define CPU_IMAGE ((uint64_t)1 << 62) /* no process has it: see count_key.exec_id */

void procrows_free(struct procrows *rows)
{
	free(rows->row);
	free(rows->procs);
	free(rows->wholes);
	rows->row = NULL;
	rows->procs = NULL;
	rows->wholes = NULL;
	rows->count = rows->kept = rows->nprocs = 0;
	procgroups_free(&rows->groups);
}

/* like: a row that is done and may have the same function; NULL: none. */
static int make_row(struct procrows *rows, const struct profile *p, const struct proc_row *data,
		    const struct procs_row *like)
{
	struct procs_row *row = &rows->row[rows->count];

	*row = (struct procs_row){.data = *data};
	if (like && data->hottest == like->data.hottest) {
		row->hottest = like->hottest;
	} else if (data->hottest != UINT32_MAX) {
		row->hottest = names_get(rows->names, p, data->hottest);
		if (!row->hottest)
			return -ENOMEM;
	}
	rows->count++;
	return 0;
}

/* Rows of processes, groups or CPUs, the first ones. */
static int add_procs(struct procrows *rows, const struct profile *p, const struct query *q)
{
	static const struct profile_proc cpu; /* gets its name later */
	size_t count;
	int err = query_procs(p, q, &rows->wholes, &count);

	if (err)
		return err;
	/* Only samples from before CPUs were counted apart: show no rows. */
	if (q->by_cpu && count == 1 && !rows->wholes[0].cpu)
		count = 0;
	rows->row = calloc(count + 1, sizeof(*rows->row));
	rows->procs = calloc(count + 1, sizeof(*rows->procs));
	if (!rows->row || !rows->procs)
		return -ENOMEM;
	for (size_t i = 0; !err && i < count; i++) {
		const struct profile_proc *proc =
			q->by_cpu ? &cpu : query_proc(p, rows->wholes[i].proc);
		struct procs_row *row = &rows->row[rows->count];

		if (!proc)
			continue;
		err = make_row(rows, p, &rows->wholes[i], NULL);
		row->whole = &rows->wholes[i];
		row->whole_hottest = row->hottest;
		row->proc = &rows->procs[rows->nprocs];
		rows->procs[rows->nprocs++] = *proc;
	}
	return err;
}

static int by_id(const void *a, const void *b)
{
	const struct procs_row *x = a, *y = b;

	return (x->data.proc > y->data.proc) - (x->data.proc < y->data.proc);
}

/* Each thread's row learns of its process, which has samples as well. */
static int add_threads(struct procrows *rows, const struct profile *p, const struct query *q)
{
	size_t nprocs = rows->count, count;
	const struct procs_row *process = NULL;
	struct procs_row *more;
	struct proc_row *found;
	int err = query_procs(p, q, &found, &count);

	if (err)
		return err;
	more = reallocarray(rows->row, nprocs + count + 1, sizeof(*more));
	if (!more) {
		free(found);
		return -ENOMEM;
	}
	rows->row = more;
	qsort(rows->row, nprocs, sizeof(*rows->row), by_id);
	for (size_t i = 0; !err && i < count; i++) {
		struct procs_row *row = &rows->row[rows->count];

		/* Those of one process come one after another. */
		if (!process || process->data.proc != found[i].proc) {
			struct procs_row key = {.data.proc = found[i].proc};

			process = bsearch(&key, rows->row, nprocs, sizeof(*rows->row), by_id);
		}
		if (!process || process->group)
			continue;
		err = make_row(rows, p, &found[i], process);
		row->proc = process->proc;
		row->whole = process->whole;
		row->whole_hottest = process->hottest;
		memccpy(row->thread, query_thread(p, found[i].proc, found[i].tid), '\0',
			sizeof(row->thread) - 1);
	}
	free(found);
	return err;
}

/* Not what may be of another moment, or what is looked for by frames. */
static bool folds(const struct ui *ui, const struct procrows *rows)
{
	const struct filter *filter = &ui->selection->filter;

	return !rows->unfolded && !ui->scrub.diff &&
	       !(filter->set && (filter->of == FILTER_OF_FUNC || filter->of == FILTER_OF_END));
}

static bool keeps_row(const struct profile_proc *proc, const void *arg)
{
	const struct procrows *rows = arg;

	return proc->pid == rows->pid && proc->image == rows->image;
}

/* Groups and folded rows get their names, all rows the number of their processes. */
static void name_rows(const struct ui *ui, struct procrows *rows, const struct profile *p)
{
	const struct procgroups *g = &rows->groups;
	const bool all = ui->grouping && ui->grouping != GROUP_TREE;

	for (size_t i = 0; i < rows->nprocs; i++) {
		struct procs_row *row = &rows->row[i];
		const uint32_t owner = row->data.proc;

		row->members = g->members[owner];
		row->group = all || g->folded[owner];
		row->only = rows->procs[i].pid;
		row->only_image = rows->procs[i].image;
		if (row->group)
			procgroups_name(g, ui, p, owner, &rows->procs[i]);
	}
}

/* Where the time of processes or groups went, or of threads: of rows from first on. */
static int add_times(struct procrows *rows, const struct profile *p, const struct query *q,
		     size_t first)
{
	struct time_row *times;
	size_t count;
	int err = query_times(p, q, &times, &count);

	for (size_t i = first; !err && i < rows->count; i++) {
		struct procs_row *row = &rows->row[i];
		const struct time_row *time =
			time_row_find(times, count, row->data.proc, row->data.tid);

		if (time)
			row->time = *time;
		rows->times |= time != NULL;
	}
	if (!err)
		free(times);
	return err;
}

/* Rows of processes, or of groups of them. */
static int load_owned(struct ui *ui, struct procrows *rows, const struct profile *p,
		      struct query *q)
{
	int err = procgroups_make(&rows->groups, ui, p, q, !folds(ui, rows), keeps_row, rows);

	q->owners = rows->groups.owners;
	if (!err)
		err = add_procs(rows, p, q);
	if (!err)
		err = add_times(rows, p, q, 0);
	q->owners = NULL;
	if (!err)
		name_rows(ui, rows, p);
	return err;
}

static int load_groups(struct ui *ui, struct procrows *rows, const struct profile *p)
{
	struct query q = selection_all(ui);
	int err = 0;

	/* Sums are of the samples that a filter by process or by frame keeps. */
	if (ui->selection->filter.of != FILTER_OF_ROW)
		err = selection_query(ui, p, &q, true);
	q.scope = NULL;
	q.threads = false;
	return err ? err : load_owned(ui, rows, p, &q);
}

static int load_cpus(struct ui *ui, struct procrows *rows, const struct profile *p)
{
	struct query q = selection_all(ui);
	uint64_t all;
	int err = 0;

	bycpu_query(ui, &q);
	all = query_samples(p, &q, NULL);
	if (ui->selection->filter.of != FILTER_OF_ROW)
		err = selection_query(ui, p, &q, true);
	q.scope = NULL;
	q.by_cpu = true;
	if (!err)
		err = add_procs(rows, p, &q);
	/* The row of a CPU likewise. */
	for (size_t i = 0; i < rows->nprocs; i++)
		rows->row[i].group = true;
	for (size_t i = 0; i < rows->nprocs; i++) {
		const struct proc_row *data = &rows->wholes[i];
		struct profile_proc *row = &rows->procs[i];

		*row = (struct profile_proc){.image = CPU_IMAGE + data->cpu,
					     .comm = "CPUs together"};
		if (data->cpu)
			snprintf(row->comm, sizeof(row->comm), "CPU %u", data->cpu - 1);
		snprintf(row->cmdline, sizeof(row->cmdline), "all: %.1f%%%s",
			 all ? 100 * (double)data->samples / (double)all : 0,
			 data->cpu ? "" : ", sampled before CPUs were told apart");
	}
	return err;
}

static int by_part(const void *a, const void *b)
{
	const struct cpu_row *x = a, *y = b;

	if (x->proc != y->proc)
		return x->proc < y->proc ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* Where processes ran, or their threads; rows from `first` on are theirs. */
static int add_cpus(struct procrows *rows, const struct profile *p, const struct query *q,
		    size_t first)
{
	struct cpu_row *found;
	size_t count;
	int err = query_cpus(p, q, &found, &count);

	for (size_t i = first; !err && i < rows->count; i++) {
		struct procs_row *row = &rows->row[i];
		struct cpu_row key = {.proc = row->data.proc, .tid = row->data.tid}, *at;
		size_t from, n = 0;

		at = bsearch(&key, found, count, sizeof(*found), by_part);
		if (!at)
			continue;
		for (from = (size_t)(at - found); from && !by_part(&found[from - 1], &key);)
			from--;
		while (from + n < count && !by_part(&found[from + n], &key))
			n++;
		bycpu_words(&found[from], n, row->cpus, sizeof(row->cpus));
	}
	free(found);
	return err;
}

static int load_places(struct ui *ui, struct procrows *rows, const struct profile *p, bool threads,
		       size_t first)
{
	struct query q = selection_all(ui);

	if (!rows->cpus)
		return 0;
	bycpu_query(ui, &q);
	q.threads = threads;
	return add_cpus(rows, p, &q, first);
}

static int load_rows(struct ui *ui, struct procrows *rows, const struct profile *p)
{
	struct query q = selection_all(ui);
	size_t nprocs;
	int err;

	names_renew(rows->names);
	procrows_free(rows);
	rows->tree = ui->grouping == GROUP_TREE;
	rows->threads =
		ui->threads && ui->grouping != GROUP_TREE && (!ui->frozen || ui->scrub.slices);
	rows->past = (int)query_history_kept(p, q.span);
	rows->cpus = !ui->grouping && ui->header.last.by_cpu;
	if (ui->grouping == GROUP_CPU)
		return load_cpus(ui, rows, p);
	if (ui->grouping && ui->grouping != GROUP_TREE)
		return load_groups(ui, rows, p);
	err = bycpu_filter(ui, p, &q);
	if (!err)
		err = load_owned(ui, rows, p, &q);
	if (!err && rows->tree)
		return proctree_make(rows, ui, p);
	if (!err)
		err = load_places(ui, rows, p, false, 0);
	if (err || !rows->threads)
		return err;
	nprocs = rows->count;
	ui_query_threads(ui, &q);
	err = add_threads(rows, p, &q);
	if (!err)
		err = add_times(rows, p, &q, nprocs);
	return err ? err : load_places(ui, rows, p, true, nprocs);
}

static int by_proc_id(const void *a, const void *b)
{
	const struct proc_row *x = a, *y = b;

	return (x->proc > y->proc) - (x->proc < y->proc);
}

/* Keeps the rows of processes that have a sample with what the filter looks for. */
static int judge_by_stacks(struct ui *ui, struct procrows *rows, const struct profile *p)
{
	struct query q = selection_all(ui);
	struct proc_row *found = NULL;
	size_t count = 0;
	int err = selection_query(ui, p, &q, true);

	q.scope = NULL; /* every process has a row, not only those that are tagged */
	q.threads = false;
	if (!err)
		err = query_procs(p, &q, &found, &count);
	if (count)
		qsort(found, count, sizeof(*found), by_proc_id);
	/* With their threads. Rows stay where they are: the tree goes by their numbers. */
	for (size_t i = 0; i < rows->count; i++) {
		const struct proc_row key = {.proc = rows->row[i].data.proc}, *at;

		at = !err && count ? bsearch(&key, found, count, sizeof(*found), by_proc_id) : NULL;
		rows->row[i].kept = at && at->samples;
	}
	free(found);
	return err;
}

/* The texts of a group's row; the rest of its process is made up. */
static bool keeps_group(const struct ui *ui, const struct procs_row *row)
{
	char text[24];

	if (ui->grouping != GROUP_CPU || !row->data.cpu)
		return filter_keeps_text(&ui->selection->filter, ui->grouping == GROUP_CPU
									 ? row->proc->comm
									 : row->proc->cmdline);
	snprintf(text, sizeof(text), "cpu%u", row->data.cpu - 1);
	return filter_keeps_text(&ui->selection->filter, text);
}

/* A word without a column is looked for in the processes of a group as well. */
static bool keeps_member(const struct filter *filter, const struct procrows *rows,
			 const struct procs_row *row, const struct profile *p)
{
	const struct procgroups *g = &rows->groups;

	for (uint32_t id = 0; filter->of == FILTER_OF_ROW && id < g->count; id++) {
		const struct profile_proc *proc = query_proc(p, id);

		if (proc && g->samples[id] && g->owners[id] == row->data.proc &&
		    filter_keeps_proc(filter, proc))
			return true;
	}
	return false;
}

/* Which rows the filter keeps, also of those that were there when the view froze. */
static int judge_rows(struct ui *ui, struct procrows *rows, const struct profile *p)
{
	const struct filter *filter = &ui->selection->filter;
	int err = 0;

	if (ui->grouping && !rows->tree) {
		for (size_t i = 0; i < rows->count; i++)
			rows->row[i].kept = keeps_group(ui, &rows->row[i]) ||
					    keeps_member(filter, rows, &rows->row[i], p);
	} else if (filter->set && (filter->of == FILTER_OF_FUNC || filter->of == FILTER_OF_END)) {
		err = rows->count ? judge_by_stacks(ui, rows, p) : 0;
	} else {
		for (size_t i = 0; i < rows->count; i++)
			rows->row[i].kept =
				rows->row[i].group || filter_keeps_proc(filter, rows->row[i].proc);
	}
	if (rows->tree)
		proctree_keep_parents(rows);
	rows->kept = 0;
	for (size_t i = 0; i < rows->count; i++) {
		struct procs_row row;

		if (!rows->row[i].kept)
			continue;
		if (i > rows->kept) {
			row = rows->row[i];
			rows->row[i] = rows->row[rows->kept];
			rows->row[rows->kept] = row;
		}
		rows->kept++;
	}
	return err;
}

int procrows_load(struct procrows *rows, struct ui *ui, const struct profile *p)
{
	int err = load_rows(ui, rows, p);

	if (!err)
		err = judge_rows(ui, rows, p);
	if (err)
		procrows_free(rows);
	return err;
}

/* --- order ------------------------------------------------------------------------------------ */

static double ratio(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : -1;
}

static const char *hottest(const struct procs_row *row)
{
	return row->whole_hottest ? row->whole_hottest->name : "";
}

/* What rows are sorted by in columns of numbers, most first; 0 in those of words. */
static double number(enum procs_column column, const struct procs_row *row)
{
	switch (column) {
	case PROCS_PID:
		return row->group && row->members
			       ? (double)row->members
			       : -(double)(row->data.cpu ? row->data.cpu
							 : (uint32_t)row->proc->pid);
	case PROCS_THREADS:
		return row->proc->nthreads;
	case PROCS_CHANGE:
		return row->whole->cpu_percent - row->whole->before_cpu;
	case PROCS_KERNEL:
		return ratio(row->whole->kernel_samples, row->whole->samples);
	case PROCS_UNWOUND: /* the broken ones first: they are looked for */
		return -ratio(row->whole->complete, row->whole->walks);
	case PROCS_LOCK:
		return ratio(row->whole->locks[STACK_LOCK_HELD], row->whole->samples);
	case PROCS_USER:
	case PROCS_HOTTEST:
	case PROCS_GROUP:
	case PROCS_COMMAND:
		return 0;
	default:
		return (double)row->whole->samples;
	}
}

static int compare_by(enum procs_column column, const struct procs_row *a,
		      const struct procs_row *b)
{
	switch (column) {
	case PROCS_USER:
		return strcmp(a->proc->user, b->proc->user);
	case PROCS_HOTTEST:
		return strcmp(hottest(a), hottest(b));
	case PROCS_GROUP:
		return strcmp(a->proc->group, b->proc->group);
	case PROCS_COMMAND:
		return strcmp(a->proc->cmdline, b->proc->cmdline);
	default:
		return most_first(number(column, a), number(column, b));
	}
}

/* Of one process: its own row first, then its threads. */
static int compare_threads(const struct procs_row *a, const struct procs_row *b)
{
	int result = (a->data.tid != 0) - (b->data.tid != 0);

	if (!result)
		result = most_first((double)a->data.samples, (double)b->data.samples);
	return result ? result : (a->data.tid > b->data.tid) - (a->data.tid < b->data.tid);
}

struct order_of {
	enum procs_column column;
	bool inverted;
};

static int compare_rows(const void *x, const void *y, void *arg)
{
	const struct procs_row *a = x, *b = y;
	const struct order_of *by = arg;
	int result = compare_by(by->column, a, b);

	if (result)
		return by->inverted ? -result : result;
	result = compare_by(PROCS_CPU, a, b);
	if (!result)
		result = compare_by(PROCS_PID, a, b);
	if (!result)
		result = (a->proc->image > b->proc->image) - (a->proc->image < b->proc->image);
	return result ? result : compare_threads(a, b);
}

struct ordered { /* the number beside the row: rows lie everywhere by then */
	double number;
	const struct procs_row *row;
};

static int compare_ordered(const void *x, const void *y, void *arg)
{
	const struct ordered *a = x, *b = y;
	const struct order_of *by = arg;

	if (a->number != b->number)
		return by->inverted ? most_first(b->number, a->number)
				    : most_first(a->number, b->number);
	return compare_rows(a->row, b->row, arg);
}

/* Within a process nothing else differs that rows are sorted by. */
static int compare_in_process(const void *x, const void *y)
{
	const struct ordered *a = x, *b = y;

	return a->number != b->number ? most_first(a->number, b->number)
				      : compare_threads(a->row, b->row);
}

/* Of each process one row, in order; returns how many. */
static size_t sort_procs(const struct procrows *rows, struct order_of *by, struct ordered *procs)
{
	size_t n = 0;

	for (size_t i = 0; i < rows->kept; i++)
		procs[rows->row[i].proc - rows->procs].row = &rows->row[i];
	for (size_t i = 0; i < rows->nprocs; i++)
		if (procs[i].row)
			procs[n++] =
				(struct ordered){number(by->column, procs[i].row), procs[i].row};
	if (n)
		qsort_r(procs, n, sizeof(*procs), compare_ordered, by);
	return n;
}

/* Rows beside those of the same process, of which the last one is before its end. */
static void gather_rows(const struct procrows *rows, size_t *end, struct ordered *ordered)
{
	for (size_t i = 0; i < rows->kept; i++)
		end[rows->row[i].proc - rows->procs + 1]++;
	for (size_t i = 1; i <= rows->nprocs; i++)
		end[i] += end[i - 1];
	for (size_t i = 0; i < rows->kept; i++) {
		const struct procs_row *row = &rows->row[i];

		ordered[end[row->proc - rows->procs]++] =
			(struct ordered){row->data.tid ? (double)row->data.samples : INFINITY, row};
	}
}

/* Processes have an order, in which threads stay below theirs: that is less to compare than all
 * rows with each other. -ENOMEM. */
static int sort_rows(struct procrows *rows, struct order_of *by)
{
	struct ordered *procs = calloc(rows->nprocs + 1, sizeof(*procs));
	struct ordered *ordered = calloc(rows->kept + 1, sizeof(*ordered));
	size_t *end = calloc(rows->nprocs + 1, sizeof(*end)), n, to = 0;
	struct procs_row *sorted = malloc((rows->count + 1) * sizeof(*sorted));
	int err = procs && ordered && end && sorted ? 0 : -ENOMEM;

	if (!err) {
		n = sort_procs(rows, by, procs);
		gather_rows(rows, end, ordered);
		for (size_t i = 0; i < n; i++) {
			size_t proc = (size_t)(procs[i].row->proc - rows->procs);
			size_t first = proc ? end[proc - 1] : 0, last = end[proc];

			if (last - first > 1)
				qsort(ordered + first, last - first, sizeof(*ordered),
				      compare_in_process);
			for (size_t k = first; k < last; k++)
				/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): all set */
				sorted[to++] = *ordered[k].row;
		}
		memcpy(sorted + to, rows->row + to, (rows->count - to) * sizeof(*sorted));
		free(rows->row);
		rows->row = sorted;
		sorted = NULL;
	}
	free(procs);
	free(ordered);
	free(end);
	free(sorted);
	return err;
}

void procrows_sort(struct procrows *rows, enum procs_column column, bool inverted)
{
	struct order_of by = {column, inverted};

	if (rows->tree && rows->kept) {
		/* Without memory the rows stay as they were loaded. */
		(void)proctree_sort(rows, compare_rows, &by);
		return;
	}
	if (rows->kept && sort_rows(rows, &by))
		qsort_r(rows->row, rows->kept, sizeof(*rows->row), compare_rows, &by);
}
