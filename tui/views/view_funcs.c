// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Funcs: the functions of the machine, or of the process that was zoomed into; and their table,
 * which Procs has, too.
 */
#include "tui/views/view_funcs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/screen/delta.h"
#include "tui/ui/bycpu.h"
#include "tui/ui/framedetails.h"
#include "tui/ui/selection.h"
#include "tui/ui/shortname.h"
#include "tui/ui/plain_list.h"
#include "tui/ui/ui.h"
#include "tui/util/share.h"
#include "tui/ui/view.h"

#define NAME_SHOWN  1024
#define SOURCE_MIN  120 /* cells of a row from which on it has a place for the source line */
#define SCROLL_STEP 8
#define SCROLL_MAX  960

#define COLUMNS(change)                                                                            \
	{                                                                                          \
		[FUNCTABLE_MARK] = COLUMN_TEXT("", 2, 2, .keep = true),                            \
		[FUNCTABLE_SELF] = COLUMN_NUMBER(                                                  \
			"SELF%", 8, 8, .keep = true, .words = "%s itself",                         \
			COLUMN_SORTABLE(SORTS_DOWN, "SELF%: samples that ended in it")),           \
		[FUNCTABLE_TOTAL] = COLUMN_NUMBER(                                                 \
			"TOTAL%", 8, 8, .keep = true, .words = "%s with what it calls",            \
			COLUMN_SORTABLE(SORTS_DOWN, "TOTAL%: with what it called")),               \
		[FUNCTABLE_BAR] = COLUMN_TEXT("BAR", 6, 15, .rank = 2),                            \
		[FUNCTABLE_CHANGE] =                                                               \
			COLUMN_NUMBER(change, 10, 10, .words = "%s in the baseline", .rank = 1,    \
				      COLUMN_SORTABLE(SORTS_DOWN, "change against before")),       \
		[FUNCTABLE_SAMPLES] =                                                              \
			COLUMN_NUMBER("SAMPLES", 8, 8, .words = "", .rank = 5, .from = 110,        \
				      COLUMN_SORTABLE(SORTS_DOWN, "SAMPLES of its own")),          \
		[FUNCTABLE_KIND] = COLUMN_TEXT("k/u", 4, 4, .keep = true, .words = ""),            \
		[FUNCTABLE_FUNC] =                                                                 \
			COLUMN_TEXT("FUNCTION", 20, 400, .weight = 4, .keep = true, .words = "",   \
				    COLUMN_SORTABLE(SORTS_UP, "FUNCTION by name")),                \
		[FUNCTABLE_CALLER] = COLUMN_TEXT("CALLED BY", 16, 60, .weight = 1, .rank = 3,      \
						 .words = "mostly called by %s"),                  \
		[FUNCTABLE_MODULE] =                                                               \
			COLUMN_TEXT("MODULE", 11, 24, .words = "", .rank = 4, .from = 100,         \
				    COLUMN_SORTABLE(SORTS_UP, "MODULE")),                          \
		[FUNCTABLE_SOURCE] = COLUMN_TEXT("SOURCE", 20, 32, .words = "line %s", .rank = 6), \
	}

static const struct column columns[FUNCTABLE_COLUMNS] = COLUMNS("vs BEFORE");
static const struct column diff_columns[FUNCTABLE_COLUMNS] = COLUMNS("vs BASE");

static const struct column *columns_of(bool diff)
{
	return diff ? diff_columns : columns;
}

/* The columns in their places. */
static const struct column *place_columns(const struct ui *ui, struct functable *t)
{
	memcpy(t->shown, columns_of(ui->scrub.diff), sizeof(t->shown));
	config_place(&ui->config, VIEW_FUNCS, t->shown, FUNCTABLE_COLUMNS);
	if (t->mark >= t->shown[FUNCTABLE_KIND].min)
		t->shown[FUNCTABLE_KIND].min = t->shown[FUNCTABLE_KIND].max = t->mark + 1;
	if (t->by_file) {
		t->shown[FUNCTABLE_FUNC].title = "SOURCE FILE, OBJECT";
		t->shown[FUNCTABLE_FUNC].name = "SOURCE FILE, OBJECT by name";
		t->shown[FUNCTABLE_MODULE].sortable = SORTS_NOT;
	}
	t->shown[FUNCTABLE_SAMPLES].title = ui_count_title(ui);
	t->shown[t->sorted].wanted = true;
	return t->shown;
}

