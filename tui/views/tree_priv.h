/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_TREE_PRIV_H
#define STACKTOP_TUI_VIEWS_TREE_PRIV_H

/* The inside of Tree and Callers, for view_tree.c and tree_draw.c only. */

#include "tui/screen/columns.h"
#include "tui/screen/list.h"
#include "tui/ui/view.h"
#include "tui/views/calltree.h"
#include "tui/views/treerows.h"

enum tree_column {
	TREE_MARK,
	TREE_TOTAL,
	TREE_SELF,
	TREE_SAMPLES,
	TREE_CHANGE,
	TREE_BAR,
	TREE_CALLS,
	TREE_MODULE,
	TREE_COLUMNS
};

struct tree_view {
	struct calltree calls;
	bool callers;			     /* bottom up */
	struct column columns[TREE_COLUMNS]; /* titled by what is counted */
	enum tree_column sorted;
	bool inverted;
	struct openset open;
	struct treerows rows;
	uint64_t most; /* samples of the row that has most: what a full bar is */
	struct list list;
	uint64_t cursor; /* path under the cursor */
	char about[128]; /* scope of the paths that are shown */
	pid_t zoomed;	 /* the process that `open` is about, 0: all */
	uint64_t image;
	bool pane; /* the view has one with details, as drawn last */
};

/* Tree and Callers are one view each with a state of its own. */
static inline struct tree_view *tree_state(const struct ui *ui)
{
	return ui->state[ui->view];
}

const struct column *tree_columns_in(const struct tree_view *v, int *count, int *sorted);
/* Under the cursor; NULL: a process, or a row of small ones. */
const struct profile_func *tree_function(const struct ui *ui);
void tree_draw(struct ui *ui, struct grid *g, int top, int rows);
bool tree_details(const struct ui *ui, struct grid *g, int y);

#endif
