/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_TREEPATH_H
#define STACKTOP_TUI_VIEWS_TREEPATH_H

/*
 * The path from the root to a node, which finds the node again in every refresh, also in a part of
 * the tree. And the order of a search: a node before its children, siblings as sorted.
 */

#include <stdbool.h>
#include <stdint.h>

#define TREEPATH_MAX 1100 /* a user stack on a kernel stack */

struct tree;
struct tree_part;

struct treepath {
	uint32_t depth;
	uint64_t hash[TREEPATH_MAX]; /* tree_node.path of each node from the root's child on */
};

/* The last node of the path that is there. */
uint32_t treepath_node(const struct treepath *path, const struct tree *tree);
void treepath_set(struct treepath *path, const struct tree *tree, uint32_t node);
/* True if the node is top or below it. */
bool treepath_below(const struct tree *tree, uint32_t node, uint32_t top);
/* Asks a part for the children of each node on the path, the last one's too. -ENOMEM. */
int treepath_grow(const struct treepath *path, struct tree_part *part);
/*
 * Finds the next (step > 0) or previous node that matches, below top and starting over at its end;
 * with `here`, the node itself may be the one. *found: 0 for none. Asks the part for children on
 * the way. -ENOMEM.
 */
int treepath_find(struct tree_part *part, uint32_t node, uint32_t top, int step, bool here,
		  bool (*matches)(uint32_t func, void *arg), void *arg, uint32_t *found);

#endif
