// SPDX-License-Identifier: GPL-2.0-or-later
/* See hints.h. Keys are named as they are bound. */
#include "tui/screen/hints.h"

#include <stdio.h>
#include <string.h>

#include "tui/screen/keymap.h"

#define BETWEEN 2

static void add_key(const struct keymap *keys, enum action action, char *to, size_t size)
{
	char all[80];
	size_t length = strlen(to);

	if (action == ACTION_NONE)
		return;
	keymap_keys(keys, action, all, sizeof(all));
	if (all[0])
		snprintf(to + length, size - length, "%.*s ", (int)strcspn(all, " "), all);
}

/* "" when no key does it any more. */
static void in_words(const struct keymap *keys, const struct hint *hint, char *to, size_t size)
{
	size_t length;

	to[0] = '\0';
	add_key(keys, hint->action, to, size);
	add_key(keys, hint->also, to, size);
	length = strlen(to);
	if (length || hint->action == ACTION_NONE)
		snprintf(to + length, size - length, "%s", hint->text);
}

const char *hints_words(const struct keymap *keys, enum action action, const char *text, char *to,
			size_t size)
{
	in_words(keys, &(struct hint){action, ACTION_NONE, text}, to, size);
	return to;
}

/* Without a grid to write to they are only measured, by the widths of g. */
static int lay(const struct keymap *keys, const struct hint *hints, size_t count,
	       const struct grid *g, struct grid *to, enum role role, int row, int col, int width)
{
	int used = 0;

	for (size_t i = 0; i < count; i++) {
		int before = used ? BETWEEN : 0, wide;
		char text[96];

		in_words(keys, &hints[i], text, sizeof(text));
		wide = grid_width(g, text);
		if (!wide)
			continue;
		if (used + before + wide > width)
			break;
		used += before;
		if (to)
			grid_put(to, row, col + used, wide, role, text);
		used += wide;
	}
	return used;
}

void hints_draw(const struct keymap *keys, const struct hint *hints, size_t count, struct grid *g,
		int row, enum role role)
{
	lay(keys, hints, count, g, g, role, row, 1, g->cols - 1);
}

void hints_heading(const struct keymap *keys, const struct hint *hints, size_t count,
		   struct grid *g, int row, const char *title)
{
	int from = 2 + grid_width(g, title) + BETWEEN, room = g->cols - from - BETWEEN - 2;
	int width = lay(keys, hints, count, g, NULL, ROLE_DIM, row, 0, room);

	grid_line(g, row, 0, g->cols, ROLE_BORDER, GLYPH_HLINE);
	grid_fit(g, row, 2, from - BETWEEN < g->cols ? from - BETWEEN - 2 : g->cols - 2, ROLE_TITLE,
		 title);
	if (!width)
		return;
	from = g->cols - BETWEEN - width - 2;
	grid_blank(g, row, from, width + 2, ROLE_DIM);
	lay(keys, hints, count, g, g, ROLE_DIM, row, from + 1, width);
}
