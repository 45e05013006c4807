/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SCREEN_LIST_H
#define STACKTOP_TUI_SCREEN_LIST_H

/*
 * Cursor and scrolling of rows that are rebuilt every second. The view remembers which item the
 * cursor is on and sets `cursor` to wherever that item went; the list only counts.
 *
 * Rows are sorted, so the first ones say most: they leave the window only when the user scrolls or
 * follows an item. A cursor whose item falls behind the window takes the window's last line with
 * it, and the lines above still show the first rows.
 */

#include <stdbool.h>
#include <stddef.h>

#include "tui/screen/keys.h"

struct grid;

struct list {
	size_t count;
	size_t cursor; /* < count, or 0 */
	size_t top;    /* first row shown */
	size_t page;   /* rows that were shown last, at least 1 */
	bool chosen;   /* by a key: the cursor belongs to its item; before, to the first row */
	bool pins;     /* the view draws the rows that list_at names */
	bool scrolled; /* by the user: the window goes where the cursor goes */
};

/* Moves by the action; false: it is not one of the list's. */
bool list_move(struct list *list, enum action action);
void list_select(struct list *list, size_t row);
/*
 * Selects the next row that meets a condition in the direction of step (+1, -1), and round again;
 * `here`: that of the cursor may be the one. `i` names its number in the condition. False: there is
 * none.
 */
#define LIST_FIND(rows, step, here, i, condition)                                                  \
	({                                                                                         \
		struct list *list_ = (rows);                                                       \
		size_t i = list_->cursor;                                                          \
		bool found_ = false;                                                               \
                                                                                                   \
		for (size_t tried_ = 0; !found_ && tried_ < list_->count; tried_++) {              \
			if (!(here) || tried_)                                                     \
				i = (i + list_->count + (size_t)(step)) % list_->count;            \
			found_ = (condition);                                                      \
		}                                                                                  \
		if (found_)                                                                        \
			list_select(list_, i);                                                     \
		found_;                                                                            \
	})
/* Call it once the cursor has followed its item: one that no key chose is the first row's. */
void list_follow(struct list *list);
/* The row that line `i` of the window shows. */
size_t list_at(const struct list *list, int i);
/* The rows are of something else: the cursor goes to the first, as if it had never moved. */
void list_anew(struct list *list);
/* The cursor and what is shown are those that the copy has. */
void list_restore(struct list *list, const struct list *copy);
/* Makes cursor and top valid for page rows with the cursor among them. */
void list_settle(struct list *list, size_t page);
/* Settles it in that many rows of a grid, the header's among them; returns how many of its rows
 * are shown, from `top` on. */
int list_fit(struct list *list, int rows);
/* Draws the cursor over its row, if that is one of the n below row `top` of the grid, and leaves
 * a zone for clicks if the list has the keys. */
void list_mark(const struct list *list, struct grid *g, int top, int n, bool active);

/* --- which of its rows are shown, once it is settled ----------------------------------------- */

#define LIST_RANGE 48

/* "31-38 of 64", or "1 of 1"; "" of an empty list. */
void list_range(const struct list *list, char to[LIST_RANGE]);
/* Draws it at the right end of the row that has the titles of the list. Where these leave no room
 * it is shorter, and it takes the place of the last one only if there are rows out of sight. */
void list_draw_range(const struct list *list, struct grid *g, int row);
/* Draws a mark into column `col` of those of the n rows from `row` on that lie as the rows shown
 * lie in the list, if that has others. What reached into the column is cut. To be called before
 * list_mark, whose colour lies over it. */
void list_draw_scroll(const struct list *list, struct grid *g, int row, int n, int col);

#endif
