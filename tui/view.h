/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEW_H
#define STACKTOP_TUI_VIEW_H

/*
 * A view is one file that ends in a table of these operations. It keeps copies of what the profile
 * said, so that it can be drawn and moved about in without the lock.
 */

#include <stdbool.h>

#include "tui/columns.h"
#include "tui/ui.h"

struct view_ops {
	const char *title;
	void *(*open)(void); /* the view's state; NULL: no memory */
	void (*close)(void *state);
	/* Asks the profile. Its lock is held, so this does nothing but memory work. -ENOMEM. */
	int (*load)(struct ui *ui, const struct profile *p);
	/* Makes the rows from what was loaded; the cursor stays on its item. -ENOMEM. */
	int (*sort)(struct ui *ui);
	/* Draws into `rows` rows from `top` on. */
	void (*draw)(struct ui *ui, struct grid *g, int top, int rows);
	/* Returns enum ui_flags. */
	unsigned int (*key)(struct ui *ui, enum action action);
	/* Moves to the next match in the direction of step (+1, -1), or the one under the cursor
	 * when `here`; returns flags, 0 when nothing matches. */
	unsigned int (*find)(struct ui *ui, int step, bool here);
	/* Columns that can be sorted by; NULL: the order is fixed. */
	const struct column *(*columns)(int *count, const struct ui *ui, int *sorted);
	unsigned int (*sort_by)(struct ui *ui, int column);
};

extern const struct view_ops procs_view, funcs_view, tree_view;

/* Operations of a view; never NULL but for VIEW_FRAME. */
const struct view_ops *view_get(enum ui_view view);

#endif