struct functable *functable_new(void)
{
	struct functable *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->sorted = FUNCTABLE_SELF;
	t->list.pins = true;
	t->names = names_new();
	if (!t->names) {
		free(t);
		return NULL;
	}
	return t;
}

void functable_free(struct functable *t)
{
	if (!t)
		return;
	functable_clear(t);
	names_free(t->names);
	free(t);
}

void functable_clear(struct functable *t)
{
	free(t->rows);
	free(t->files);
	t->rows = NULL;
	t->files = NULL;
	t->mark = 0;
	t->list.count = 0;
	t->samples = 0;
	t->sources = false;
}

/* What stands for the file or object of a function, under the name of that. */
static const struct profile_func *file_of(struct profile_func *file,
					  const struct profile_func *func)
{
	if (!func->module[0])
		return func;
	*file = (struct profile_func){.name = func->module, .module = func->module};
	file->kind =
		func_is_language(func->kind) || func->kind == FUNC_KERNEL || func->kind == FUNC_JIT
			? func->kind
			: FUNC_USER;
	return file;
}

int functable_load(struct functable *t, const struct profile *p, const struct query *q,
		   const struct ui *ui)
{
	struct query whole = *q;
	struct func_row *found;
	size_t count;
	int err = query_funcs(p, q, &found, &count);

	functable_clear(t);
	t->by_file = q->by_module;
	if (err)
		return err;
	t->rows = malloc((count + 1) * sizeof(*t->rows));
	if (q->by_module)
		t->files = calloc(2 * count + 1, sizeof(*t->files));
	if (!t->rows || (q->by_module && !t->files))
		err = -ENOMEM;
	names_renew(t->names);
	for (size_t i = 0; !err && i < count; i++) {
		uint64_t hash;
		const struct profile_func *func, *caller = NULL;
		int mark;

		func = names_get_hash(t->names, p, found[i].func, &hash);
		if (found[i].caller != QUERY_NONE)
			caller = names_get(t->names, p, found[i].caller);
		if (!func) {
			err = -ENOMEM;
			break;
		}
		if (t->files) {
			func = file_of(&t->files[2 * i], func);
			hash = names_hash(func);
			if (caller)
				caller = file_of(&t->files[2 * i + 1], caller);
		}
		if (ui && !selection_keeps_func(ui, func))
			continue;
		t->rows[t->list.count++] = (struct functable_row){
			.func = func,
			.hash = hash,
			.self = found[i].self,
			.total = found[i].total,
			.before = found[i].before,
			.before_of = found[i].before_of,
			.caller = caller,
		};
		mark = (int)strlen(names_mark(func));
		t->mark = mark > t->mark ? mark : t->mark;
		t->sources |= func->file != NULL;
	}
	free(found);
	if (err) {
		functable_clear(t);
		return err;
	}
	whole.filter = NULL;
	t->samples = query_samples(p, &whole, NULL);
	return 0;
}

static double change(const struct functable *t, const struct functable_row *row)
{
	if (!row->before_of)
		return 0;
	return share_of(row->self, t->samples) - share_of(row->before, row->before_of);
}

static int row_compare(const void *x, const void *y, void *arg)
{
	const struct functable_row *a = x, *b = y;
	const struct functable *t = arg;
	int result = 0;

	switch (t->sorted) {
	case FUNCTABLE_TOTAL:
		result = most_first((double)a->total, (double)b->total);
		break;
	case FUNCTABLE_CHANGE:
		result = most_first(change(t, a), change(t, b));
		break;
	case FUNCTABLE_FUNC:
		result = strcmp(a->func->name, b->func->name);
		break;
	case FUNCTABLE_MODULE:
		result = strcmp(a->func->module, b->func->module);
		break;
	default:
		result = most_first((double)a->self, (double)b->self);
	}
	if (result)
		return t->inverted ? -result : result;
	/* Equal rows keep their order from one refresh to the next. */
	result = most_first((double)a->self, (double)b->self);
	if (!result)
		result = most_first((double)a->total, (double)b->total);
	if (!result)
		result = strcmp(a->func->name, b->func->name);
	return result ? result : (a->hash > b->hash) - (a->hash < b->hash);
}

