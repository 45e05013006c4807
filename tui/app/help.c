// SPDX-License-Identifier: GPL-2.0-or-later
/* See help.h. */
#include "tui/app/help.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/tracker/inventory.h"
#include "tui/screen/keymap.h"
#include "tui/profile/profile.h"
#include "tui/ui/view.h"

#define KEYS_WIDTH 15
#define MIB	   1048576.0
#define SHARD_MIB  (SHARD_BYTES / MIB)

static const char *const marks[] = {
	"",
	"Marks",
	">  the cursor; it stays on its process, function or node",
	"+  attached      *  tagged      z  exited; its samples are kept",
	"!  an incomplete stack, or a process with more than 5% of them",
	"k  kernel        u  user        i  inlined      j  code made at run time",
	"p  a pinned table",
	"[-kernel]  changes the numbers of this view   (-kernel)  of other views",
	"",
	"A stack that could not be walked to its outermost function begins with",
	"[unwind: reason]. It is counted like any other; 7 says what helps.",
	"",
	"In a question, Left Right ^A ^E move, ^U ^K cut, Esc cancels;",
	"Up and Down, ^P and ^N bring back earlier answers to : / and \\.",
	"",
	"", /* the last two lines are about memory */
	"",
};

#define MARKS ((int)(sizeof(marks) / sizeof(marks[0])))

static void draw_line(struct grid *g, int row, int line, int keys,
		      const struct profile_health *last, const struct history *kept,
		      const struct keymap *map)
{
	const struct key_row *key = &keys_table(NULL)[line];
	char views[96], bound[48], scope[104] = "";
	double tables = last->shards_created * SHARD_MIB, maps = (double)last->locked / MIB;
	int n;

	/* What was kept when it was last looked at: a second ago, or when the view froze. */
	if (line - keys == MARKS - 2) {
		if (kept->bytes_max)
			grid_printf(g, row, 2, g->cols - 2, ROLE_TEXT,
				    "%.1f of %.0f MiB of memory for the history: %.0f of %d s",
				    (double)kept->bytes / MIB, (double)kept->bytes_max / MIB,
				    kept->seconds, SCRUB_SECONDS);
		return;
	}
	if (line - keys == MARKS - 1) {
		grid_printf(g, row, 2, g->cols - 2, ROLE_TEXT,
			    "%.1f MiB of locked memory: %.1f of BPF maps, %.0f of %.0f (--memory) "
			    "of tables",
			    maps + tables, maps, tables, last->shards_max * SHARD_MIB);
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
			? "%d to %d of %d lines; keys of movement scroll, any other key goes back"
			: "%d to %d of %d  j k scroll, any other key goes back",
		first + 1, first + rows < lines ? first + rows : lines, lines);
	return most;
}

struct help {
	int top, page; /* lines */
};

static void draw_over(struct ui *ui, struct grid *g, int top, int rows)
{
	struct help *h = ui->page.state;
	int most = help_draw(g, h->top, &ui->header.last, &ui->scrub.kept, &ui->config.keys);

	(void)top;
	h->top = h->top > most ? most : h->top;
	h->page = rows > 3 ? rows - 2 : 1;
}

static unsigned int help_key(struct ui *ui, int key)
{
	struct help *h = ui->page.state;

	switch (keymap_action(&ui->config.keys, key, VIEW_TREE)) {
	case ACTION_UP:
		h->top--;
		break;
	case ACTION_DOWN:
		h->top++;
		break;
	case ACTION_PAGE_UP:
		h->top -= h->page;
		break;
	case ACTION_HALF_UP:
		h->top -= h->page / 2;
		break;
	case ACTION_PAGE_DOWN:
		h->top += h->page;
		break;
	case ACTION_HALF_DOWN:
		h->top += h->page / 2;
		break;
	case ACTION_FIRST:
		h->top = 0;
		break;
	case ACTION_LAST:
		h->top = ACTION_COUNT;
		break;
	default:
		ui_close_page(ui);
		return UI_REDRAW;
	}
	h->top = h->top > 0 ? h->top : 0;
	return UI_REDRAW;
}

static void close_help(struct ui *ui)
{
	free(ui->page.state);
}

static const struct overlay_ops help_ops = {
	.draw = draw_over,
	.key = help_key,
	.close = close_help,
};

unsigned int help_open(struct ui *ui)
{
	struct help *h = calloc(1, sizeof(*h));

	if (h) {
		ui->page.ops = &help_ops;
		ui->page.state = h;
	} else {
		ui_notice(ui, "%s", strerror(ENOMEM));
	}
	return UI_REDRAW;
}

bool help_is_open(const struct ui *ui)
{
	return ui->page.ops == &help_ops;
}
