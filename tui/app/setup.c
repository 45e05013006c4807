// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One list of all that can be set, made from the tables that the rest of the program uses: the
 * settings of config.h, the columns of the views, the actions of keys.h.
 */
#include "tui/app/setup.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/text.h"
#include "tui/ui/config.h"
#include "tui/screen/columns.h"
#include "tui/screen/keys.h"
#include "tui/screen/list.h"
#include "tui/screen/theme.h"
#include "tui/ui/timespan.h"
#include "tui/ui/ui.h"
#include "tui/ui/view.h"

#define SETUP_ROWS 256

struct setup {
	bool changed;	      /* since it was opened */
	enum action catching; /* the next key is for it; ACTION_NONE: no key is waited for */
	struct list list;
	struct setup_row {
		enum setup_kind { SETUP_TITLE, SETUP_SETTING, SETUP_COLUMN, SETUP_KEY } kind;
		enum ui_view view; /* of a column */
		int table;	   /* of the column in the view */
		int index;	   /* of the setting or the column; the action */
	} rows[SETUP_ROWS];
};

static const struct {
	const char *name, *help;
} settings[] = {
	{"refresh", "seconds between refreshes"},
	{"window", "what counts: the samples of the last seconds, or all since zero"},
	{"seconds", "length of the window, and of moments in a frozen view"},
	{"theme", "colours; for a file of yours: :theme NAME"},
	{"ascii", "draw with ASCII characters only"},
	{"mouse", "use the mouse; else the terminal selects text with it"},
	{"units", "CPU% of one CPU, or of the whole machine"},
	{"syntax", "machine code as Intel writes it, or as AT&T does"},
	{"frames", "of interpreted languages: merged, all, or those of the language"},
};

#define SETTINGS ((int)(sizeof(settings) / sizeof(settings[0])))

static const char *const refreshes[] = {"0.1", "0.2", "0.5", "1", "2", "5", "10", "30", "60", NULL};

static const char *const spans[] = {"5", "10", "20", "30", "60", "120", "300", NULL};

static const enum ui_view with_columns[] = {VIEW_PROCS,	  VIEW_FUNCS,  VIEW_TREE,
					    VIEW_CALLERS, VIEW_SHARDS, VIEW_UNWIND};

static void add(struct setup *s, enum setup_kind kind, enum ui_view view, int table, int index)
{
	if (s->list.count < SETUP_ROWS)
		s->rows[s->list.count++] = (struct setup_row){kind, view, table, index};
}

static const struct column *table_of(const struct ui *ui, enum ui_view view, int table, int *count)
{
	const struct view_ops *ops = ui->views[view];
	int sorted;

	if (ops->table)
		return ops->table(table, count);
	return table ? NULL : ops->columns(count, ui, &sorted);
}

static bool can_hide(const struct ui *ui, enum ui_view view, const char *title, size_t length)
{
	const struct column *columns;
	int count;

	/* The title of that one depends on what is compared. */
	if (length > 3 && strncasecmp(title, "vs ", 3) == 0)
		return true;
	for (int table = 0; (columns = table_of(ui, view, table, &count)); table++)
		for (int i = 0; i < count; i++) {
			const char *own = columns[i].title, *comma;

			/* A table may lack a column that the view's other tables have. */
			if (!own || columns[i].keep || strlen(own) < length)
				continue;
			/* "CONTAINER, UNIT" is two titles of a list. */
			comma = strchr(own, ',');
			if (strcspn(own, ",") == length && strncasecmp(own, title, length) == 0)
				return true;
			if (comma && strlen(comma + 2) == length &&
			    strncasecmp(comma + 2, title, length) == 0)
				return true;
		}
	return false;
}