void functable_sort(struct functable *t)
{
	if (t->list.count)
		qsort_r(t->rows, t->list.count, sizeof(*t->rows), row_compare, t);
	t->most = 0;
	for (size_t i = 0; i < t->list.count; i++)
		if (t->rows[i].self > t->most)
			t->most = t->rows[i].self;
	for (size_t i = 0; t->list.chosen && i < t->list.count; i++)
		if (t->rows[i].hash == t->cursor)
			t->list.cursor = i;
	list_follow(&t->list);
}

const struct profile_func *functable_function(const struct functable *t)
{
	return t->list.count ? t->rows[t->list.cursor].func : NULL;
}

static void hold(struct functable *t)
{
	if (t->list.cursor < t->list.count)
		t->cursor = t->rows[t->list.cursor].hash;
}

/* The text from `cells` cells on. */
static const char *scrolled(const struct grid *g, const char *text, int cells)
{
	while (*text && cells > 0) {
		const char *next = text + 1;
		char one[8];

		while (((unsigned char)*next & 0xc0) == 0x80)
			next++;
		snprintf(one, sizeof(one), "%.*s", (int)(next - text), text);
		cells -= grid_width(g, one);
		text = next;
	}
	return text;
}

struct functable_painter { /* of rows */
	const struct ui *ui;
	const struct functable *t;
};

/* In words, the share that the rows are sorted by stands first in the row already. */
static void cell_share(const struct functable *t, const struct functable_row *row, bool total,
		       struct column_cell *c)
{
	const uint64_t samples = total ? row->total : row->self;

	if (!c->g && (row->self == row->total || total == (t->sorted == FUNCTABLE_TOTAL)))
		return;
	cell_say(c, "%.1f", percent_of(samples, t->samples));
	c->role =
		ui_share_role(samples, total ? ROLE_TEXT : ui_heat(share_of(samples, t->samples)));
}

static void cell_change(const struct functable_painter *p, const struct functable_row *row,
			struct column_cell *c)
{
	const struct delta delta =
		delta_of_shares(row->self, p->t->samples, row->before, row->before_of);

	if (c->g) {
		c->role = delta_role(&delta);
		delta_text(&delta, c->g, c->text, sizeof(c->text));
	} else if (p->ui->scrub.diff && delta.before >= 0) {
		cell_say(c, "%.1f", delta.before);
	}
}

static void cell_name(const struct functable_painter *p, const struct functable_row *row,
		      struct column_cell *c)
{
	char name[NAME_SHOWN];

	names_show(row->func, name, sizeof(name));
	c->role = search_matches(p->ui, name)	? ROLE_MATCH
		  : row->func->kind == FUNC_END ? ROLE_BROKEN
						: names_role(row->func, ROLE_TEXT);
	if (c->g && !p->t->scroll && p->t->by_file)
		shortname_path(c->g, name, c->width, c->text, sizeof(c->text));
	else if (c->g && !p->t->scroll)
		shortname_func(c->g, row->func, c->width, c->text, sizeof(c->text));
	else
		cell_say(c, "%s", c->g ? scrolled(c->g, name, p->t->scroll) : name);
}

static void cell_caller(const struct functable_row *row, bool by_file, struct column_cell *c)
{
	char name[NAME_SHOWN];

	if (!row->caller)
		return;
	names_show(row->caller, name, sizeof(name));
	c->role = row->caller->kind == FUNC_END ? ROLE_BROKEN : ROLE_DIM;
	if (c->g && by_file)
		shortname_path(c->g, name, c->width, c->text, sizeof(c->text));
	else if (c->g)
		shortname_func(c->g, row->caller, c->width, c->text, sizeof(c->text));
	else
		cell_say(c, "%s", name);
}

/* "parse.c:42"; a name that is too long loses its beginning, not the number. */
static void draw_source(const struct profile_func *func, struct grid *g, int row, int col,
			int width)
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

