// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See palette.h. Up and Down choose in the list, as in every other; earlier commands come back by
 * them only where nothing is typed yet, and by ^P and ^N always.
 */
#include "tui/app/palette.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tui/app/cmdline.h"
#include "tui/screen/keymap.h"
#include "tui/screen/list.h"
#include "tui/ui/ui.h"

#define ROWS_MAX   256 /* more commands are left out */
#define LETTERS	   64
#define WORD_START 8
#define RUN	   5
#define WHOLE	   40 /* what is typed is the name */
#define BEGINS	   20 /* ... or its beginning */
#define TOLD_MIN   3  /* letters from which on descriptions are searched, too */
#define KEY_WIDTH  10
#define LEAST_ROWS 10 /* a screen with fewer has no list */

struct palette_row {
	const char *name, *help;
	enum action action; /* ACTION_NONE: a word of the command line only */
	int score;
	uint64_t places; /* of the letters in the name */
};

struct palette {
	struct palette_row rows[ROWS_MAX];
	struct list list;
	bool chosen;   /* a row is: Enter runs it */
	bool moved;    /* ... by a key */
	bool recalled; /* the line is an earlier one, as it was */
	char seen[PROMPT_TEXT];
};

/* What stands behind the name; in brackets if it may be missing. */
static const struct {
	const char *name, *argument;
} arguments[] = {
	{"zoom", "[PID or NAME]"},  {"tag", "[PID or NAME]"},	 {"inspect", "[PID or NAME]"},
	{"annotate", "[FUNCTION]"}, {"baseline", "[SESSION]"},	 {"sort", "[COLUMN]"},
	{"set", "NAME VALUE"},	    {"window", "SECONDS"},	 {"theme", "NAME"},
	{"bind", "KEY ACTION"},	    {"unbind", "KEY"},		 {"detach", "[SELECTOR]"},
	{"attach", "[SELECTOR]"},   {"search", "[REGEX]"},	 {"filter", "[REGEX]"},
	{"filter-user", "[USER]"},  {"filter-cgroup", "[NAME]"}, {"limit", "[PERCENT]"},
	{"depth", "[LEVEL]"},	    {"event", "[NAME]"},	 {"reset", "[all or N]"},
	{"picture", "[FILE]"},	    {"write", "[FILE]"},	 {"jump", "[TIME]"},
	{"record", "[FILE]"},	    {"butterfly", "[FUNCTION]"}, {"syntax", "[intel or att]"},
	{"push", "[URL]"},
};

static const char *argument_of(const char *name)
{
	for (size_t i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++)
		if (strcmp(arguments[i].name, name) == 0)
			return arguments[i].argument;
	return "";
}

struct palette *palette_new(void)
{
	return calloc(1, sizeof(struct palette));
}

void palette_free(struct palette *p)
{
	free(p);
}

/* --- letters ---------------------------------------------------------------------------------- */

static int worth(const char *name, size_t at, bool run)
{
	bool start = !at || !isalnum((unsigned char)name[at - 1]);

	return 1 + (start ? WORD_START : 0) + (run ? RUN : 0);
}

