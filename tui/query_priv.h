/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_QUERY_PRIV_H
#define STACKTOP_TUI_QUERY_PRIV_H

/* What the queries share: walking cells, and the end of a cell. For query*.c only. */

#include "tui/profile_priv.h"
#include "tui/query.h"

typedef int (*cell_fn)(const struct profile_cell *cell, void *arg);

/* The cells of the weighing as they are, nothing hidden; of one process or QUERY_ALL. */
int query_raw(const struct profile *p, enum weigh weigh, uint32_t proc, cell_fn fn, void *arg);
/* Cells of one slice with the query's process and hiding. */
int query_slice(const struct profile *p, const struct query *q, const struct slice *slice,
		cell_fn fn, void *arg);
/* Applies process and hiding; false: the cell is not part of the answer. */
bool query_take(const struct profile *p, const struct query *q, struct profile_cell *cell);
/* An upper limit of the cells that query_raw visits. */
size_t query_cell_count(const struct profile *p, enum weigh weigh);
/* Slices of the window or the last one; not for WEIGH_TOTAL. */
size_t query_span(const struct profile *p, enum weigh weigh);
/* Function at the very end of the (hidden) cell; IDTABLE_NONE: it has no frames. */
uint32_t query_leaf(const struct profile *p, const struct profile_cell *cell);

#endif
