/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_TREEPATH_H
#define STACKTOP_TUI_VIEWS_TREEPATH_H

/*
 * A place in a tree of calls that is the same in every refresh, whole or in part: the way from the
 * root. And the order in which a search meets nodes: each before its children, siblings as sorted.
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

/* The node at the end of the path, or of as much of it as there is. */
uint32_t treepath_node(const struct treepath *path, const struct tree *tree);
void treepath_set(struct treepath *path, const struct tree *tree, uint32_t node);
/* Is the node top, or below it? */
bool treepath_below(const struct tree *tree, uint32_t node, uint32_t top);
/* Asks a part for the children of each node on the path, the last one's too. -ENOMEM. */
int treepath_grow(const struct treepath *path, struct tree_part *part);
/*
 * The next node (step > 0) or the one before, below top and round again, that matches; the node
 * itself when `here` and that comes first. *found: 0 for none. Asks for the children of nodes on
 * its way. -ENOMEM.
 */
int treepath_find(struct tree_part *part, uint32_t node, uint32_t top, int step, bool here,
		  bool (*matches)(uint32_t func, void *arg), void *arg, uint32_t *found);

#endif
