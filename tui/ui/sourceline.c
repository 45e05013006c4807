/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See sourceline.h. */
#include "tui/ui/sourceline.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "tui/screen/grid.h"
#include "tui/profile/profile.h"

#define LABEL "hottest line "

void sourceline_fit(const struct profile_func *func, struct grid *g, int row, int col, int width)
{
	char name[NAME_MAX + 32] = "";
	const char *shown = name;

	sourcename(func, name, sizeof(name));
	if (grid_width(g, name) > width && width > 1) {
		while (*shown && grid_width(g, shown) > width - 1)
			do
				shown++;
			while (((unsigned char)*shown & 0xc0) == 0x80);
		col += grid_put(g, row, col, 1, ROLE_DIM, grid_glyph(g, GLYPH_ELLIPSIS));
		width--;
	}
	grid_fit(g, row, col, width, ROLE_DIM, shown);
}

void sourceline_draw(const struct profile_func *func, struct grid *g, int row, int col)
{
	int room = g->cols - col - 3, label = (int)strlen(LABEL), width;
	char text[PATH_MAX + 32];
	const char *shown = text;

	if (!func || !func->file)
		return;
	snprintf(text, sizeof(text), "%s:%u", func->file, func->line);
	/* The longest end of the path, from a folder on, that fits. */
	while (grid_width(g, shown) > room - label && strchr(shown, '/'))
		shown = strchr(shown, '/') + 1;
	width = grid_width(g, shown);
	if (width > room)
		return;
	if (width + label <= room)
		grid_put(g, row, g->cols - width - label - 1, label, ROLE_DIM, LABEL);
	grid_put(g, row, g->cols - width - 1, width, ROLE_TEXT, shown);
}
