// SPDX-License-Identifier: GPL-2.0-or-later
/* See columns.h. */
#include "tui/screen/columns.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define SHOWN 0.05 /* points; less is shown as none */
#define LARGE 0.5

/* Gives what is left to the columns that may grow, in turns, the left ones first. */
static void grow(const struct column *columns, int count, int left, int *width)
{
	bool grew = true;

	while (left > 0 && grew) {
		grew = false;
		for (int i = 0; i < count && left > 0; i++) {
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

void columns_fit(const struct column *columns, int count, int total, unsigned int hidden,
		 int *width)
{
	int sum = 0;

	for (int i = 0; i < count; i++)
		sum += width[i] = hidden & 1U << i ? 0 : columns[i].min;
	for (int i = count - 1; i >= 0 && sum > total; i--) {
		if (columns[i].keep)
			continue;
		sum -= width[i];
		width[i] = 0;
	}
	grow(columns, count, total - sum, width);
}

void columns_header(struct grid *g, int row, const struct column *columns, int count,
		    const int *width, int sorted, bool inverted)
{
	int col = 0;

	grid_blank(g, row, 0, g->cols, ROLE_HEADER);
	for (int i = 0; i < count; i++) {
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
	int last = count - 1;

	while (last > 0 && !width[last])
		last--;
	for (int i = 0, col = 0; i <= last; col += width[i++]) {
		struct column_cell c = {g, y, col, width[i] - 1, i == last, ROLE_TEXT, ""};

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
	for (int i = from + step; i >= 0 && i < count; i += step)
		if (columns[i].sortable)
			return i;
	return from;
}

void delta_text(const struct grid *g, double now, double before, char *to, size_t size)
{
	double points = now - before;
	const char *mark = grid_glyph(g, points > 0 ? GLYPH_RISE : GLYPH_FALL);

	if (before < 0 || (now <= 0 && before <= 0))
		snprintf(to, size, "-");
	else if (before <= 0)
		snprintf(to, size, "new");
	else if (fabs(points) < SHOWN)
		snprintf(to, size, "= 0.0");
	else
		snprintf(to, size, "%s %+.1f", g->ascii ? "" : mark, points);
}

enum role delta_role(double now, double before)
{
	if (before < 0 || fabs(now - before) < LARGE)
		return ROLE_DIM;
	return now > before ? ROLE_UP : ROLE_DOWN;
}
