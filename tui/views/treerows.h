/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_TREEROWS_H
#define STACKTOP_TUI_VIEWS_TREEROWS_H

/*
 * The rows of a tree on the screen: the nodes that are open, in order, and one row for all small
 * children of a node. A run of frames without a fork is one row until it is unfolded; where there
 * are several of them, they are not indented.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/views/treerun.h"

struct calltree;
struct openset;

#define TREEROWS_LIMIT                                                                             \
	0.005 /* of all samples, unless asked: nodes below are summed up in a row                  \
	       */

struct tree_row {
	uint32_t node; /* the last of the run; in a row of small nodes, their parent */
	struct treerun run;
	uint32_t parent; /* row number + 1, 0: none */
	uint32_t small;	 /* number of small nodes in the row; 0: the row is a node */
	uint32_t indent; /* levels */
	uint32_t level;	 /* of the tree, 1: outermost */
	uint64_t path;
	uint64_t self, total; /* self: of all of the run */
	bool open, closed;    /* neither: it has no children */
	bool chained;	      /* an only child: drawn right below its parent, without a guide */
	bool more;	      /* siblings follow */
	uint32_t head;	      /* of one of a run that is unfolded: its first node; 0: it is not */
};

struct treerows {
	struct tree_row *row; /* to be freed */
	size_t count, room;
};

/* Rebuilds the rows. -ENOMEM. */
int treerows_make(struct treerows *rows, const struct calltree *calls, struct openset *open);
/* The row that has the node of that path, alone or in its run; rows->count: none. */
size_t treerows_find(const struct treerows *rows, const struct calltree *calls, uint64_t path);
/* Unfolds the run that the row is one of, or folds it. -ENOMEM. */
int treerows_unfold(const struct treerows *rows, const struct calltree *calls, struct openset *open,
		    size_t row, bool unfold);
/* Opens and unfolds a node and all below it that is not small, as far as memory allows. */
void treerows_open(const struct calltree *calls, struct openset *open, uint32_t top);
/* True for a node that has no row of its own. */
bool treerows_small(const struct calltree *calls, uint32_t node);
/* Writes the nodes that are not small to order[calls->tree.count], in the order of the screen with
 * all nodes open; returns how many. The tree is not empty. */
size_t treerows_all(const struct calltree *calls, uint32_t *order);

/*
 * Which nodes of the tree are open, by path, so that they stay open although the tree is rebuilt
 * every second. Nodes that were never opened or closed follow the mode. Memory is bounded.
 */

enum openset_mode {
	OPENSET_HOT, /* a node that was once hot stays open */
	OPENSET_ALL, /* runs are unfolded, too */
	OPENSET_NONE,
	OPENSET_DEPTH, /* see openset_depth */
};

/* Zeroed, it is empty. */
struct openset {
	struct openset_node *nodes;
	enum openset_mode mode;
	uint32_t levels; /* of OPENSET_DEPTH */
};

/* Forgets and frees all nodes and sets the mode. */
void openset_reset(struct openset *set, enum openset_mode mode);
/* The same, with the tree open down to this level; outermost nodes are level 1. */
void openset_depth(struct openset *set, uint32_t levels);
/* level: of the node, from 1 on. hot: opens a node that follows the mode OPENSET_HOT. */
bool openset_get(struct openset *set, uint64_t path, uint32_t level, bool hot);
/* True for a node that was closed by itself, not by the mode. */
bool openset_closed(const struct openset *set, uint64_t path);
/* -ENOMEM: the node keeps its state. */
int openset_put(struct openset *set, uint64_t path, bool open);

#endif
