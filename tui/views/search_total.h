/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_SEARCH_TOTAL_H
#define STACKTOP_TUI_VIEWS_SEARCH_TOTAL_H

/*
 * What a search finds in a call tree: the number of nodes, and the samples with a match in their
 * stacks, each sample once.
 */

#include <stdbool.h>
#include <stdint.h>

#include "tui/screen/prompt.h"
#include "tui/query/query.h"

struct calltree;
struct grid;
struct ui;

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
/* For treepath_find; arg is a struct search_total after search_total_judge. */
bool search_total_func(uint32_t func, void *arg);
/* Counts at and below a node; the lock was held since search_total_judge. -ENOMEM. */
int search_total_in_part(struct search_total *f, struct tree_part *part, uint32_t top);
int search_total_in_tree(struct search_total *f, const struct tree *tree, uint32_t top);
/* Draws "search: parse  3 frames, 31.9% of samples" right-aligned, shortened to what fits behind
 * the column; returns the column where it starts. */
int search_total_draw(const struct search_total *f, const struct ui *ui,
		      const struct calltree *calls, struct grid *g, int row, int col);

#endif
