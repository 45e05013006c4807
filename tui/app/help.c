// SPDX-License-Identifier: GPL-2.0-or-later
/* See help.h. Lines flow through two columns where both have room, as in a newspaper. */
#include "tui/app/help.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/app/helptext.h"
#include "tui/profile/profile.h"
#include "tui/screen/keymap.h"
#include "tui/ui/pattern.h"
#include "tui/ui/view.h"

#define TWO_COLUMNS 100 /* cells of a screen that has them */
#define SEARCH_MS   10

/* What is searched in it. */
struct help_search {
	const struct pattern *pattern;
	int entry; /* the current one; -1: none */
};

struct help {
	int top;   /* first line shown */
	int page;  /* lines that were shown last */
	int width; /* of a column then */
	struct pattern pattern;
	struct pattern_watch watch;
	int entry; /* found last; -1: none */
	struct prompt prompt;
	int from;		  /* line that was on top when the question was asked */
	char before[PROMPT_TEXT]; /* what was searched then */
	char text[PROMPT_TEXT];	  /* of the pattern */
	char note[128];
};

/* --- drawing ---------------------------------------------------------------------------------- */

static void mark_matches(struct grid *g, int row, int col, int width, const char *text,
			 const struct pattern *pattern, enum role role)
{
	size_t from, to, at = 0;

	while (at < strlen(text) && pattern_find(pattern, text + at, &from, &to) && to > from) {
		if ((int)(at + from) < width)
			grid_role(g, row, col + (int)(at + from), (int)(to - from), role);
		at += to;
	}
}

static void draw_line(struct grid *g, int row, int col, int width, const struct helptext_line *line,
		      const struct help_search *search)
{
	static const enum role roles[] = {[HELPTEXT_TITLE] = ROLE_TITLE,
					  [HELPTEXT_KEY] = ROLE_TEXT,
					  [HELPTEXT_TERM] = ROLE_TEXT,
					  [HELPTEXT_TEXT] = ROLE_TEXT};
	enum role match = ROLE_MATCH;
	int at =
		col + (line->kind == HELPTEXT_KEY || line->kind == HELPTEXT_TERM ? HELPTEXT_LEFT + 3
		       : line->kind == HELPTEXT_TEXT				 ? 2
										 : 1);
	int left = (int)strlen(line->left), start = col + 1;

	if (line->kind == HELPTEXT_KEY && left < HELPTEXT_LEFT)
		start += HELPTEXT_LEFT - left;
	if (left)
		grid_fit(g, row, start, left,
			 line->kind == HELPTEXT_KEY ? ROLE_BAR_KEY : ROLE_TITLE, line->left);
	if (line->text[0])
		grid_fit(g, row, at, col + width - at, roles[line->kind], line->text);
	if (!search)
		return;
	if (search->entry == line->entry)
		match = ROLE_MATCH_CURRENT;
	mark_matches(g, row, start, left, line->left, search->pattern, match);
	mark_matches(g, row, at, col + width - at, line->text, search->pattern, match);
}

static int column_width(const struct grid *g)
{
	return g->cols < TWO_COLUMNS ? g->cols : (g->cols - 1) / 2;
}

static void draw_foot(struct grid *g, int first, int shown, int count)
{
	const char *keys = g->cols > 80
				   ? "  keys of movement scroll, / n N search, any other goes back"
				   : "  j k scroll, / n N search, others go back";
	int col = 1;

	if (shown < count)
		col += grid_printf(g, g->rows - 1, col, g->cols - 1, ROLE_DIM, "%d to %d of %d",
				   first + 1, first + shown, count);
	else
		keys = "/ n N search, any other key goes back";
	grid_fit(g, g->rows - 1, col, g->cols - col, ROLE_DIM, keys);
}

static int draw(struct grid *g, int first, const struct help_subject *subject,
		const struct help_search *search)
{
	int width = column_width(g), rows = g->rows > 2 ? g->rows - 2 : 0, most;
	int shown = width < g->cols ? 2 * rows : rows;
	struct helptext text;

	grid_clear(g);
	grid_blank(g, 0, 0, g->cols, ROLE_HEADER);
	grid_put(g, 0, 1, g->cols - 1, ROLE_HEADER_SORT, "stacktop: keys and columns");
	if (helptext_make(&text, subject, width)) {
		grid_put(g, 1, 1, g->cols - 1, ROLE_ERROR, strerror(ENOMEM));
		return 0;
	}
	most = text.count > shown ? text.count - shown : 0;
	first = first < most ? first : most;
	for (int i = 0; i < shown && first + i < text.count; i++)
		draw_line(g, 1 + i % rows, i < rows ? 0 : width + 1, width, &text.lines[first + i],
			  search);
	draw_foot(g, first, shown, text.count);
	helptext_free(&text);
	return most;
}

int help_draw(struct grid *g, int first, const struct help_subject *subject)
{
	return draw(g, first, subject, NULL);
}

static struct help_subject subject_of(const struct ui *ui)
{
	return (struct help_subject){ui_keys(ui), &ui->config.keys, &ui->header.last,
				     &ui->scrub.kept};
}

