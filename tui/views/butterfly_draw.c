// SPDX-License-Identifier: GPL-2.0-or-later
/* How a butterfly is drawn, and told in words. */
#include <stdio.h>
#include <string.h>

#include "tui/screen/columns.h"
#include "tui/screen/delta.h"
#include "tui/screen/hints.h"
#include "tui/ui/names.h"
#include "tui/ui/plain_list.h"
#include "tui/ui/shortname.h"
#include "tui/util/share.h"
#include "tui/views/butterfly_priv.h"

#define ROWS_FOR_HINTS 14
#define PLAIN_SIDE     7 /* rows of each side, in words */

enum wing_column {
	WING_MARK,
	WING_SHARE,
	WING_SAMPLES,
	WING_CHANGE,
	WING_BAR,
	WING_KIND,
	WING_FUNC,
	WING_MODULE,
	WING_COLUMNS,
};

static const struct column columns[WING_COLUMNS] = {
	[WING_MARK] = COLUMN_TEXT("", 2, 2, .keep = true),
	[WING_SHARE] = COLUMN_NUMBER("SHARE%", 8, 8, .keep = true, .words = ""),
	[WING_SAMPLES] = COLUMN_NUMBER("SAMPLES", 9, 9, .keep = true, .words = "%s samples"),
	[WING_CHANGE] = COLUMN_NUMBER("vs BASE", 9, 9, .keep = true, .words = "%s in the baseline"),
	[WING_BAR] = COLUMN_TEXT("BAR", 9, 15),
	[WING_KIND] = COLUMN_TEXT("k/u", 4, 4, .keep = true, .words = ""),
	[WING_FUNC] =
		COLUMN_TEXT("CALLERS AND CALLEES", 20, 400, .weight = 4, .keep = true, .words = ""),
	[WING_MODULE] = COLUMN_TEXT("MODULE", 11, 24, .words = ""),
};

struct wing_painter {
	const struct ui *ui;
	const struct wings *w;
};

void wing_row_name(const struct wing_row *row, char *to, size_t size)
{
	if (row->func)
		names_show(row->func, to, size);
	else
		snprintf(to, size, "%s",
			 row->wing == WING_CALLER ? "(no caller: outermost)" : "(self)");
}

/* Of the samples of the function, now and in the baseline. */
static double row_share(const struct wings *w, const struct wing_row *row)
{
	return share_of(row->samples, w->rows[w->at].samples);
}

/* Of the middle, of all samples. */
static void cell_change(const struct wing_painter *p, const struct wing_row *row,
			struct column_cell *c)
{
	const struct wings *w = p->w;
	const bool middle = row->wing == WING_MIDDLE;
	const struct delta delta =
		delta_of_shares(row->samples, middle ? w->samples : w->rows[w->at].samples,
				row->before, middle ? w->before_samples : w->rows[w->at].before);

	if (!w->compared)
		return;
	if (c->g) {
		c->role = delta_role(&delta);
		delta_text(&delta, c->g, c->text, sizeof(c->text));
	} else if (delta.before >= 0) {
		cell_say(c, "%.1f %%", delta.before);
	}
}

static void cell_name(const struct wing_painter *p, const struct wing_row *row,
		      struct column_cell *c)
{
	char name[CELL_TEXT], recursive[48] = "";
	const char *shown = name;

	wing_row_name(row, name, sizeof(name));
	if (row->wing == WING_MIDDLE && p->w->recursive)
		snprintf(recursive, sizeof(recursive), "  recursive %.1f%%",
			 percent_of(p->w->recursive, row->samples));
	for (int i = 0; i < p->w->scroll && *shown; i++)
		do
			shown++;
		while (((unsigned char)*shown & 0xc0) == 0x80);
	c->role = search_matches(p->ui, name)	? ROLE_MATCH
		  : !row->func			? ROLE_DIM
		  : row->func->kind == FUNC_END ? ROLE_BROKEN
		  : row->wing == WING_MIDDLE	? ROLE_HEADER_SORT
						: names_role(row->func, ROLE_TEXT);
	if (c->g && row->func && func_is_language(row->func->kind) && !p->w->scroll)
		shortname_func(c->g, row->func, c->width - grid_width(c->g, recursive), name,
			       sizeof(name));
	cell_say(c, "%.*s%s", CELL_TEXT - (int)sizeof(recursive), shown, recursive);
}

static void cell_kind(const struct wing_row *row, struct column_cell *c)
{
	if (!row->func)
		return;
	c->role = names_mark_role(row->func);
	cell_say(c, "%s", names_mark(row->func));
	c->width = (int)strlen(c->text);
}

