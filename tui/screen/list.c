// SPDX-License-Identifier: GPL-2.0-or-later
/* See list.h. Kept apart from the views so that every list scrolls in the same way. */
#include "tui/screen/list.h"

#include <stdio.h>

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
	if (list->cursor != row || !list->chosen)
		list->scrolled = true;
	list->cursor = row;
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

void list_restore(struct list *list, const struct list *copy)
{
	list->cursor = copy->cursor;
	list->top = copy->top;
	list->chosen = copy->chosen;
	list->scrolled = copy->scrolled;
	/* `top` may be of rows that come back with the next load. */
	if (list->cursor >= list->count)
		list->cursor = up(list->count, 1);
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

	if (n < 1 || line >= n || row >= g->rows)
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

/* --- which of its rows are shown ----------------------------------------------------------- */

static void range_text(const struct list *list, const char *of, char to[LIST_RANGE])
{
	size_t last = list->top + list->page;

	last = last < list->count ? last : list->count;
	if (!list->count)
		to[0] = '\0';
	else if (is_pinned(list))
		snprintf(to, LIST_RANGE, "%zu-%zu, %zu%s%zu", list->top + 1, last - 1,
			 list->cursor + 1, of, list->count);
	else if (list->top + 1 == last)
		snprintf(to, LIST_RANGE, "%zu%s%zu", last, of, list->count);
	else
		snprintf(to, LIST_RANGE, "%zu-%zu%s%zu", list->top + 1, last, of, list->count);
}

void list_range(const struct list *list, char to[LIST_RANGE])
{
	range_text(list, " of ", to);
}

static bool is_blank(const struct grid *g, int row, int col)
{
	return g->cells[row * g->cols + col].ch == ' ';
}

/* Makes room for a text from that column on: what is cut ends in a mark. */
static void cut(struct grid *g, int row, int col, enum role role)
{
	const bool broken = col > 1 && !is_blank(g, row, col - 1) && !is_blank(g, row, col - 2);

	if (col > 0)
		grid_blank(g, row, col - 1, 1, role);
	if (broken)
		grid_put(g, row, col - 2, 1, role, grid_glyph(g, GLYPH_ELLIPSIS));
}

void list_draw_range(const struct list *list, struct grid *g, int row)
{
	char text[LIST_RANGE];
	int room = 0, width;

	if (row < 0 || row >= g->rows)
		return;
	while (room < g->cols && is_blank(g, row, g->cols - 1 - room))
		room++;
	list_range(list, text);
	if (grid_width(g, text) + 2 > room)
		range_text(list, "/", text);
	width = grid_width(g, text);
	if (!width || (width + 2 > room && list->count <= list->page))
		return;
	/* A screen so narrow has no use for it. */
	if (2 * width > g->cols)
		return;
	if (width + 2 > room)
		cut(g, row, g->cols - width - 1, ROLE_HEADER);
	grid_put(g, row, g->cols - width - 1, width + 1, ROLE_HEADER, text);
	grid_blank(g, row, g->cols - 1, 1, ROLE_HEADER);
}

void list_draw_scroll(const struct list *list, struct grid *g, int row, int n, int col)
{
	size_t rows = (size_t)(n > 0 ? n : 0), length, first;

	if (!rows || list->count <= rows || col < 0 || col >= g->cols)
		return;
	length = rows * rows / list->count;
	length = length ? length : 1;
	first = (rows - length) * list->top / (list->count - rows);
	first = first < rows - length ? first : rows - length;
	for (size_t i = first; i < first + length && row + (int)i < g->rows; i++) {
		int y = row + (int)i;

		if (col > 0 && !is_blank(g, y, col) && !is_blank(g, y, col - 1))
			grid_put(g, y, col - 1, 1, (enum role)g->cells[y * g->cols + col - 1].role,
				 grid_glyph(g, GLYPH_ELLIPSIS));
		grid_put(g, y, col, 1, ROLE_BORDER, grid_glyph(g, GLYPH_SCROLL));
	}
}