static void draw_over(struct ui *ui, struct grid *g, int top, int rows)
{
	struct help *h = ui->page.state;
	const struct help_subject subject = subject_of(ui);
	const struct help_search search = {&h->pattern, h->entry};
	int most;

	(void)top;
	pattern_watch_begin(&h->watch, SEARCH_MS);
	most = draw(g, h->top, &subject, h->pattern.set ? &search : NULL);
	h->top = h->top > most ? most : h->top;
	h->width = column_width(g);
	h->page = rows > 3 ? (h->width < g->cols ? 2 : 1) * (rows - 2) : 1;
	if (h->note[0])
		grid_fit(g, g->rows - 1, 1, g->cols - 2, ROLE_DIM, h->note);
	if (h->prompt.question) {
		prompt_draw(&h->prompt, g, g->rows - 1);
		if (h->note[0] && g->rows > 3) {
			grid_blank(g, g->rows - 2, 0, g->cols, ROLE_TEXT);
			grid_fit(g, g->rows - 2, 1, g->cols - 2, ROLE_DIM, h->note);
		}
	}
}

/* --- searching -------------------------------------------------------------------------------- */

/* To the next entry with a match from `entry` on, round again; false: there is none. */
static bool find(struct ui *ui, struct help *h, int entry, int step)
{
	const struct help_subject subject = subject_of(ui);
	struct helptext text;
	bool found = false;
	int line;

	if (!h->pattern.set || helptext_make(&text, &subject, h->width ? h->width : 80))
		return false;
	pattern_watch_begin(&h->watch, SEARCH_MS);
	for (int i = 0; i < text.entries && !found; i++) {
		int at = (entry + i * step) % text.entries;

		at = at < 0 ? at + text.entries : at;
		found = helptext_matches(&text, at, &h->pattern);
		if (!found)
			continue;
		h->entry = at;
		line = helptext_line_of(&text, at);
		if (line < h->top || line >= h->top + h->page)
			h->top = line > 2 ? line - 2 : 0;
	}
	helptext_free(&text);
	return found;
}

/* The entry of a line. */
static int entry_at(struct ui *ui, const struct help *h, int line)
{
	const struct help_subject subject = subject_of(ui);
	struct helptext text;
	int entry = 0;

	if (helptext_make(&text, &subject, h->width ? h->width : 80))
		return 0;
	if (line < text.count)
		entry = text.lines[line].entry;
	helptext_free(&text);
	return entry;
}

static void search(struct ui *ui, struct help *h, const char *text)
{
	char why[64];

	h->note[0] = '\0';
	if (!pattern_set(&h->pattern, text, why, sizeof(why))) {
		snprintf(h->note, sizeof(h->note), "not valid yet, so the last one stays: %s", why);
		return;
	}
	snprintf(h->text, sizeof(h->text), "%s", text);
	h->top = h->from;
	h->entry = -1;
	if (h->pattern.set && !find(ui, h, entry_at(ui, h, h->from), 1))
		snprintf(h->note, sizeof(h->note), "not found");
}

static void ask(struct help *h)
{
	h->from = h->top;
	memcpy(h->before, h->text, sizeof(h->before));
	h->note[0] = '\0';
	prompt_open(&h->prompt, ACTION_SEARCH, "Search help:", "");
}

static unsigned int answer(struct ui *ui, struct help *h, int key)
{
	char before[PROMPT_TEXT];
	enum prompt_result result;

	memcpy(before, h->prompt.text, sizeof(before));
	result = prompt_key(&h->prompt, key);
	if (result == PROMPT_CANCELLED) {
		search(ui, h, h->before);
		h->top = h->from;
		h->note[0] = '\0';
		prompt_close(&h->prompt);
	} else if (result == PROMPT_DONE) {
		if (!h->prompt.text[0])
			search(ui, h, "");
		prompt_close(&h->prompt);
	} else if (strcmp(before, h->prompt.text) != 0) {
		search(ui, h, h->prompt.text);
	}
	return UI_REDRAW;
}

static unsigned int next(struct ui *ui, struct help *h, int step)
{
	int from = h->entry >= 0 ? h->entry + step : entry_at(ui, h, h->top);

	if (!h->pattern.set)
		snprintf(h->note, sizeof(h->note), "nothing to search for: / asks");
	else if (!find(ui, h, from, step))
		snprintf(h->note, sizeof(h->note), "not found: %.60s", h->text);
	return UI_REDRAW;
}

/* --- keys ------------------------------------------------------------------------------------- */

static unsigned int help_key(struct ui *ui, int key)
{
	struct help *h = ui->page.state;

	if (h->prompt.question)
		return answer(ui, h, key);
	h->note[0] = '\0';
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
		h->top = 100000; /* drawing makes it the last page */
		break;
	case ACTION_SEARCH:
		ask(h);
		break;
	case ACTION_SEARCH_NEXT:
		return next(ui, h, 1);
	case ACTION_SEARCH_PREV:
		return next(ui, h, -1);
	default:
		ui_close_page(ui);
		return UI_REDRAW;
	}
	h->top = h->top > 0 ? h->top : 0;
	return UI_REDRAW;
}

static void close_help(struct ui *ui)
{
	struct help *h = ui->page.state;

	pattern_clear(&h->pattern);
	free(h);
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
		h->entry = -1;
		h->pattern.watch = &h->watch;
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
