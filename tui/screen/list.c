// SPDX-License-Identifier: GPL-2.0-or-later
/* See list.h. Kept apart from the views so that every list scrolls in the same way. */
#include "tui/screen/list.h"

#include "tui/screen/grid.h"

static size_t up(size_t from, size_t by)
{
	return from > by ? from - by : 0;
}

static bool is_pinned(const struct list *list)
{
	return list->cursor >= list->top + list->page;
}

/* The window goes where the cursor is. */
static void show_cursor(struct list *list)
{
	if (list->top + list->page > list->count)
		list->top = up(list->count, list->page);
	if (list->top > list->cursor)
		list->top = list->cursor;
	if (list->cursor >= list->top + list->page)
		list->top = list->cursor - list->page + 1;
	list->scrolled = list->top > 0;
}

void list_select(struct list *list, size_t row)
{
	if (list->cursor != row || !list->held)
		list->scrolled = true;
	list->cursor = row;
	list->held = true;
	list->chosen = true;
	list_settle(list, list->page);
}

bool list_move(struct list *list, enum action action)
{
	size_t page = list->page ? list->page : 1;
	size_t half = (page + 1) / 2;
	size_t cursor = list->cursor;

	/* The line above is that of the screen, from which rows are missing. */
	if (is_pinned(list) &&
	    (action == ACTION_UP || action == ACTION_PAGE_UP || action == ACTION_HALF_UP))
		cursor = list->top + page - 1;
	switch (action) {
	case ACTION_UP:
		cursor = up(cursor, 1);
		break;
	case ACTION_DOWN:
		cursor += 1;
		break;
	case ACTION_PAGE_UP:
		cursor = up(cursor, page);
		list->top = up(list->top, page);
		break;
	case ACTION_PAGE_DOWN:
		cursor += page;
		list->top += page;
		break;
	case ACTION_HALF_UP:
		cursor = up(cursor, half);
		break;
	case ACTION_HALF_DOWN:
		cursor += half;
		break;
	case ACTION_FIRST:
		cursor = 0;
		break;
	case ACTION_LAST:
		cursor = list->count ? list->count - 1 : 0;
		break;
	default:
		return false;
	}
	list_select(list, cursor);
	return true;
}

void list_follow(struct list *list)
{
	if (!list->chosen)
		list->cursor = 0;
	list_settle(list, list->page);
}

void list_anew(struct list *list)
{
	*list = (struct list){.count = list->count, .page = list->page, .pins = list->pins};
}

void list_settle(struct list *list, size_t page)
{
	list->page = page ? page : 1;
	if (list->cursor >= list->count)
		list->cursor = list->count ? list->count - 1 : 0;
	if (list->scrolled || !list->pins)
		show_cursor(list);
	else
		list->top = 0;
}

size_t list_at(const struct list *list, int i)
{
	return is_pinned(list) && (size_t)i + 1 == list->page ? list->cursor
							      : list->top + (size_t)i;
}

int list_fit(struct list *list, int rows)
{
	size_t left;

	list_settle(list, rows > 1 ? (size_t)rows - 1 : 1);
	left = list->count - list->top;
	return rows <= 1 ? 0 : left < list->page ? (int)left : (int)list->page;
}

/* Where something stands in the first cell, `>` goes beside it. */
void list_mark(const struct list *list, struct grid *g, int top, int n, bool active)
{
	int line = is_pinned(list) ? n - 1 : (int)(list->cursor - list->top);
	int row = top + 1 + line;
	const struct gridcell *mark;

	if (line >= n || row >= g->rows)
		return;
	mark = &g->cells[row * g->cols];
	grid_put(g, row, g->cols > 1 && mark[0].ch != ' ' && mark[1].ch == ' ', 1, ROLE_CURSOR,
		 ">");
	grid_role(g, row, 0, g->cols, active ? ROLE_CURSOR : ROLE_CURSOR_BLUR);
	if (active)
		grid_zone(g, (struct zone){.kind = ZONE_ROWS,
					   .value = row,
					   .row = top + 1,
					   .rows = n,
					   .cols = g->cols});
}