void setup_check(const struct ui *ui, config_warn_fn warn, void *arg)
{
	for (size_t i = 0; i < sizeof(with_columns) / sizeof(with_columns[0]); i++) {
		const char *at = ui->config.hide[with_columns[i]], *title;
		size_t length;

		while ((length = config_next_title(&at, &title))) {
			char text[160];
			int n;

			if (can_hide(ui, with_columns[i], title, length))
				continue;
			n = snprintf(text, sizeof(text), "%s has no column '",
				     ui->views[with_columns[i]]->title);
			text_clean(text + n, 80, title, length);
			n = (int)strlen(text);
			snprintf(text + n, sizeof(text) - (size_t)n, "' that can be hidden");
			warn(arg, text);
		}
	}
}

static const char *column_title(const struct ui *ui, const struct setup_row *row)
{
	int count;

	return table_of(ui, row->view, row->table, &count)[row->index].title;
}

/* Columns of one title in two tables of a view are hidden as one. */
static bool is_added(const struct ui *ui, enum ui_view view, const char *title)
{
	const struct setup *s = ui->page.state;

	for (size_t i = 0; i < s->list.count; i++)
		if (s->rows[i].kind == SETUP_COLUMN && s->rows[i].view == view &&
		    strcmp(column_title(ui, &s->rows[i]), title) == 0)
			return true;
	return false;
}

/* The columns in the order in which they stand, where the user may choose one. */
static void add_columns(struct ui *ui, enum ui_view view)
{
	const bool ordered = config_order(&ui->config, view);
	const struct column *columns;
	int count, order[COLUMNS_MAX];

	add(ui->page.state, SETUP_TITLE, view, 0, 0);
	for (int table = 0; (columns = table_of(ui, view, table, &count)); table++) {
		struct column placed[COLUMNS_MAX];

		memcpy(placed, columns, (size_t)count * sizeof(*placed));
		if (ordered)
			config_place(&ui->config, view, placed, count);
		columns_order(placed, count, order);
		for (int k = 0; k < count; k++) {
			const struct column *column = &columns[order[k]];

			if (column->title && column->title[0] && (ordered || !column->keep) &&
			    !is_added(ui, view, column->title))
				add(ui->page.state, SETUP_COLUMN, view, table, order[k]);
		}
	}
}

/* All rows anew, since the order of columns may be another. */
static void fill(struct ui *ui, struct setup *s)
{
	s->list.count = 0;
	add(s, SETUP_TITLE, VIEW_FRAME, 0, 0);
	for (int i = 0; i < SETTINGS; i++)
		add(s, SETUP_SETTING, VIEW_FRAME, 0, i);
	for (size_t v = 0; v < sizeof(with_columns) / sizeof(with_columns[0]); v++)
		add_columns(ui, with_columns[v]);
	add(s, SETUP_TITLE, VIEW_FRAME, 0, 1);
	for (int i = ACTION_NONE + 1; i < ACTION_COUNT; i++)
		add(s, SETUP_KEY, VIEW_FRAME, 0, i);
}

/* Puts the column before or behind its neighbour; the cursor stays on it. */
static unsigned int move_column(struct ui *ui, int step)
{
	struct setup *s = ui->page.state;
	const struct setup_row row = s->rows[s->list.cursor];
	struct column placed[COLUMNS_MAX];
	const struct column *columns;
	int count = 0;

	if (row.kind != SETUP_COLUMN || !config_order(&ui->config, row.view)) {
		ui_notice(ui, "columns of Procs and Funcs can be moved");
		return UI_REDRAW;
	}
	columns = table_of(ui, row.view, row.table, &count);
	memcpy(placed, columns, (size_t)count * sizeof(*placed));
	config_place(&ui->config, row.view, placed, count);
	config_move(&ui->config, row.view, placed, count, row.index, step);
	s->changed = true;
	fill(ui, s);
	for (size_t i = 0; i < s->list.count; i++)
		if (s->rows[i].kind == SETUP_COLUMN && s->rows[i].view == row.view &&
		    s->rows[i].table == row.table && s->rows[i].index == row.index)
			s->list.cursor = i;
	return UI_REDRAW;
}

/* --- keys ---------------------------------------------------------------------------------- */