static void cell_text(const void *table, const void *from, int column, struct column_cell *c)
{
	const struct wing_painter *p = table;
	const struct wing_row *row = from;
	double share = row_share(p->w, row);

	switch ((enum wing_column)column) {
	case WING_MARK:
		if (c->g && row->func && row->func->kind == FUNC_END)
			grid_put(c->g, c->y, 0, 1, ROLE_BROKEN, "!");
		break;
	case WING_SHARE:
		c->role = ui_share_role(row->samples, ui_heat(share));
		if (row->wing != WING_MIDDLE)
			cell_say(c, "%.1f", 100 * share);
		break;
	case WING_SAMPLES:
		if (row->wing != WING_MIDDLE)
			ui_count(p->ui, row->samples, c->text, sizeof(c->text));
		break;
	case WING_CHANGE:
		cell_change(p, row, c);
		break;
	case WING_BAR:
		if (c->g && row->wing != WING_MIDDLE)
			grid_eighths(c->g, c->y, c->col, c->width,
				     ui_share_role(row->samples, ui_heat(share)), share);
		break;
	case WING_KIND:
		cell_kind(row, c);
		break;
	case WING_FUNC:
		c->width += c->last;
		cell_name(p, row, c);
		break;
	case WING_MODULE:
		c->width += c->last;
		c->role = ROLE_MODULE;
		cell_say(c, "%s", row->func ? names_module(row->func) : "");
		break;
	default:
		break;
	}
}

/* What the samples are of. */
static void scope_name(const struct ui *ui, char *to, size_t size)
{
	if (wings_of(ui)->of_row)
		snprintf(to, size, "%s", wings_of(ui)->scope.name);
	else
		ui_zoom_name(ui, to, size);
}

static void draw_title(const struct ui *ui, const struct wings *w, struct grid *g, int row)
{
	const char *frames = ui->hide_kernel && ui->hide_user ? ", no frames"
			     : ui->hide_kernel		      ? ", user frames only"
			     : ui->hide_user		      ? ", kernel frames only"
							      : "";
	uint64_t samples = w->list.count ? w->rows[w->at].samples : 0;
	int end = ui_draw_samples(ui, g, row, samples, &w->list), col, width;
	const char *what = ui->measure == MEASURE_CPU ? "samples" : "time";
	char name[512], of[80];

	grid_line(g, row, 0, end, ROLE_BORDER, GLYPH_HLINE);
	scope_name(ui, name, sizeof(name));
	col = 2 + grid_put(g, row, 2, end - 4, ROLE_TITLE, " Butterfly in ");
	col += grid_cut(g, row, col, end - col - 2, ROLE_TITLE, name);
	col += grid_put(g, row, col, end - col - 1, ROLE_TITLE, " ");
	snprintf(of, sizeof(of), " %% of its %s, %s%s ", what, ui_weighed(ui), frames);
	if (col + 2 + grid_width(g, of) >= end)
		snprintf(of, sizeof(of), " %% of its %s%s ", what, frames);
	width = grid_width(g, of);
	if (col + 2 + width < end)
		grid_put(g, row, end - width - 1, width, ROLE_DIM, of);
}

/* The function's own shares are of all samples: they stand where its row has no others. */
static void draw_sums(const struct wings *w, struct grid *g, int y, const int *width)
{
	int room = width[WING_SHARE] + width[WING_SAMPLES] + width[WING_BAR] - 1;
	int col = width[WING_MARK];
	char text[96];

	/* With the change between them there is room for the first only. */
	if (width[WING_CHANGE])
		room = width[WING_SHARE] + width[WING_SAMPLES] - 1;
	snprintf(text, sizeof(text), "total %.1f%%  self %.1f%%",
		 percent_of(w->rows[w->at].samples, w->samples), percent_of(w->self, w->samples));
	if (grid_width(g, text) > room)
		snprintf(text, sizeof(text), "%.1f%% self %.1f%%",
			 percent_of(w->rows[w->at].samples, w->samples),
			 percent_of(w->self, w->samples));
	grid_fit(g, y, col, room, ROLE_HEADER, text);
}