static void cell_text(const void *table, const void *from, int column, struct column_cell *c)
{
	const struct functable_painter *p = table;
	const struct functable_row *row = from;
	double self = share_of(row->self, p->t->samples);

	switch ((enum functable_column)column) {
	case FUNCTABLE_MARK:
		if (c->g && row->func->kind == FUNC_END)
			grid_put(c->g, c->y, 0, 1, ROLE_BROKEN, "!");
		break;
	case FUNCTABLE_SELF:
	case FUNCTABLE_TOTAL:
		cell_share(p->t, row, column == FUNCTABLE_TOTAL, c);
		break;
	case FUNCTABLE_CHANGE:
		cell_change(p, row, c);
		break;
	case FUNCTABLE_SAMPLES:
		ui_count(p->ui, row->self, c->text, sizeof(c->text));
		break;
	case FUNCTABLE_BAR:
		if (c->g)
			grid_eighths(c->g, c->y, c->col, c->width,
				     ui_share_role(row->self, ui_heat(self)),
				     share_of(row->self, p->t->most));
		break;
	case FUNCTABLE_KIND:
		c->role = names_mark_role(row->func);
		cell_say(c, "%s", names_mark(row->func));
		c->width = (int)strlen(c->text);
		break;
	case FUNCTABLE_FUNC:
		c->width += c->last;
		cell_name(p, row, c);
		break;
	case FUNCTABLE_CALLER:
		c->width += c->last;
		cell_caller(row, p->t->by_file, c);
		break;
	case FUNCTABLE_MODULE:
		c->width += c->last;
		c->role = ROLE_MODULE;
		cell_say(c, "%s", names_module(row->func));
		break;
	case FUNCTABLE_SOURCE:
		if (c->g)
			draw_source(row->func, c->g, c->y, c->col, c->width + c->last);
		else
			sourcename(row->func, c->text, sizeof(c->text));
		break;
	default:
		break;
	}
}

/* The column of samples by its own name, too, while it counts times. */
static unsigned int hidden_by_user(const struct ui *ui, const struct column *shown)
{
	return config_hidden(&ui->config, VIEW_FUNCS, shown, FUNCTABLE_COLUMNS) |
	       (config_hides(&ui->config, VIEW_FUNCS, "SAMPLES") ? 1U << FUNCTABLE_SAMPLES : 0);
}

void functable_draw(const struct ui *ui, struct functable *t, struct grid *g, int top, int rows,
		    bool active)
{
	const struct functable_painter painter = {ui, t};
	const struct column *shown = place_columns(ui, t);
	int width[FUNCTABLE_COLUMNS], n;

	if (rows < 1)
		return;
	columns_fit(shown, FUNCTABLE_COLUMNS, g->cols,
		    (ui->hide_modules || t->by_file ? 1U << FUNCTABLE_MODULE : 0) |
			    (t->sources && g->cols >= SOURCE_MIN ? 0 : 1U << FUNCTABLE_SOURCE) |
			    hidden_by_user(ui, shown),
		    width);
	columns_header(g, top, shown, FUNCTABLE_COLUMNS, width, (int)t->sorted, t->inverted);
	n = list_fit(&t->list, rows);
	for (int i = 0; i < n; i++)
		columns_row(g, top + 1 + i, shown, FUNCTABLE_COLUMNS, width, cell_text, &painter,
			    &t->rows[list_at(&t->list, i)]);
	list_draw_scroll(&t->list, g, top + 1, n, g->cols - 1);
	if (active)
		list_mark(&t->list, g, top, n, true);
	if (t->list.count == 0 && rows > 1)
		grid_put(g, top + 1, 2, g->cols - 2, ROLE_DIM,
			 ui->hide_kernel || ui->hide_user ? "no samples; frames are hidden (K, U)"
			 : bycpu_chosen(ui) && bycpu_missing(ui) ? bycpu_missing(ui)
			 : t->samples ? "the filter keeps none: Esc clears it, F4 changes it"
			 : ui->measure == MEASURE_OFF ? "no waits yet"
						      : "no samples yet");
}

