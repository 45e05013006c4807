/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_CALLTREE_H
#define STACKTOP_TUI_VIEWS_CALLTREE_H

/*
 * A call tree with the names of its nodes, for the views that show one. Node 0 is the root, which
 * has no function.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/screen/delta.h"
#include "tui/ui/names.h"
#include "tui/query/query.h"

struct grid;
struct plain_list;
struct ui;

/* The order of siblings. */
enum treeorder_by {
	TREEORDER_TOTAL, /* as a tree is loaded */
	TREEORDER_SELF,
	TREEORDER_CHANGE, /* the largest growth first; all are equal without a baseline */
	TREEORDER_NAME,
	TREEORDER_MODULE,
};

struct treeorder {
	enum treeorder_by by;
	bool inverted;
};

struct calltree {
	struct names *names;
	struct tree tree;
	struct calltree_process *procs; /* the first level, if that has processes */
	uint32_t nprocs;		/* nodes 1 to nprocs; 0: the first level has functions */
	bool callers;			/* bottom up */
	uint64_t samples;
	bool compared; /* with the baseline, which has before_samples */
	uint64_t before_samples;
	double limit;		/* nodes of a smaller share get no row */
	uint32_t hottest;	/* see query_rows */
	bool part;		/* only nodes that grow asked for have children */
	struct treeorder order; /* of siblings, see treeorder_apply */
};

/* -ENOMEM. */
int calltree_init(struct calltree *calls);
/* Fine after calltree_init failed. */
void calltree_free(struct calltree *calls);
/*
 * Loads the tree of the current selection, bottom up (callers) or top down. The lock is held. Top
 * down, samples of more than one process have a level of processes, or of the groups of Procs; not
 * bottom up, where a function's samples of all processes belong together.
 * Without samples, or when the process is gone, there are no nodes. rows: nodes that get no row
 * need no children. -ENOMEM.
 */
int calltree_load(struct calltree *calls, const struct ui *ui, const struct profile *p,
		  bool callers, bool rows);
/* The same, with the children that grow asks for (query_part). */
int calltree_load_part(struct calltree *calls, const struct ui *ui, const struct profile *p,
		       bool callers, int (*grow)(struct tree_part *part, void *arg), void *arg);
/* Small nodes stay behind their siblings, as treerows_make expects. */
void treeorder_apply(struct treeorder order, struct calltree *calls);
/* The function of a node that is not the root, valid until the next load. A process looks like a
 * function of no module. */
const struct profile_func *calltree_func(const struct calltree *calls, uint32_t node);
bool calltree_is_process(const struct calltree *calls, uint32_t node);
/* The process that a node is of; false: the tree does not say. */
bool calltree_process(const struct calltree *calls, uint32_t node, pid_t *pid, uint64_t *image);
/* The node with most samples at or below `top`, or among its children only, whose function has that
 * names_hash; 0: none of those that are loaded. */
uint32_t calltree_heaviest(const struct calltree *calls, uint64_t func, uint32_t top,
			   bool children);
/* Of all samples, 0..1. */
double calltree_share(const struct calltree *calls, uint64_t samples);
/* Of all samples of the baseline; < 0: not compared. */
double calltree_before(const struct calltree *calls, uint32_t node);
/* How its share of all samples has changed since the baseline. */
struct delta calltree_delta(const struct calltree *calls, uint32_t node);
/* The names from the outermost function (not the process) to the node, separated by ';', cut at the
 * outer end. */
void calltree_path(const struct calltree *calls, uint32_t node, bool callers, char *to,
		   size_t size);
/* "path main > run > here" into one row, from the end that fits. */
void calltree_draw_path(const struct calltree *calls, uint32_t node, struct grid *g, int y);

/* The largest paths of the tree, whose siblings are in order, by the column of that title. -ENOMEM.
 */
int tree_plain(struct plain_list *list, const struct ui *ui, const struct calltree *calls,
	       bool callers, const char *by);
/* As view_ops.plain, for a view that does not have the whole tree: it is loaded here, from the
 * outermost function down. */
int tree_plain_whole(const struct ui *ui, struct plain_list *list);

#endif
