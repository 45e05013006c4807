/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_PROCTREE_H
#define STACKTOP_TUI_VIEWS_PROCTREE_H

/*
 * The rows of Procs as a tree: each process below its parent, whose row has the sum of its own
 * samples and of all below it. A parent without samples has a row, too, where it has a sampled
 * child or several branches.
 */

#include "tui/views/procline.h"

/* Adds rows of parents, and sums. Parents are processes that live in the moment that is shown. The
 * profile's lock is held. -ENOMEM. */
int proctree_make(struct procrows *rows, const struct ui *ui, const struct profile *p);
/* Keeps the parents of rows that are kept; to be called before they are sorted. */
void proctree_keep_parents(struct procrows *rows);
/* Sorts siblings by the comparison, and puts each below its parent. -ENOMEM. */
int proctree_sort(struct procrows *rows, int (*compare)(const void *a, const void *b, void *arg),
		  void *arg);
/* The guides before the name of a row: "│ ├─ ". */
void proctree_guides(const struct procs_row *row, const struct grid *g, char *to, size_t size);

#endif