bool functable_details(const struct functable *t, bool source, struct grid *g, int row)
{
	const struct functable_row *at = t->list.count ? &t->rows[t->list.cursor] : NULL;
	struct framedetails d = {.source = source};

	if (!at)
		return false;
	d.func = at->func;
	d.self = percent_of(at->self, t->samples);
	d.total = percent_of(at->total, t->samples);
	framedetails_draw(&d, g, row);
	return true;
}

/* --- the view ------------------------------------------------------------------------------ */

static void *funcs_open(void)
{
	return functable_new();
}

static void funcs_close(void *state)
{
	functable_free(state);
}

static int funcs_load(struct ui *ui, const struct profile *p)
{
	struct functable *t = ui->state[VIEW_FUNCS];
	struct query q;

	if (ui_query(ui, p, &q)) {
		q.by_module = ui->by_file && !ui->zoom.in_module;
		return functable_load(t, p, &q, ui);
	}
	functable_clear(t);
	return 0;
}

static int funcs_sort(struct ui *ui)
{
	struct functable *t = ui->state[VIEW_FUNCS];
	bool found;

	functable_sort(t);
	found = t->list.count && t->rows[t->list.cursor].hash == t->cursor;
	/* In the list of another process a place far down means nothing. */
	if (ui_zoom_changed(ui, t->about, sizeof(t->about)) && !found)
		list_anew(&t->list);
	hold(t);
	if (ui->follow)
		t->list.chosen = t->list.scrolled = t->list.count != 0;
	return 0;
}

static void funcs_draw(struct ui *ui, struct grid *g, int top, int rows)
{
	struct functable *t = ui->state[VIEW_FUNCS];

	functable_draw(ui, t, g, top + 1, rows - 1, true);
	ui_draw_zoom(ui, g, top, ui_draw_samples(ui, g, top, t->samples, &t->list),
		     functable_function(t));
}

static const struct column *funcs_columns(int *count, const struct ui *ui, int *sorted)
{
	const struct functable *t = ui->state[VIEW_FUNCS];

	*count = FUNCTABLE_COLUMNS;
	*sorted = (int)t->sorted;
	return place_columns(ui, ui->state[VIEW_FUNCS]);
}

static unsigned int funcs_sort_by(struct ui *ui, int column)
{
	struct functable *t = ui->state[VIEW_FUNCS];

	t->sorted = (enum functable_column)column;
	t->inverted = false;
	return UI_RESORT;
}

/* What has no meaning for a file, or does something else; 0: the action is none of these. */
static unsigned int file_key(struct ui *ui, enum action action)
{
	const struct profile_func *file = functable_function(ui->state[VIEW_FUNCS]);

	switch (action) {
	case ACTION_CODE:
		return file && file->module[0] ? ui_zoom_module(ui, file->module) : 0;
	case ACTION_ANNOTATE:
	case ACTION_BUTTERFLY:
		ui_notice(ui, "that is of a function: Enter shows those of the file");
		return UI_REDRAW;
	default:
		return 0;
	}
}

static unsigned int sum(struct ui *ui, bool by_file)
{
	ui->by_file = by_file;
	ui_notice(ui, "%s",
		  by_file && ui->zoom.in_module ? "by file, as soon as no module is zoomed into"
		  : by_file ? "a row for each source file and object: Enter shows its functions"
			    : "a row for each function");
	return UI_RELOAD;
}

unsigned int funcs_sum(struct ui *ui, const char *by)
{
	if (strcmp(by, "file") != 0 && strcmp(by, "function") != 0) {
		ui_notice(ui, "sum by what? :sum file, or :sum function");
		return UI_REDRAW;
	}
	return sum(ui, by[1] == 'i') | ui_go(ui, VIEW_FUNCS);
}