/* best[j]: of all ways to find the letters so far with the last one at j; 0: none. */
int palette_score(const char *query, const char *name, uint64_t *places)
{
	int best[LETTERS + 1][LETTERS] = {{0}};
	uint8_t from[LETTERS + 1][LETTERS] = {{0}};
	size_t letters = strlen(query), length = strlen(name);
	int top = 0, end = -1;

	*places = 0;
	if (!letters || letters > LETTERS || letters > length)
		return 0;
	length = length < LETTERS ? length : LETTERS;
	for (size_t i = 1; i <= letters; i++)
		for (size_t j = i - 1; j < length; j++) {
			if (tolower((unsigned char)query[i - 1]) != tolower((unsigned char)name[j]))
				continue;
			if (i == 1)
				best[i][j] = worth(name, j, false);
			for (size_t k = i > 1 ? i - 2 : j; k < j; k++) {
				int score = best[i - 1][k] + worth(name, j, k + 1 == j);

				if (best[i - 1][k] && score > best[i][j]) {
					best[i][j] = score;
					from[i][j] = (uint8_t)k;
				}
			}
		}
	for (size_t j = 0; j < length; j++)
		if (best[letters][j] > top) {
			top = best[letters][j];
			end = (int)j;
		}
	for (size_t i = letters; end >= 0 && i; i--) {
		*places |= (uint64_t)1 << end;
		end = from[i][end];
	}
	if (top && strncasecmp(name, query, letters) == 0)
		top += name[letters] ? BEGINS : WHOLE;
	return top;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* Only what the name has not is searched in the description, and comes behind all names. */
static void add(struct palette *p, const char *query, const char *name, const char *help,
		enum action action)
{
	struct palette_row row = {name, help, action, 1, 0};

	for (size_t i = 0; i < p->list.count; i++)
		if (strcmp(p->rows[i].name, name) == 0)
			return;
	if (query[0]) {
		row.score = 1 + palette_score(query, name, &row.places);
		if (row.score == 1 && (strlen(query) < TOLD_MIN || !strcasestr(help, query)))
			return;
	}
	if (p->list.count < ROWS_MAX)
		p->rows[p->list.count++] = row;
}

static int compare(const void *a, const void *b)
{
	const struct palette_row *x = a, *y = b;

	return (y->score > x->score) - (y->score < x->score);
}

/* The first word of the line, cut off behind; *alone: nothing follows it. */
static const char *first_word(const char *text, char to[PROMPT_TEXT], bool *alone)
{
	text += strspn(text, " :");
	snprintf(to, PROMPT_TEXT, "%.*s", (int)strcspn(text, " "), text);
	*alone = !text[strlen(to)];
	return to;
}

static void fill(const struct ui *ui, struct palette *p)
{
	char query[PROMPT_TEXT];
	const struct key_row *keys, *same;
	const char *name, *help;
	bool alone;
	size_t count;

	first_word(ui->prompt.text, query, &alone);
	p->list = (struct list){.page = p->list.page};
	for (size_t i = 0; (name = cmdline_word(i, &help)); i++) {
		same = keymap_find(name);
		if (alone || strcmp(name, query) == 0)
			add(p, query, name, help, same ? same->action : ACTION_NONE);
	}
	keys = keys_table(&count);
	for (size_t i = 0; i < count; i++)
		if ((keys[i].views & VIEW_BIT(ui_keys(ui))) &&
		    (alone || strcmp(keys[i].name, query) == 0))
			add(p, query, keys[i].name, keys[i].help, keys[i].action);
	/* Few enough to be sorted at each key, and equal ones stay in the order of the tables. */
	for (size_t i = 1; i < p->list.count; i++) {
		struct palette_row row = p->rows[i];
		size_t k = i;

		for (; k && compare(&p->rows[k - 1], &row) > 0; k--)
			p->rows[k] = p->rows[k - 1];
		p->rows[k] = row;
	}
	p->chosen = query[0] && alone && p->list.count;
	p->moved = false;
}

void palette_begin(struct ui *ui)
{
	snprintf(ui->palette->seen, sizeof(ui->palette->seen), "%s", ui->prompt.text);
	ui->palette->recalled = false;
	fill(ui, ui->palette);
}

void palette_follow(struct ui *ui, bool recalled)
{
	struct palette *p = ui->palette;

	if (strcmp(p->seen, ui->prompt.text) == 0)
		return;
	snprintf(p->seen, sizeof(p->seen), "%s", ui->prompt.text);
	fill(ui, p);
	p->recalled = recalled;
	p->chosen &= !recalled;
}

/* --- keys ------------------------------------------------------------------------------------- */

static bool move(struct palette *p, int key)
{
	static const struct {
		int key;
		enum action action;
	} moves[] = {
		{KEYCODE_UP, ACTION_UP},
		{KEYCODE_DOWN, ACTION_DOWN},
		{KEYCODE_PAGE_UP, ACTION_PAGE_UP},
		{KEYCODE_PAGE_DOWN, ACTION_PAGE_DOWN},
	};

	for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
		if (moves[i].key != key)
			continue;
		/* The first key only shows where the cursor is. */
		if (p->chosen)
			list_move(&p->list, moves[i].action);
		p->chosen = p->moved = true;
		return true;
	}
	return false;
}

static void put(struct ui *ui, const char *name, const char *behind)
{
	char text[PROMPT_TEXT];

	snprintf(text, sizeof(text), "%s%s", name, behind);
	prompt_set(&ui->prompt, text);
	palette_follow(ui, false);
}

