/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_QUERY_QUERY_PRIV_H
#define STACKTOP_TUI_QUERY_QUERY_PRIV_H

/* What the queries share: walking cells, and the end of a cell. For query*.c only. */

#include "tui/util/prefetch.h"
#include "tui/profile/profile_priv.h"
#include "tui/query/query.h"

typedef int (*cell_fn)(const struct profile_cell *cell, void *arg);

/* Cells are to have what sums put together: slices are added up. */
static inline bool query_apart(const struct query *q)
{
	return q->threads || q->cpus;
}

static inline bool query_lets_all(const struct sieve *s)
{
	return !s || (!s->procs && !s->tid && !s->cpus && !s->funcs);
}

/* No cell of the query's process is left out. */
static inline bool query_takes_all(const struct query *q)
{
	return query_lets_all(q->whose) && query_lets_all(q->filter) && !q->hide_user;
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
bool query_passes(const struct profile *p, const struct query *q, const struct sieve *s,
		  const struct profile_cell *cell);
/* The sum that query_raw goes over; NULL: it is made of slices, or no memory. */
struct celltable *query_table(const struct profile *p, const struct query *q);
/*
 * Around a question that goes over the cells of a sum: functions are judged by paths, once each,
 * and not in the stacks of each cell, which lie everywhere. False: not worth it, already begun, or
 * no memory; do not call query_sieves_end then.
 */
bool query_sieves_begin(const struct profile *p, const struct query *q);
void query_sieves_end(const struct profile *p);
/* By node: one of the sieve's functions is there or further up, and shown. To be freed; NULL: no
 * memory. */
bool *query_sieve_nodes(const struct profile *p, const struct query *q, const struct sieve *sieve,
			const struct stacktrie *paths);
/* Applies process, hiding, whose and filter; false: the cell is not part of the answer. */
bool query_take(const struct profile *p, const struct query *q, struct profile_cell *cell);
/* An upper limit of the cells that query_raw visits. */
size_t query_cell_count(const struct profile *p, const struct query *q);
/* Slices of the window or the last one; not for other weighings. */
size_t query_span(const struct profile *p, enum weigh weigh);
/* Numbers of the slices that are weighed; first is 0 where it is not a sum of slices. */
void query_slices_weighed(const struct profile *p, enum weigh weigh, uint64_t *first,
			  uint64_t *last);
/* Sums have no threads, slices do: age of the newest that is weighed, and how many are. False: it
 * is not a sum of slices, or they are gone. */
bool query_slices_of(const struct profile *p, enum weigh weigh, size_t *newest, size_t *n);
/* query_procs where the query has threads. */
int query_threads(const struct profile *p, const struct query *q, struct proc_row **rows,
		  size_t *count);
/* What rows have by the second, from their samples. */
void query_rates(const struct profile *p, const struct query *q, struct proc_row *rows,
		 size_t count);
/* Cells and health of WEIGH_DECAY; sum is zeroed. NULL: no memory. */
struct celltable *query_decayed(const struct profile *p);
void query_decayed_health(const struct profile *p, struct profile_health *sum);
/* With references of its own to what its cells refer to, in place of the one of that kind; the
 * cells are taken over. */
void extract_replace(struct profile *p, enum extract_kind kind, const struct extract *extract);
/* The same question about the baseline. */
struct query query_of_baseline(const struct query *q);
/* Function at the very end of the (hidden) cell; IDTABLE_NONE: it has no frames. */
uint32_t query_leaf(const struct profile *p, const struct query *q,
		    const struct profile_cell *cell);
/* The user stack of the cell that is visited, which need not be shown, was walked to its end. */
bool query_complete(const struct profile *p, const struct query *q, const struct profile_cell *raw);
/* A tree of more nodes is cut where samples are rare. */
#define QUERY_TREE_MAX 200000u
/* Sums what nodes have of their own up to the root, links children and sorts them. -ENOMEM. */
int query_tree_link(struct tree_node *nodes, uint32_t count);

struct tree_order {
	uint64_t total;
	uint64_t path;
	uint32_t id;
};

/* Siblings as they are shown. */
void query_tree_sort(struct tree_order *order, uint32_t n);

/* A bar of a row's history. */
static inline void query_history_count(uint16_t *samples, uint64_t count)
{
	*samples = (uint16_t)(count > (uint64_t)(UINT16_MAX - *samples) ? UINT16_MAX
									: *samples + count);
}

/* --- query_paths.c ------------------------------------------------------------------------- */

/* A slice was committed. */
void query_paths_renew(struct profile *p);
/* The answer comes from paths that are kept, which the other two give; -E2BIG: it cannot. */
bool query_by_paths(const struct profile *p, const struct query *q, bool callers);
/* Sums by node, from the outermost frame in; valid until the next question. -ENOMEM. */
int query_path_sums(const struct profile *p, const struct query *q, const struct stacktrie **paths,
		    const struct path_sum **sums);
/* Sums of either tree, and those of the baseline where that is compared, by as many nodes: NULL or
 * to be freed by the caller. -E2BIG, -ENOMEM. */
int query_path_weigh(const struct profile *p, const struct query *q, bool callers,
		     const struct stacktrie **paths, const struct path_sum **sums,
		     struct path_sum **base);
/*
 * Children of those nodes that have samples in the sums that were made last, or in the baseline's;
 * valid until the next question. Most of the nodes that are kept are of stacks that are long gone,
 * so a list of all children would be waited for again and again. -ENOMEM.
 */
int query_path_links(const struct profile *p, const struct stacktrie *paths,
		     const struct path_sum *base, const struct path_link **links);
/* The end of the cell that the question is at. -E2BIG, -ENOMEM. */
int query_path_end(const struct profile *p, const struct query *q, bool callers,
		   const struct profile_cell *cell, uint32_t *node);
/* As query_rows, node by node from the root (query_part.c), where there is a screen. -E2BIG: there
 * are too many rows. */
int query_rows_in_part(const struct profile *p, const struct query *q, bool callers, double least,
		       struct tree *out, uint64_t *most);
/* As query_rows, from the same sums (query_shape.c). */
int query_tree_by_paths(const struct profile *p, const struct query *q, bool callers, double least,
			struct tree *out, uint64_t *most);

/* Its number is still that of the cell, since slices have such cells. */
bool query_has_id(const struct profile *p, const struct cell *cell);
/* The node that is known for the end of a cell with that place; 0: none. */
static inline uint32_t query_end_known(const struct scratch *scratch,
				       const struct cell_place *place, bool callers)
{
	const struct place_end *end = &place->ends[callers];

	return place->stamp == scratch->stamp && end->tree == scratch->trees[callers] ? end->node
										      : 0;
}
/* What is known by the number is going to be asked for. It may lie in two cache lines. */
static inline void query_expect_id(const struct profile *p, uint32_t id)
{
	if (id >= p->ids.count)
		return;
	prefetch_read(&p->ids.at[id]);
	prefetch_read((const char *)&p->ids.at[id + 1] - 1);
}
/* What is known of the cell that is visited, whose stacks are not hidden; NULL: it has no place. */
struct cell_place *query_place(const struct profile *p, const struct query *q);
/* The frame is shown. */
bool query_shows(const struct profile *p, const struct query *q, uint32_t func);

#endif
