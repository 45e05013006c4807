/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_TREEPATH_H
#define STACKTOP_TUI_VIEWS_TREEPATH_H

/*
 * The path from the root to a node, which finds the node again in every refresh, also in a part of
 * the tree. And the search of a tree: a node comes before its children, siblings are as sorted.
 */

#include <stdbool.h>
#include <stdint.h>

#include "tui/query/query.h"
#include "tui/screen/prompt.h"

#define TREEPATH_MAX 1100 /* a user stack on a kernel stack */

struct calltree;
struct grid;
struct ui;

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
 * What a search finds in a call tree: the number of nodes, and the samples with a match in their
 * stacks, each sample once.
 */

struct search_total {
	struct match_cache funcs;
	char pattern[PROMPT_TEXT]; /* that funcs were matched with; "": no search */
	struct query_found sum;
};

/* A zeroed struct is fine. */
void search_total_free(struct search_total *f);
/* Matches the functions of the profile with the pattern of the screen. The lock is held. -ENOMEM.
 */
int search_total_judge(struct search_total *f, const struct ui *ui, const struct profile *p);
/* True if the sum is of the current pattern. */
bool search_total_counted(const struct search_total *f, const struct ui *ui);
/* Whether the function matches. */
bool search_total_func(const struct search_total *f, uint32_t func);
/* Counts at and below a node; the lock was held since search_total_judge. -ENOMEM. */
int search_total_in_part(struct search_total *f, struct tree_part *part, uint32_t top);
int search_total_in_tree(struct search_total *f, const struct tree *tree, uint32_t top);
/* Draws "search: parse  3 frames, 31.9% of samples" right-aligned, shortened to what fits behind
 * the column; returns the column where it starts. */
int search_total_draw(const struct search_total *f, const struct ui *ui,
		      const struct calltree *calls, struct grid *g, int row, int col, int end);
/*
 * Finds the next (step > 0) or previous node with a match, below top and starting over at its end;
 * with `here`, the node itself may be the one. *found: 0 for none. Asks the part for children on
 * the way. -ENOMEM.
 */
int treepath_find(struct tree_part *part, uint32_t node, uint32_t top, int step, bool here,
		  const struct search_total *f, uint32_t *found);

#endif