static const char *next_of(const char *const *list, const char *now, int step)
{
	size_t n = 0, at;

	while (list[n])
		n++;
	for (at = 0; at < n && strcmp(list[at], now) != 0; at++)
		;
	if (at == n) /* a value that is not in the list */
		return step > 0 ? list[0] : list[n - 1];
	return list[(at + n + (size_t)step) % n];
}

static unsigned int change_setting(struct ui *ui, int index, int step)
{
	static const char *const yes_no[] = {"no", "yes", NULL};
	static const char *const windows[] = {"sliding", "total", NULL};
	static const char *const units[] = {"cpu", "machine", NULL};
	static const char *const syntaxes[] = {"intel", "att", NULL};
	static const char *const frames[] = {"merged", "all", "language", NULL};
	struct setup *s = ui->page.state;
	const char *name = settings[index].name;
	const char *const *list = strcmp(name, "refresh") == 0	 ? refreshes
				  : strcmp(name, "seconds") == 0 ? spans
				  : strcmp(name, "theme") == 0	 ? theme_embedded()
				  : strcmp(name, "window") == 0	 ? windows
				  : strcmp(name, "units") == 0	 ? units
				  : strcmp(name, "syntax") == 0	 ? syntaxes
				  : strcmp(name, "frames") == 0	 ? frames
								 : yes_no;
	char now[CONFIG_HIDE_MAX], why[160];

	config_get(&ui->config, name, now, sizeof(now));
	s->changed = true;
	if (config_set(&ui->config, name, next_of(list, now, step), why, sizeof(why)))
		ui_notice(ui, "%s", why);
	return setup_apply(ui, name) | UI_REDRAW;
}

static bool is_kept(const struct ui *ui, const struct setup_row *row)
{
	int count;

	return table_of(ui, row->view, row->table, &count)[row->index].keep;
}

static unsigned int change(struct ui *ui, const struct setup_row *row, int step)
{
	struct setup *s = ui->page.state;
	const char *title;

	if (row->kind == SETUP_SETTING)
		return change_setting(ui, row->index, step);
	if (row->kind == SETUP_COLUMN) {
		title = column_title(ui, row);
		if (is_kept(ui, row)) {
			ui_notice(ui, "without %s a row says nothing; < and > move it", title);
			return UI_REDRAW;
		}
		config_hide(&ui->config, row->view, title,
			    !config_hides(&ui->config, row->view, title));
		s->changed = true;
	}
	return UI_REDRAW;
}

static unsigned int catch_key(struct ui *ui, int key)
{
	struct setup *s = ui->page.state;
	enum action action = s->catching, other;
	char name[KEYMAP_NAME];

	s->catching = ACTION_NONE;
	if (key == KEYCODE_ESCAPE || !keymap_name(key, name, sizeof(name))) {
		ui_notice(ui, "%s", key == KEYCODE_ESCAPE ? "" : "that key cannot be bound");
		return UI_REDRAW;
	}
	if (keymap_bind(&ui->config.keys, key, action, true, &other)) {
		ui_notice(ui, "more than %d keys", KEYMAP_MAX);
		return UI_REDRAW;
	}
	s->changed = true;
	ui_notice(ui, "%s: %s", name, keymap_row(action)->help);
	return UI_REDRAW;
}

/* Titles cannot be chosen. */
static unsigned int move(struct setup *s, enum action action)
{
	size_t before = s->list.cursor;

	if (!list_move(&s->list, action))
		return 0;
	if (s->rows[s->list.cursor].kind == SETUP_TITLE) {
		bool up = s->list.cursor < before && s->list.cursor > 0;

		list_select(&s->list, up ? s->list.cursor - 1 : s->list.cursor + 1);
	}
	return UI_REDRAW;
}

static unsigned int leave(struct ui *ui)
{
	const struct setup *s = ui->page.state;
	unsigned int flags = UI_RELOAD | (s->changed ? UI_SAVE : 0);

	ui_close_page(ui);
	ui->notice[0] = '\0'; /* it is about a key, and would hide where settings went */
	return flags;
}

