// SPDX-License-Identifier: GPL-2.0-or-later
/* See help.h. */
#include "tui/app/help.h"

#include <stdio.h>

#include "bpf/tracker/inventory.h"
#include "tui/screen/keymap.h"
#include "tui/profile/profile.h"
#include "tui/query/query.h"
#include "tui/ui/scrub.h"

#define KEYS_WIDTH 15
#define MIB	   1048576.0
#define SHARD_MIB  (SHARD_BYTES / MIB)

static const char *const marks[] = {
	"",
	"Marks",
	">  the cursor; it stays on its process, function or node",
	"+  attached      *  tagged      z  exited; its samples are kept",
	"!  a stack that broke, or a process with more than 5% of them",
	"k  kernel        u  user        i  inlined      j  code made at run time",
	"p  a pinned table",
	"",
	"A stack that could not be walked to its outermost function begins with",
	"[unwind: reason]. It is counted like any other; 7 says what helps.",
	"",
	"Where something is typed, Left Right ^A ^E move, ^U ^K cut, Esc leaves it;",
	"Up and Down, ^P and ^N go through what : / or \\ was told before.",
	"",
	"", /* the last two lines are draw_history's and draw_memory's */
	"",
};

#define MARKS ((int)(sizeof(marks) / sizeof(marks[0])))

/* What was kept when it was last looked at, which is a second ago, or when the view froze. */
static void draw_history(struct grid *g, int row, const struct history *kept)
{
	if (!kept->bytes_max)
		return;
	grid_printf(g, row, 2, g->cols - 2, ROLE_TEXT,
		    "%.1f of %.0f MiB of memory for the history: %.0f of %d s",
		    (double)kept->bytes / MIB, (double)kept->bytes_max / MIB, kept->seconds,
		    SCRUB_SECONDS);
}

static void draw_memory(struct grid *g, int row, const struct profile_health *last)
{
	double tables = last->shards_created * SHARD_MIB;

	grid_printf(
		g, row, 2, g->cols - 2, ROLE_TEXT,
		"%.1f MiB of locked memory: %.1f of BPF maps, %.0f of %.0f (--memory) of tables",
		(double)last->locked / MIB + tables, (double)last->locked / MIB, tables,
		last->shards_max * SHARD_MIB);
}

static void draw_line(struct grid *g, int row, int line, int keys,
		      const struct profile_health *last, const struct history *kept,
		      const struct keymap *map)
{
	const struct key_row *key = &keys_table(NULL)[line];
	char views[96], bound[48], scope[104] = "";
	int n;

	if (line - keys == MARKS - 2) {
		draw_history(g, row, kept);
		return;
	}
	if (line - keys == MARKS - 1) {
		draw_memory(g, row, last);
		return;
	}
	if (line >= keys) {
		grid_fit(g, row, 2, g->cols - 2, line == keys + 1 ? ROLE_TITLE : ROLE_TEXT,
			 marks[line - keys]);
		return;
	}
	keys_views(key, views, sizeof(views));
	keymap_keys(map, key->action, bound, sizeof(bound));
	grid_right(g, row, 1, KEYS_WIDTH, ROLE_BAR_KEY, bound[0] ? bound : "-");
	n = 2 + KEYS_WIDTH + 1;
	grid_fit(g, row, n, g->cols - n, ROLE_TEXT, key->help);
	n += grid_width(g, key->help);
	if (views[0])
		snprintf(scope, sizeof(scope), "  (%s)", views);
	/* The mark of what is cut off stands behind a word, not behind two blanks. */
	if (n + 4 < g->cols)
		grid_fit(g, row, n, g->cols - n, ROLE_DIM, scope);
}

int help_draw(struct grid *g, int first, const struct profile_health *last,
	      const struct history *kept, const struct keymap *map)
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
		draw_line(g, 1 + i, first + i, (int)keys, last, kept, map);
	grid_printf(
		g, g->rows - 1, 1, g->cols - 1, ROLE_DIM,
		!most ? "any key goes back"
		: g->cols > 72
			? "%d to %d of %d lines; the keys of movement scroll, any other goes back"
			: "%d to %d of %d  j k scroll, any other key goes back",
		first + 1, first + rows < lines ? first + rows : lines, lines);
	return most;
}
