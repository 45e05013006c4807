// SPDX-License-Identifier: GPL-2.0-or-later
/* See help.h. */
#include "tui/help.h"

#include <stdio.h>

#include "tui/keys.h"

#define KEYS_WIDTH 15

static const char *const marks[] = {
	"",
	"Marks",
	">  the cursor; it stays on its process, function or node",
	"+  attached      z  exited; its samples are kept",
	"!  a stack that broke, or a process with more than 5% of them",
	"k  kernel        u  user        j  code made at run time",
	"",
	"A stack that could not be walked to its outermost function begins with",
	"[unwind: reason]. It is counted like any other.",
};

#define MARKS ((int)(sizeof(marks) / sizeof(marks[0])))

static void draw_line(struct grid *g, int row, int line, int keys)
{
	const struct key_row *key = &keys_table(NULL)[line];
	char views[64] = "";
	int n = 0;

	if (line >= keys) {
		grid_put(g, row, 2, g->cols - 2, line == keys + 1 ? ROLE_TITLE : ROLE_TEXT,
			 marks[line - keys]);
		return;
	}
#define HELP_VIEW(id, title, name)                                                                 \
	if (key->views != IN_ALL && (key->views & VIEW_BIT(VIEW_##id)))                            \
		n += snprintf(views + n, sizeof(views) - (size_t)n, "%s%s", n ? ", " : "", title);
	VIEW_LIST(HELP_VIEW)
#undef HELP_VIEW
	grid_right(g, row, 1, KEYS_WIDTH, ROLE_BAR_KEY, key->keys);
	n = 2 + KEYS_WIDTH + 1;
	n += grid_put(g, row, n, g->cols - n, ROLE_TEXT, key->help);
	if (views[0])
		grid_printf(g, row, n, g->cols - n, ROLE_DIM, "  (%s)", views);
}

int help_draw(struct grid *g, int first)
{
	size_t keys;
	int lines, rows = g->rows - 2, most;

	keys_table(&keys);
	lines = (int)keys + MARKS;
	most = lines > rows ? lines - rows : 0;
	if (first > most)
		first = most;
	grid_clear(g);
	grid_blank(g, 0, 0, g->cols, ROLE_HEADER);
	grid_put(g, 0, 1, g->cols - 1, ROLE_HEADER_SORT, "stacktop: keys");
	for (int i = 0; i < rows && first + i < lines; i++)
		draw_line(g, 1 + i, first + i, (int)keys);
	grid_printf(g, g->rows - 1, 1, g->cols - 1, ROLE_DIM,
		    most ? "%d to %d of %d lines; the keys of movement scroll, any other goes back"
			 : "any key goes back",
		    first + 1, first + rows < lines ? first + rows : lines, lines);
	return most;
}
