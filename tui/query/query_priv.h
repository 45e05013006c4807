/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_QUERY_QUERY_PRIV_H
#define STACKTOP_TUI_QUERY_QUERY_PRIV_H

/* What the queries share: walking cells, and the end of a cell. For query*.c only. */

#include "tui/profile/profile_priv.h"
#include "tui/query/query.h"

typedef int (*cell_fn)(const struct profile_cell *cell, void *arg);

/* Cells are to have what sums put together: slices are added up. */
static inline bool query_apart(const struct query *q)
{
	return q->threads || q->cpus;
}

static inline bool query_lets_all(const struct sample_filter *s)
{
	return !s || (!s->procs && !s->tid && !s->cpus && !s->funcs);
}

/* No cell of the query's process is left out. */
static inline bool query_takes_all(const struct query *q)
{
	return query_lets_all(q->scope) && query_lets_all(q->filter) && !q->hide_user;
}

/* The cells of the query's weighing and process as they are, nothing hidden or left out but other
 * threads than the one of `whose`. */
int query_raw(const struct profile *p, const struct query *q, cell_fn fn, void *arg);
/* Cells of one slice with the query's process and hiding. */
int query_slice(const struct profile *p, const struct query *q, const struct slice *slice,
		cell_fn fn, void *arg);
/* Cells of the time before the window, likewise; false: their sum is not kept. */
bool query_prior(const struct profile *p, const struct query *q, cell_fn fn, void *arg);
/* The sieve lets the cell, frames hidden as by query_take, pass; NULL lets every one. */
bool query_passes(const struct profile *p, const struct query *q, const struct sample_filter *s,
		  const struct profile_cell *cell);
/* Applies process, hiding, whose and filter; false: the cell is not part of the answer. */
bool query_take(const struct profile *p, const struct query *q, struct profile_cell *cell);
/* An upper limit of the cells that query_raw visits. */
size_t query_cell_count(const struct profile *p, const struct query *q);
/* query_procs where the query has threads. */
int query_threads(const struct profile *p, const struct query *q, struct proc_row **rows,
		  size_t *count);
/* What rows have by the second, from their samples. */
void query_rates(const struct profile *p, const struct query *q, struct proc_row *rows,
		 size_t count);
/* The same question about the baseline. */
struct query query_of_baseline(const struct query *q);
/* Function at the very end of the (hidden) cell; IDTABLE_NONE: it has no frames. */
uint32_t query_leaf(const struct profile *p, const struct query *q,
		    const struct profile_cell *cell);
/* A tree of more nodes is cut where samples are rare. */
#define QUERY_TREE_MAX 200000u

/* A bar of a row's history. */
static inline void query_history_count(uint16_t *samples, uint64_t count)
{
	*samples = (uint16_t)(count > (uint64_t)(UINT16_MAX - *samples) ? UINT16_MAX
									: *samples + count);
}

/* The frame is shown. */
static inline bool query_shows(const struct profile *p, const struct query *q, uint32_t func)
{
	return !q->hide_inline || func_at(p, func)->func.kind != FUNC_INLINE;
}

#endif
