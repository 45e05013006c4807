/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A row for each thread. Sums merge threads, so this adds up slices: ten times as many cells as the
 * window has, of more threads than a cache holds. Each slice has its threads in the same order
 * (slice_order.h), so this goes through all slices at once, thread by thread.
 */
#include <errno.h>
#include <stdlib.h>

#include "symbols/base/grow.h"
#include "tui/profile/slice_order.h"
#include "tui/util/prefetch.h"
#include "tui/query/query_priv.h"

#define NO_AGE	   UINT8_MAX
#define NO_FUNC	   ((1u << 30) - 2)
#define CELLS_ROOM 256u
#define RUNS_MAX   32 /* each thread looks at each run; more slices are merged into one run first */

/* The end of a stack: its innermost shown function or NO_FUNC, + 1, and how its walk ended. 0: not
 * looked up yet. */
#define END_COMPLETE (1u << 31)
#define END_BROKEN   (1u << 30)
#define END_WALK     (END_COMPLETE | END_BROKEN)

struct run { /* the rest of a slice */
	const struct profile_cell *at, *end;
	uint8_t age; /* of a slice of the history; else NO_AGE */
	bool weighed;
};

struct threads {
	const struct profile *p;
	const struct query *q;
	struct run *runs; /* those that count first */
	size_t nruns;
	struct profile_cell *summed; /* in order; used if the span is not a few slices */
	uint32_t *ends;		     /* by stack */
	struct query_leaf *leaves;   /* of the thread */
	size_t nleaves;
	uint64_t *sum;		/* by function */
	bool counts, takes_all; /* cells count as they are */
	struct proc_row *rows;
	size_t count, rows_room;
};

/* --- cells ----------------------------------------------------------------------------------- */

struct cell_copier {
	struct profile_cell *cells;
	size_t n, room;
};

static int copy_cell(const struct profile_cell *cell, void *arg)
{
	struct cell_copier *to = arg;

	if (to->n < to->room)
		to->cells[to->n++] = *cell;
	return 0;
}

/* For a span that is not a sum of slices, or of many, or of some that are gone. */
static int take_summed(struct threads *t)
{
	struct cell_copier to = {.room = query_cell_count(t->p, t->q)};
	ssize_t n = -ENOMEM;
	int err;

	to.cells = malloc((to.room + 1) * sizeof(*to.cells));
	t->summed = malloc((to.room + 1) * sizeof(*t->summed));
	err = to.cells && t->summed ? query_raw(t->p, t->q, copy_cell, &to) : -ENOMEM;
	if (!err)
		n = cells_in_order(t->p, to.cells, to.n, t->summed);
	free(to.cells);
	if (n < 0)
		return err ? err : (int)n;
	t->runs[t->nruns++] = (struct run){t->summed, t->summed + n, NO_AGE, true};
	return 0;
}

/* The runs of the span, and those of the history. */
static int take_runs(struct threads *t)
{
	const struct profile *p = t->p;
	size_t newest, n = 0, all;
	uint64_t first, last;
	bool slices = span_has_slices(p, t->q->span, &newest, &n) && n <= RUNS_MAX;

	t->runs = malloc(((slices ? n : 0) + PROC_HISTORY + 1) * sizeof(*t->runs));
	if (!t->runs)
		return -ENOMEM;
	if (!slices) {
		int err = take_summed(t);

		n = 0;
		span_slices(p, t->q->span, &first, &last);
		/* A span older than what is kept has no history. */
		if (err || !slice_age(p, last, &newest))
			return err;
	}
	all = n > PROC_HISTORY ? n : PROC_HISTORY;
	for (size_t age = 0; age < all && newest + age < p->nslices; age++) {
		const struct slice *slice = slice_at(p, newest + age);

		t->runs[t->nruns++] =
			(struct run){slice->cells, slice->cells + slice->ncells,
				     age < PROC_HISTORY ? (uint8_t)age : NO_AGE, age < n};
	}
	return 0;
}

/* --- ends of stacks -------------------------------------------------------------------------- */

static uint32_t end_of(struct threads *t, uint32_t id)
{
	const struct profile_stack *stack;
	uint32_t func = NO_FUNC;

	if (t->ends[id] & ~END_WALK)
		return t->ends[id];
	stack = &stack_at(t->p, id)->stack;
	for (uint32_t n = stack->nframes; n-- > 0 && func == NO_FUNC;)
		if (query_shows(t->p, t->q, stack, n))
			func = stack->frames[n];
	t->ends[id] = (func + 1) | (stack->complete ? END_COMPLETE : END_BROKEN);
	return t->ends[id];
}

static bool is_complete(struct threads *t, uint32_t id)
{
	return (t->ends[id] & END_WALK ? t->ends[id] : end_of(t, id)) & END_COMPLETE;
}

static uint32_t leaf_of(struct threads *t, uint32_t id)
{
	return id == PROFILE_NO_STACK ? NO_FUNC : (end_of(t, id) & ~END_WALK) - 1;
}

/* --- rows ------------------------------------------------------------------------------------ */