static unsigned int setup_key(struct ui *ui, int key)
{
	struct setup *s = ui->page.state;
	const struct setup_row *row = &s->rows[s->list.cursor];
	unsigned int flags;

	if (s->catching)
		return catch_key(ui, key);
	flags = move(s, keys_action(key, VIEW_TREE));
	if (flags)
		return flags;
	switch (key) {
	case KEYCODE_ESCAPE:
	case KEYCODE_BACKSPACE:
	case KEYCODE_F0 + 2:
	case KEYCODE_F0 + 10:
	case 'q':
		return leave(ui);
	case '<':
	case '>':
		return move_column(ui, key == '<' ? -1 : 1);
	case KEYCODE_LEFT:
		return change(ui, row, -1);
	case KEYCODE_RIGHT:
	case ' ':
		return change(ui, row, 1);
	case KEYCODE_ENTER:
		if (row->kind != SETUP_KEY)
			return change(ui, row, 1);
		s->catching = (enum action)row->index;
		return UI_REDRAW;
	case KEYCODE_DELETE:
		if (row->kind != SETUP_KEY)
			return UI_REDRAW;
		keymap_reset(&ui->config.keys, (enum action)row->index);
		ui->notice[0] = '\0';
		s->changed = true;
		return UI_REDRAW;
	default:
		return UI_REDRAW;
	}
}

unsigned int setup_apply(struct ui *ui, const char *name)
{
	const struct config *c = &ui->config;

	if (strcmp(name, "refresh") == 0 && c->refresh > 0) {
		timespan_refresh(ui, c->refresh);
	} else if (strcmp(name, "window") == 0 && !ui->frozen) {
		timespan_total(ui, c->total);
	} else if (strcmp(name, "seconds") == 0 && c->seconds) {
		return timespan_window(ui, c->seconds);
	} else if (strcmp(name, "theme") == 0) {
		return UI_REDRAW | UI_THEME;
	} else if (strcmp(name, "frames") == 0) {
		ui->frames = c->frames;
	} else if (strcmp(name, "ascii") == 0) {
		ui->ascii = c->ascii || !ui->utf8;
	} else if (strcmp(name, "mouse") == 0) {
		ui->no_mouse = c->no_mouse;
	}
	return UI_RELOAD;
}

/* --- drawing ------------------------------------------------------------------------------- */

/* The help of a row, from the column `at` on; "" none. */
static const char *help_of(const struct setup_row *row, int *at)
{
	*at = row->kind == SETUP_KEY ? 40 : 31;
	return row->kind == SETUP_KEY	    ? keymap_row((enum action)row->index)->help
	       : row->kind == SETUP_SETTING ? settings[row->index].help
					    : "";
}

static void draw_row(const struct ui *ui, const struct setup_row *row, struct grid *g, int y)
{
	char text[CONFIG_HIDE_MAX];
	const char *help;
	int at;

	help = help_of(row, &at);
	grid_fit(g, y, at, g->cols - at, ROLE_DIM, help);
	switch (row->kind) {
	case SETUP_TITLE:
		if (row->view)
			grid_printf(g, y, 1, g->cols - 1, ROLE_TITLE, "Columns of %s",
				    ui->views[row->view]->title);
		else
			grid_put(g, y, 1, g->cols - 1, ROLE_TITLE,
				 row->index ? "Keys" : "Settings");
		break;
	case SETUP_SETTING:
		config_get(&ui->config, settings[row->index].name, text, sizeof(text));
		grid_put(g, y, 3, 9, ROLE_TEXT, settings[row->index].name);
		grid_printf(g, y, 12, 18, ROLE_BAR_KEY, "< %s >", text);
		break;
	case SETUP_COLUMN:
		grid_printf(g, y, 3, g->cols - 3, ROLE_TEXT, "[%c] %s",
			    is_kept(ui, row)						  ? '='
			    : config_hides(&ui->config, row->view, column_title(ui, row)) ? ' '
											  : 'x',
			    column_title(ui, row));
		break;
	default:
		keymap_keys(&ui->config.keys, (enum action)row->index, text, sizeof(text));
		grid_put(g, y, 3, 17, ROLE_TEXT, keymap_row((enum action)row->index)->name);
		grid_put(g, y, 21, 18, ROLE_BAR_KEY, text[0] ? text : "-");
		break;
	}
}