bool palette_key(struct ui *ui, int key)
{
	struct palette *p = ui->palette;
	bool empty = !ui->prompt.text[0] || p->recalled, alone;
	char word[PROMPT_TEXT];

	first_word(ui->prompt.text, word, &alone);
	if ((empty && key == KEYCODE_UP && !p->chosen) || (p->recalled && key == KEYCODE_DOWN))
		return false;
	if (key == KEYCODE_TAB && alone && !p->list.count) {
		ui_notice(ui, "no command has the letters '%s'", word);
		return true;
	}
	if (key == KEYCODE_TAB && alone && p->chosen) {
		put(ui, p->rows[p->list.cursor].name, " ");
		return true;
	}
	if (!alone || !p->list.count)
		return false;
	return move(p, key == KEYCODE_TAB ? KEYCODE_DOWN : key);
}

static bool is_command(const char *name)
{
	const char *word, *help;

	for (size_t i = 0; (word = cmdline_word(i, &help)); i++)
		if (strcmp(word, name) == 0)
			return true;
	return keymap_find(name) != NULL;
}

bool palette_take(struct ui *ui)
{
	struct palette *p = ui->palette;
	const struct palette_row *row = &p->rows[p->list.cursor];
	const char *argument;
	char word[PROMPT_TEXT];
	bool alone;

	first_word(ui->prompt.text, word, &alone);
	if (!alone || !p->chosen || (!p->moved && is_command(word)))
		return true;
	argument = argument_of(row->name);
	if (argument[0] && argument[0] != '[' && row->action == ACTION_NONE) {
		put(ui, row->name, " ");
		return false;
	}
	put(ui, row->name, "");
	return true;
}

/* --- drawing ---------------------------------------------------------------------------------- */

static int rows_for(const struct grid *g, size_t count)
{
	int rows = g->rows / 3;

	rows = rows > 16 ? 16 : rows;
	return count < (size_t)rows ? (int)count : rows;
}

static void draw_row(const struct ui *ui, struct grid *g, int y, const struct palette_row *row,
		     int names)
{
	int key = g->cols - 1 - KEY_WIDTH, col = 2;
	char keys[48] = "";

	grid_blank(g, y, 0, g->cols, ROLE_TEXT);
	if (row->action != ACTION_NONE)
		keymap_keys(&ui->config.keys, row->action, keys, sizeof(keys));
	grid_put(g, y, col, names, ROLE_TITLE, row->name);
	for (int i = 0; i < LETTERS && i < names; i++)
		if (row->places >> i & 1)
			grid_role(g, y, col + i, 1, ROLE_MATCH);
	col += grid_width(g, row->name) + 1;
	if (col < 2 + names)
		grid_fit(g, y, col, 2 + names - col, ROLE_DIM, argument_of(row->name));
	col = 2 + names + 1;
	grid_fit(g, y, col, key - col - 1, ROLE_TEXT, row->help);
	grid_right(g, y, key, KEY_WIDTH, ROLE_BAR_KEY, keys);
}

/* Names with their arguments, as wide as what is shown asks for. */
static int names_width(const struct grid *g, const struct palette *p, int rows)
{
	int width = 12, most = g->cols < 80 ? 20 : 30;

	for (size_t i = p->list.top; i < p->list.top + (size_t)rows && i < p->list.count; i++) {
		int n = grid_width(g, p->rows[i].name) + 1 +
			grid_width(g, argument_of(p->rows[i].name));

		width = n > width ? n : width;
	}
	return width < most ? width : most;
}

void palette_draw(const struct ui *ui, struct grid *g)
{
	struct palette *p = ui->palette;
	int rows = rows_for(g, p->list.count), top = g->rows - 2 - rows, names;
	char text[64], word[PROMPT_TEXT];
	bool alone;

	/* What Tab says of an argument may take the rows above. */
	first_word(ui->prompt.text, word, &alone);
	if (!alone && ui->notice[0] && ui->now < ui->notice_until)
		return;
	if (!ui->prompt.question || ui->prompt.purpose != ACTION_COMMAND || !rows ||
	    g->rows < LEAST_ROWS)
		return;
	list_settle(&p->list, (size_t)rows);
	names = names_width(g, p, rows);
	grid_line(g, top - 1, 0, g->cols, ROLE_BORDER, GLYPH_HLINE);
	grid_put(g, top - 1, 3, g->cols - 3, ROLE_TITLE, " commands ");
	snprintf(text, sizeof(text), " %zu-%zu of %zu ", p->list.top + 1,
		 p->list.top + (size_t)rows, p->list.count);
	grid_put(g, top - 1, g->cols - 3 - (int)strlen(text), (int)strlen(text), ROLE_BORDER, text);
	for (int i = 0; i < rows; i++)
		draw_row(ui, g, top + i, &p->rows[p->list.top + (size_t)i], names);
	if (p->chosen)
		list_mark(&p->list, g, top - 1, rows, true);
}