static unsigned int funcs_key(struct ui *ui, enum action action)
{
	struct functable *t = ui->state[VIEW_FUNCS];
	unsigned int flags;

	if (list_move(&t->list, action)) {
		hold(t);
		return UI_REDRAW;
	}
	if (t->by_file && (flags = file_key(ui, action)))
		return flags;
	switch (action) {
	case ACTION_SUM:
		return sum(ui, !ui->by_file);
	case ACTION_LEFT:
		t->scroll -= t->scroll ? SCROLL_STEP : 0;
		return UI_REDRAW;
	case ACTION_RIGHT:
		t->scroll += t->scroll < SCROLL_MAX ? SCROLL_STEP : 0;
		return UI_REDRAW;
	case ACTION_INVERT:
		t->inverted = !t->inverted;
		return UI_RESORT;
	case ACTION_SORT_SELF:
		return funcs_sort_by(ui, t->sorted == FUNCTABLE_SELF ? FUNCTABLE_TOTAL
								     : FUNCTABLE_SELF);
	case ACTION_FOLLOW:
		return UI_RESORT;
	case ACTION_BACK:
		return ui_zoom_out(ui);
	case ACTION_ZOOM_MODULE:
		return t->list.count ? ui_zoom_module(ui, t->rows[t->list.cursor].func->module) : 0;
	case ACTION_SAME_NAME:
		return search_func(ui, functable_function(t));
	default:
		return 0;
	}
}

static unsigned int funcs_find(struct ui *ui, int step, bool here)
{
	struct functable *t = ui->state[VIEW_FUNCS];

	if (!LIST_FIND(&t->list, step, here, i, search_matches_func(ui, t->rows[i].func)))
		return 0;
	hold(t);
	return UI_REDRAW;
}

static unsigned int funcs_select(struct ui *ui, uint64_t func)
{
	struct functable *t = ui->state[VIEW_FUNCS];

	if (!LIST_FIND(&t->list, 1, true, i, t->rows[i].hash == func))
		return 0;
	hold(t);
	return UI_REDRAW;
}

static unsigned int funcs_place(struct ui *ui, struct view_place *place, bool back)
{
	struct functable *t = ui->state[VIEW_FUNCS];

	if (!back) {
		place->list[0] = t->list;
		place->id[0] = t->cursor;
		return 0;
	}
	list_restore(&t->list, &place->list[0]);
	t->cursor = place->id[0];
	return UI_RESORT;
}

static int funcs_plain(const struct ui *ui, struct plain_list *list)
{
	const struct functable *t = ui->state[VIEW_FUNCS];
	const struct column *shown = columns_of(ui->scrub.diff);
	const bool total = t->sorted == FUNCTABLE_TOTAL;
	const struct functable_painter painter = {ui, t};
	char of[320];

	ui_zoom_name(ui, of, sizeof(of));
	snprintf(list->title, sizeof(list->title), "%s of %s by %s, %% of %s",
		 t->by_file ? "Source files and objects" : "Functions", of, shown[t->sorted].title,
		 plain_samples(ui, t->samples));
	for (size_t i = 0; i < t->list.count; i++) {
		const struct functable_row *from = &t->rows[i];
		struct plain_row *row;

		/* By self: the tree has those that only call others. */
		if (!total && !from->self)
			continue;
		row = plain_list_add(list, from->hash,
				     percent_of(total ? from->total : from->self, t->samples));
		if (!row)
			continue;
		plain_func(from->func, row->name, sizeof(row->name));
		plain_row_few(ui, row, total ? from->total : from->self);
		plain_row_columns(row, shown, FUNCTABLE_COLUMNS, hidden_by_user(ui, shown),
				  cell_text, &painter, from);
	}
	return 0;
}

static const struct profile_func *funcs_function(const struct ui *ui)
{
	return functable_function(ui->state[VIEW_FUNCS]);
}

static bool funcs_details(const struct ui *ui, struct grid *g, int row)
{
	return functable_details(ui->state[VIEW_FUNCS], false, g, row);
}

const struct view_ops funcs_view = {
	.title = "Funcs",
	.open = funcs_open,
	.close = funcs_close,
	.load = funcs_load,
	.sort = funcs_sort,
	.draw = funcs_draw,
	.key = funcs_key,
	.find = funcs_find,
	.place = funcs_place,
	.columns = funcs_columns,
	.sort_by = funcs_sort_by,
	.function = funcs_function,
	.details = funcs_details,
	.select = funcs_select,
	.plain = funcs_plain,
};
