/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_QUERY_QUERY_PRIV_H
#define STACKTOP_TUI_QUERY_QUERY_PRIV_H

/* What the queries share. For tui/query only. */

#include "tui/profile/profile_priv.h"
#include "tui/query/query.h"

typedef int (*cell_fn)(const struct profile_cell *cell, void *arg);

/* Threads or CPUs are told apart: needs slices, since sums merge them. */
static inline bool query_apart(const struct query *q)
{
	return q->threads || q->cpus;
}

#define QUERY_COUNT_MAX ((1ull << 48) - 1) /* of a cell */

/* All cells are samples, and samples are what is counted. */
static inline bool query_counts(const struct profile *p, const struct query *q)
{
	return q->measure == MEASURE_CPU && !p->nuses && profile_is_time(&p->last);
}

/* False: the cell is none of the measure. Makes its count what the measure counts. */
static inline bool query_measures(const struct profile *p, const struct query *q,
				  struct profile_cell *cell)
{
	static const bool measured[][STACK_WAKES + 1] = {
		[MEASURE_CPU] = {[STACK_SAMPLES] = true},
		[MEASURE_OFF] = {[STACK_WAITS] = true},
		[MEASURE_WALL] = {[STACK_SAMPLES] = true, [STACK_WAITS] = true},
		[MEASURE_TIME] = {[STACK_TIMES] = true},
		[MEASURE_WAKES] = {[STACK_WAKES] = true},
	};
	enum stack_use use = cell->kstack == PROFILE_NO_STACK
				     ? STACK_SAMPLES
				     : stack_at(p, cell->kstack)->stack.use;

	if (!measured[q->measure][use])
		return false;
	if (q->measure == MEASURE_OFF && stack_at(p, cell->kstack)->stack.cause == WAIT_NONE)
		return false; /* on a CPU */
	if (!q->both && (q->measure != MEASURE_CPU || !profile_is_time(&p->last)))
		cell->count = cell->weight < QUERY_COUNT_MAX ? cell->weight : QUERY_COUNT_MAX;
	return true;
}

static inline bool query_lets_all(const struct sample_filter *s)
{
	return !s || (!s->procs && !s->tid && !s->cpus && !s->funcs);
}

/* Every cell of the query's process counts. */
static inline bool query_takes_all(const struct query *q)
{
	return query_lets_all(q->scope) && query_lets_all(q->filter) && !q->hide_user;
}

/* The cells of the query's span and process, without hiding and filters. Skips other threads if the
 * scope names one. */
int query_raw(const struct profile *p, const struct query *q, cell_fn fn, void *arg);
/* Cells of one slice, with all that the query hides and filters. */
int query_slice(const struct profile *p, const struct query *q, const struct slice *slice,
		cell_fn fn, void *arg);
/* The same of the time before the window; false: that sum is not kept. */
bool query_prior(const struct profile *p, const struct query *q, cell_fn fn, void *arg);
/* True if the cell, with frames hidden by query_take, passes the filter; NULL passes all. */
bool query_passes(const struct profile *p, const struct query *q, const struct sample_filter *s,
		  const struct profile_cell *cell);
/* Applies process, hiding, scope and filter; false: the cell does not count. */
bool query_take(const struct profile *p, const struct query *q, struct profile_cell *cell);
/* An upper limit of the cells that query_raw visits. */
size_t query_cell_count(const struct profile *p, const struct query *q);
/* query_procs for query.threads. */
int query_threads(const struct profile *p, const struct query *q, struct proc_row **rows,
		  size_t *count);
/* Computes the rates of rows from their samples. */
void query_rates(const struct profile *p, const struct query *q, struct proc_row *rows,
		 size_t count);
/* The same query of the baseline. */
struct query query_of_baseline(const struct query *q);
/* The innermost function of a cell that query_take has seen; IDTABLE_NONE: no frames. */
uint32_t query_leaf(const struct profile *p, const struct query *q,
		    const struct profile_cell *cell);
/* Likewise, but of a wait the innermost function of the user, if there is one: why it waits is said
 * elsewhere. */
uint32_t query_hot_leaf(const struct profile *p, const struct query *q,
			const struct profile_cell *cell);
struct query_leaf { /* samples in that innermost function */
	uint64_t count;
	uint32_t func;
	uint32_t row;
};

/* The function with the most samples, a tie goes to the smaller id; UINT32_MAX: no leaves. sum has
 * zeros by function, and does again. */
uint32_t query_hottest(const struct query_leaf *leaves, size_t n, uint64_t *sum);
/* Most nodes of a tree. */
#define QUERY_TREE_MAX 200000u

/* Bars of time are in ms, so that a slice has room. */
static inline uint64_t query_history_unit(const struct query *q, uint64_t count)
{
	return q->measure == MEASURE_CPU ? count : (count + 999) / 1000;
}

/* Adds to one bar of a row's history, without overflow. */
static inline void query_history_count(uint16_t *samples, uint64_t count)
{
	*samples = (uint16_t)(count > (uint64_t)(UINT16_MAX - *samples) ? UINT16_MAX
									: *samples + count);
}

/* query_shows_frame, without a call for what most stacks are. */
static inline bool query_shows(const struct profile *p, const struct query *q,
			       const struct profile_stack *stack, uint32_t frame)
{
	if (stack->language && q->frames != FRAMES_ALL)
		return query_shows_frame(p, q, stack, frame);
	return !q->hide_inline || func_at(p, stack->frames[frame])->func.kind != FUNC_INLINE;
}

#endif