/* All cells may be of one thread. */
static int leaves_reserve(struct threads *t)
{
	size_t cells = 0;

	for (size_t i = 0; i < t->nruns && t->runs[i].weighed; i++)
		cells += (size_t)(t->runs[i].end - t->runs[i].at);
	t->leaves = malloc((cells + 1) * sizeof(*t->leaves));
	return t->leaves ? 0 : -ENOMEM;
}

static void add_leaf(struct threads *t, const struct profile_cell *cell)
{
	bool waits = cell->kstack != PROFILE_NO_STACK && cell->ustack != PROFILE_NO_STACK &&
		     stack_at(t->p, cell->kstack)->stack.use == STACK_WAITS;
	uint32_t func = waits ? NO_FUNC : leaf_of(t, cell->kstack);

	if (func == NO_FUNC)
		func = leaf_of(t, cell->ustack);
	if (func != NO_FUNC)
		t->leaves[t->nleaves++] = (struct query_leaf){cell->count, func, 0};
}

/* True if the cell counts. */
static bool add_cell(struct threads *t, const struct run *run, const struct profile_cell *raw,
		     struct proc_row *row)
{
	struct profile_cell cell = *raw;

	if (!t->counts && !query_measures(t->p, t->q, &cell))
		return false;
	if (!t->takes_all && !query_take(t->p, t->q, &cell))
		return false;
	if (run->age != NO_AGE)
		query_history_count(&row->history[PROC_HISTORY - 1 - run->age],
				    query_history_unit(t->q, cell.count));
	if (!run->weighed)
		return true;
	row->samples += cell.count;
	row->kernel_samples += raw->kstack != PROFILE_NO_STACK ? cell.count : 0;
	if (raw->ustack != PROFILE_NO_STACK) {
		row->walks += cell.count;
		row->locks[stack_at(t->p, raw->ustack)->stack.lock] += cell.count;
		row->complete += is_complete(t, raw->ustack) ? cell.count : 0;
	}
	add_leaf(t, &cell);
	return true;
}

static bool is_of(const struct run *run, uint32_t proc, uint32_t tid)
{
	return run->at < run->end && run->at->proc == proc && run->at->tid == tid;
}

/* A thread without samples in the span gets no row. */
static int add_thread(struct threads *t, uint32_t proc, uint32_t tid)
{
	bool met = false;

	if (GROW(t->rows, t->count, t->rows_room, SIZE_MAX))
		return -ENOMEM;
	t->nleaves = 0;
	t->rows[t->count] = (struct proc_row){.proc = proc, .tid = tid, .before_cpu = -1};
	for (struct run *run = t->runs; run < t->runs + t->nruns; run++)
		for (; is_of(run, proc, tid); run->at++)
			met |= add_cell(t, run, run->at, &t->rows[t->count]) && run->weighed;
	if (!met)
		return 0;
	t->rows[t->count++].hottest = query_hottest(t->leaves, t->nleaves, t->sum);
	return 0;
}

/* The next thread of the process; UINT32_MAX + 1: none. */
static uint64_t next_thread(const struct threads *t, uint32_t proc)
{
	uint64_t next = (uint64_t)UINT32_MAX + 1;

	for (size_t i = 0; i < t->nruns; i++) {
		const struct run *run = &t->runs[i];

		if (run->at < run->end && run->at->proc == proc && run->at->tid < next)
			next = run->at->tid;
	}
	return next;
}

/* The next process; QUERY_ALL: none. */
static uint32_t next_proc(const struct threads *t)
{
	uint32_t next = QUERY_ALL;

	for (size_t i = 0; i < t->nruns; i++) {
		const struct run *run = &t->runs[i];

		if (run->at < run->end && run->at->proc != next &&
		    (next == QUERY_ALL || cells_before(t->p, run->at->proc, next)))
			next = run->at->proc;
	}
	return next;
}

static int make_rows(struct threads *t)
{
	const struct profile *p = t->p;
	uint32_t proc;
	uint64_t tid;
	int err = 0;

	t->ends = calloc((size_t)p->stacks.count + 1, sizeof(*t->ends));
	t->sum = calloc((size_t)p->funcs.count + 1, sizeof(*t->sum));
	/* One more, since malloc(0) may return NULL. */
	t->rows = malloc(CELLS_ROOM * sizeof(*t->rows));
	if (!t->ends || !t->sum || !t->rows || leaves_reserve(t))
		return -ENOMEM;
	t->counts = query_counts(p, t->q);
	t->takes_all = query_takes_all(t->q) && !t->q->hide_kernel && t->q->proc == QUERY_ALL;
	t->rows_room = CELLS_ROOM;
	while (!err && (proc = next_proc(t)) != QUERY_ALL)
		while (!err && (tid = next_thread(t, proc)) <= UINT32_MAX)
			err = add_thread(t, proc, (uint32_t)tid);
	if (!err)
		query_rates(p, t->q, t->rows, t->count);
	return err;
}

int query_threads(const struct profile *p, const struct query *q, struct proc_row **rows,
		  size_t *count)
{
	struct threads t = {.p = p, .q = q};
	int err = take_runs(&t);

	if (!err)
		err = make_rows(&t);
	if (!err) {
		*rows = t.rows;
		*count = t.count;
		t.rows = NULL;
	}
	free(t.runs);
	free(t.summed);
	free(t.ends);
	free(t.leaves);
	free(t.sum);
	free(t.rows);
	return err;
}