/* The help of the row under the cursor, where it was cut off. */
static bool draw_help(const struct setup *s, struct grid *g, int y)
{
	int at;
	const char *help = help_of(&s->rows[s->list.cursor], &at);

	if (at + grid_width(g, help) <= g->cols)
		return false;
	grid_fit(g, y, 1, g->cols - 1, ROLE_TITLE, help);
	return true;
}

/* What the theme's colours look like. */
static void draw_sample(struct grid *g, int y)
{
	static const enum role roles[] = {ROLE_TEXT,   ROLE_DIM,     ROLE_TITLE,  ROLE_OK,
					  ROLE_WARN,   ROLE_ERROR,   ROLE_KERNEL, ROLE_USER,
					  ROLE_MODULE, ROLE_MATCH,   ROLE_PAUSED, ROLE_HEAT_3,
					  ROLE_HEAT_5, ROLE_FLAME_1, ROLE_FLAME_3};
	int col = 1;

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		const char *name = theme_role_name(roles[i]);

		if (col + (int)strlen(name) + 1 > g->cols)
			break;
		col += 1 + grid_put(g, y, col, g->cols - col, roles[i], name);
	}
}

static void setup_draw(struct ui *ui, struct grid *g, int top, int height)
{
	struct setup *s = ui->page.state;
	int rows = g->rows - 3;

	(void)top;
	(void)height;
	grid_clear(g);
	grid_blank(g, 0, 0, g->cols, ROLE_HEADER);
	grid_put(g, 0, 1, g->cols - 1, ROLE_HEADER_SORT, "stacktop: setup");
	list_settle(&s->list, rows > 1 ? (size_t)rows : 1);
	/* The title above the first row comes along. */
	if (s->list.cursor == 1 && s->list.top == 1)
		s->list.top = 0;
	for (int i = 0; i < rows; i++) {
		size_t at = s->list.top + (size_t)i;

		if (at >= s->list.count)
			break;
		draw_row(ui, &s->rows[at], g, 1 + i);
		if (at == s->list.cursor) {
			grid_put(g, 1 + i, 1, 1, ROLE_CURSOR, ">");
			grid_role(g, 1 + i, 0, g->cols, ROLE_CURSOR);
		}
	}
	if (g->rows < 3)
		return;
	if (s->catching)
		grid_printf(g, g->rows - 2, 1, g->cols - 1, ROLE_TITLE,
			    "Press the key for %s, or Esc to cancel",
			    keymap_row(s->catching)->name);
	else if (ui->notice[0] && ui->now < ui->notice_until)
		grid_fit(g, g->rows - 2, 1, g->cols - 1, ROLE_TITLE, ui->notice);
	else if (!draw_help(s, g, g->rows - 2))
		draw_sample(g, g->rows - 2);
	grid_fit(g, g->rows - 1, 1, g->cols - 1, ROLE_DIM,
		 g->cols >= 80 ? "Space, Left, Right change  < > move a column  Enter binds a key  "
				 "Esc saves"
			       : "Space changes  < > moves  Enter binds  Esc saves");
}

static void setup_close(struct ui *ui)
{
	free(ui->page.state);
}

static const struct overlay_ops setup_ops = {
	.draw = setup_draw,
	.key = setup_key,
	.close = setup_close,
};

unsigned int setup_open(struct ui *ui)
{
	struct setup *s = calloc(1, sizeof(*s));

	if (!s) {
		ui_notice(ui, "%s", strerror(ENOMEM));
		return UI_REDRAW;
	}
	ui->page = (struct overlay){&setup_ops, s};
	fill(ui, s);
	s->list.cursor = 1;
	return UI_REDRAW;
}