static void draw_rows(const struct ui *ui, struct wings *w, struct grid *g, int top, int rows)
{
	const struct wing_painter painter = {ui, w};
	struct column shown[WING_COLUMNS];
	int width[WING_COLUMNS], n;

	memcpy(shown, columns, sizeof(shown));
	for (size_t i = 0; i < w->list.count; i++) {
		n = w->rows[i].func ? (int)strlen(names_mark(w->rows[i].func)) : 0;
		if (n >= shown[WING_KIND].min)
			shown[WING_KIND].min = shown[WING_KIND].max = n + 1;
	}
	columns_fit(shown, WING_COLUMNS, g->cols,
		    (ui->hide_modules ? 1U << WING_MODULE : 0) |
			    (w->compared ? 0 : 1U << WING_CHANGE),
		    width);
	shown[WING_SAMPLES].title = ui_count_title(ui);
	columns_header(g, top, shown, WING_COLUMNS, width, -1, false);
	n = list_fit(&w->list, rows);
	if (!w->placed && n) { /* the middle in the middle */
		w->list.top = w->at > (size_t)n / 2 ? w->at - (size_t)n / 2 : 0;
		n = list_fit(&w->list, rows);
		w->placed = true;
	}
	for (int i = 0; i < n; i++) {
		const struct wing_row *row = &w->rows[w->list.top + (size_t)i];

		if (row->wing == WING_MIDDLE)
			grid_blank(g, top + 1 + i, 0, g->cols, ROLE_HEADER);
		columns_row(g, top + 1 + i, shown, WING_COLUMNS, width, cell_text, &painter, row);
		if (row->wing == WING_MIDDLE)
			draw_sums(w, g, top + 1 + i, width);
	}
	list_draw_scroll(&w->list, g, top + 1, n, g->cols - 1);
	list_mark(&w->list, g, top, n, true);
	if (w->list.count == 1 && n + 1 < rows)
		grid_put(g, top + 1 + n, 2, g->cols - 2, ROLE_DIM,
			 w->samples ? "no samples of it" : "no samples");
}

void butterfly_draw(struct ui *ui, struct grid *g, int top, int rows)
{
	static const struct hint hints[] = {
		{ACTION_WALK, ACTION_NONE, "goes to a caller or callee"},
		{ACTION_BACK, ACTION_NONE, "back"},
		{ACTION_ANNOTATE, ACTION_NONE, "code"},
		{ACTION_COPY, ACTION_NONE, "copies"},
	};
	struct wings *w = wings_of(ui);
	int below = rows >= ROWS_FOR_HINTS;

	if (w->list.count && rows > 1)
		draw_rows(ui, w, g, top + 1, rows - 1 - below);
	draw_title(ui, w, g, top); /* with the rows that are shown */
	if (below)
		hints_draw(&ui->config.keys, hints, sizeof(hints) / sizeof(hints[0]), g,
			   top + rows - 1, ROLE_DIM);
}

/* --- in words ------------------------------------------------------------------------------ */

static void add_words(const struct ui *ui, const struct wings *w, const struct wing_row *from,
		      struct plain_list *list)
{
	static const char *const verbs[] = {"called by ", "", "calls "};
	const struct wing_painter painter = {ui, w};
	struct column shown[WING_COLUMNS];
	struct plain_row *row;
	char name[320];

	row = plain_list_add(list, from->key, 100 * row_share(w, from));
	if (!row)
		return;
	if (from->func)
		plain_func(from->func, name, sizeof(name));
	snprintf(row->name, sizeof(row->name), "%s%s",
		 from->func		     ? verbs[from->wing]
		 : from->wing == WING_CALLER ? "no caller: it is outermost"
					     : "its own code",
		 from->func ? name : "");
	memcpy(shown, columns, sizeof(shown));
	if (ui->measure != MEASURE_CPU)
		shown[WING_SAMPLES].words = "%s";
	plain_row_columns(row, shown, WING_COLUMNS, 0, cell_text, &painter, from);
}

int butterfly_plain(const struct ui *ui, struct plain_list *list)
{
	const struct wings *w = wings_of(ui);
	const struct wing_row *middle = w->list.count ? &w->rows[w->at] : NULL;
	char name[320], of[512];

	plain_func(&wings_middle(w)->func, name, sizeof(name));
	scope_name(ui, of, sizeof(of));
	snprintf(list->title, sizeof(list->title),
		 "Callers and callees of %s, in %.100s, %% of its %s", name, of,
		 plain_samples(ui, middle ? middle->samples : 0));
	snprintf(list->empty, sizeof(list->empty), "No samples of it.");
	if (!middle || !middle->samples)
		return 0;
	for (size_t i = 0; i < w->at && i < PLAIN_SIDE; i++)
		add_words(ui, w, &w->rows[w->at - 1 - i], list);
	for (size_t i = w->at + 1; i < w->list.count && i <= w->at + PLAIN_SIDE; i++)
		add_words(ui, w, &w->rows[i], list);
	/* All of its rows that there are: those that were not added count, too. */
	list->whole = w->list.count - 1;
	return 0;
}
