/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_SEARCH_TOTAL_H
#define STACKTOP_TUI_VIEWS_SEARCH_TOTAL_H

/*
 * What a search finds in a tree of calls: so many frames, and the samples whose stacks have one of
 * them, each sample once.
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
	char pattern[PROMPT_TEXT]; /* by which they were judged; "": nothing is searched */
	struct query_found sum;
};

/* A zeroed struct is fine. */
void search_total_free(struct search_total *f);
/* From now on the functions of the profile, whose lock is held, are those that the screen's search
 * looks for. -ENOMEM. */
int search_total_judge(struct search_total *f, const struct ui *ui, const struct profile *p);
/* Is the sum that of what the screen searches now? */
bool search_total_counted(const struct search_total *f, const struct ui *ui);
/* For treepath_find; arg is a struct search_total that has judged. */
bool search_total_func(uint32_t func, void *arg);
/* Counts at and below a node; the lock has been held since the functions were judged. -ENOMEM. */
int search_total_in_part(struct search_total *f, struct tree_part *part, uint32_t top);
int search_total_in_tree(struct search_total *f, const struct tree *tree, uint32_t top);
/* "search: parse  3 frames, 31.9% of samples" at the end of the row, if there is room behind the
 * column, or as much as there is; returns the column that is free before it. */
int search_total_draw(const struct search_total *f, const struct ui *ui,
		      const struct calltree *calls, struct grid *g, int row, int col);

#endif
