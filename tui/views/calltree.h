/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_CALLTREE_H
#define STACKTOP_TUI_VIEWS_CALLTREE_H

/*
 * A tree of calls with the names of its nodes, as the views that show one keep it. Nodes are
 * numbered as in struct tree: 0 is the root, which has no function.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/ui/names.h"
#include "tui/query/query.h"
#include "tui/views/treeorder.h"

struct grid;
struct ui;

struct calltree {
	struct names *names;
	struct tree tree;
	uint64_t samples;
	bool compared; /* nodes have what they had in the baseline, of so many samples */
	uint64_t before_samples;
	double limit;		/* nodes of a smaller share have no row of their own */
	uint32_t hottest;	/* see query_rows */
	bool part;		/* nodes have children where those were asked for */
	struct treeorder order; /* of siblings, see treeorder_apply */
};

/* -ENOMEM. */
int calltree_init(struct calltree *calls);
/* Fine after calltree_init failed. */
void calltree_free(struct calltree *calls);
/*
 * Asks for what is chosen, by callers (bottom up) or from the outermost function down. The lock is
 * held. Without samples, or when the process is gone, there are no nodes at all. rows: nodes that
 * have no row of their own need no children. -ENOMEM.
 */
int calltree_load(struct calltree *calls, const struct ui *ui, const struct profile *p,
		  bool callers, bool rows);
/* The same, with children where grow asks for them (query_part) if it is called. */
int calltree_load_part(struct calltree *calls, const struct ui *ui, const struct profile *p,
		       bool callers, int (*grow)(struct tree_part *part, void *arg), void *arg);
/* The function of a node that is not the root, valid until the next load. */
const struct profile_func *calltree_func(const struct calltree *calls, uint32_t node);
/* Of all samples, 0..1. */
double calltree_share(const struct calltree *calls, uint64_t samples);
/* Of all samples of the baseline; < 0: it is not compared. */
double calltree_before(const struct calltree *calls, uint32_t node);
/* The names from the outermost function to the node, with ';' between them, cut at its outer end.
 */
void calltree_path(const struct calltree *calls, uint32_t node, bool callers, char *to,
		   size_t size);
/* "path main > run > here" into one row, from the end that fits. */
void calltree_draw_path(const struct calltree *calls, uint32_t node, struct grid *g, int y);

#endif
