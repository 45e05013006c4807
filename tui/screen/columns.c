// SPDX-License-Identifier: GPL-2.0-or-later
/* See columns.h. */
#include "tui/screen/columns.h"

#include <stdarg.h>
#include <stdio.h>

void columns_order(const struct column *columns, int count, int *order)
{
	for (int i = 0; i < count; i++) {
		int at = i;

		for (; at && columns[order[at - 1]].place > columns[i].place; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
}

/* Gives what is left to the columns that may grow, in turns, the left ones first. */
static void grow(const struct column *columns, const int *order, int count, int left, int *width)
{
	bool grew = true;

	while (left > 0 && grew) {
		grew = false;
		for (int k = 0; k < count && left > 0; k++) {
			int i = order[k];
			int by = columns[i].weight ? columns[i].weight : 1;

			if (width[i] == 0 || width[i] >= columns[i].max)
				continue;
			by = by < left ? by : left;
			width[i] += by;
			left -= by;
			grew = true;
		}
	}
}

/* The column of the highest rank, of equal ones the rightmost; -1: all must stay. */
static int dispensable(const struct column *columns, const int *order, int count, const int *width)
{
	int least = -1;

	for (int k = 0; k < count; k++) {
		const struct column *c = &columns[order[k]];

		if (width[order[k]] && !c->keep && !c->wanted &&
		    (least < 0 || c->rank >= columns[least].rank))
			least = order[k];
	}
	return least;
}

void columns_fit(const struct column *columns, int count, int total, unsigned int hidden,
		 int *width)
{
	int order[COLUMNS_MAX], sum = 0, least;

	columns_order(columns, count, order);
	for (int i = 0; i < count; i++) {
		bool out = hidden & 1U << i || (total < columns[i].from && !columns[i].wanted);

		sum += width[i] = out ? 0 : columns[i].min;
	}
	while (sum > total && (least = dispensable(columns, order, count, width)) >= 0) {
		sum -= width[least];
		width[least] = 0;
	}
	grow(columns, order, count, total - sum, width);
}

void columns_header(struct grid *g, int row, const struct column *columns, int count,
		    const int *width, int sorted, bool inverted)
{
	int order[COLUMNS_MAX], col = 0;

	columns_order(columns, count, order);
	grid_blank(g, row, 0, g->cols, ROLE_HEADER);
	for (int k = 0; k < count; k++) {
		const int i = order[k];
		enum role role = i == sorted ? ROLE_HEADER_SORT : ROLE_HEADER;
		const char *mark = "";
		char title[40];
		int room = (int)sizeof(title) / 2;

		if (width[i] == 0)
			continue;
		if (i == sorted) {
			bool up = (columns[i].sortable == SORTS_UP) != inverted;

			mark = grid_glyph(g, up ? GLYPH_SORT_UP : GLYPH_SORT_DOWN);
			room = width[i] - 2; /* a long title gives way to the mark */
		}
		snprintf(title, sizeof(title), "%.*s%s", room, columns[i].title, mark);
		if (columns[i].right)
			grid_right(g, row, col, width[i] - 1, role, title);
		else
			grid_fit(g, row, col, width[i] - 1, role, title);
		if (columns[i].sortable)
			grid_zone(g, (struct zone){ZONE_SORT, i, columns, row, 1, col, width[i]});
		col += width[i];
	}
}

void cell_say(struct column_cell *c, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(c->text, sizeof(c->text), format, args);
	va_end(args);
}

void columns_row(struct grid *g, int y, const struct column *columns, int count, const int *width,
		 columns_cell_fn cell, const void *table, const void *row)
{
	int order[COLUMNS_MAX], last = count - 1;

	columns_order(columns, count, order);
	while (last > 0 && !width[order[last]])
		last--;
	for (int k = 0, col = 0; k <= last; col += width[order[k++]]) {
		const int i = order[k];
		struct column_cell c = {g, y, col, width[i] - 1, k == last, ROLE_TEXT, ""};

		if (!width[i])
			continue;
		cell(table, row, i, &c);
		/* It may have drawn itself. */
		if (c.text[0] && columns[i].right)
			grid_right(g, y, c.col, c.width, c.role, c.text);
		else if (c.text[0])
			grid_fit(g, y, c.col, c.width, c.role, c.text);
	}
}

int columns_next(const struct column *columns, int count, int from, int step)
{
	int order[COLUMNS_MAX], at = 0;

	columns_order(columns, count, order);
	while (at < count && order[at] != from)
		at++;
	for (at += step; at >= 0 && at < count; at += step)
		if (columns[order[at]].sortable)
			return order[at];
	return from;
}
