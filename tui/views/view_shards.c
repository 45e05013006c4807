// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shards: where the unwind tables stand, which processes use them, and what had no room. A stack
 * that says "no table for pc" leads here: the table was evicted, waits to be built, or cannot be
 * built.
 */
#include "tui/ui/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "tui/profile/board.h"
#include "tui/profile/source.h"
#include "tui/screen/hints.h"
#include "tui/views/objtable.h"
#include "tui/ui/plain_list.h"
#include "tui/ui/selection.h"
#include "tui/util/share.h"

#define MIB_PER_SHARD (SHARD_BYTES >> 20)
#define FULL_GAP      (SHARD_WORDS / 64) /* half of a C library's table does not fit */
#define FIXED_ROWS    5			 /* sum, two headers, title and layout */
#define SMALL_ROWS    8			 /* with less only one of the lists is shown */
#define BAR_MIN	      12
#define BAR_MAX	      60

enum shards_column {
	SHARDS_MARK,
	SHARDS_NUMBER,
	SHARDS_BAR,
	SHARDS_USED,
	SHARDS_WORDS_,
	SHARDS_OBJECTS,
	SHARDS_STATE,
	SHARDS_EVICTED,
	SHARDS_GENERATION,
	SHARDS_AGE,
	SHARDS_COLUMNS,
};

static const struct column columns[SHARDS_COLUMNS] = {
	[SHARDS_MARK] = {.title = "", .min = 2, .max = 2, .keep = true},
	[SHARDS_NUMBER] = {.title = "#", .min = 5, .max = 6, .right = true, .keep = true},
	[SHARDS_BAR] = {.title = "OCCUPANCY", .min = BAR_MIN, .max = BAR_MAX, .weight = 4},
	[SHARDS_USED] = {.title = "USED", .min = 7, .max = 8, .right = true, .keep = true},
	[SHARDS_WORDS_] = {.title = "WORDS", .min = 10, .max = 11, .right = true},
	[SHARDS_OBJECTS] = {.title = "OBJS", .min = 6, .max = 7, .right = true},
	[SHARDS_STATE] = {.title = "STATE", .min = 12, .max = 13},
	[SHARDS_EVICTED] = {.title = "EVICTED", .min = 8, .max = 9, .right = true},
	[SHARDS_GENERATION] = {.title = "GEN", .min = 5, .max = 6, .right = true},
	[SHARDS_AGE] = {.title = "AGE", .min = 5, .max = 6, .right = true},
};

struct shard_row { /* first..last are shards that are not created, or one; or OBJTABLE_HOMELESS */
	int first, last;
};

struct shards_view {
	struct inventory *inventory; /* NULL: none yet */
	struct inventory *taken;     /* takes its place when the rows are made */
	struct shard_row *rows;
	struct list list;
	int number;  /* of the shard under the cursor, or OBJTABLE_HOMELESS */
	bool inside; /* keys go to the objects */
	struct objtable objects;
};

static void *shards_open(void)
{
	struct shards_view *v = calloc(1, sizeof(*v));

	if (v)
		v->objects.sorted = OBJTABLE_KEY;
	return v;
}

static void shards_close(void *state)
{
	struct shards_view *v = state;

	if (!v)
		return;
	objtable_free(&v->objects);
	inventory_put(v->inventory);
	inventory_put(v->taken);
	free(v->rows);
	free(v);
}

static int shards_load(struct ui *ui, const struct profile *p)
{
	struct shards_view *v = ui->state[VIEW_SHARDS];

	if (ui->frozen)
		return 0;
	board_want_inventory(profile_board(ui->profile), ui->now);
	inventory_put(v->taken);
	v->taken = board_inventory(profile_board(p));
	return 0;
}

/* --- rows ---------------------------------------------------------------------------------- */

static uint32_t count_homeless(const struct inventory *inv)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < inv->nobjects; i++)
		n += inv->objects[i].state != INVENTORY_READY;
	return n;
}

/* What is not created yet is one row, however much it is. */
static void make_rows(struct shards_view *v)
{
	const struct inventory *inv = v->inventory;
	int n = (int)inv->nshards;

	v->list.count = 0;
	for (int i = 0; i < n; i++) {
		struct shard_row *row = &v->rows[v->list.count++];

		row->first = row->last = i;
		while (!inv->shards[i].created && row->last + 1 < n &&
		       !inv->shards[row->last + 1].created)
			row->last++;
		i = row->last;
	}
	if (count_homeless(inv))
		v->rows[v->list.count++] = (struct shard_row){OBJTABLE_HOMELESS, OBJTABLE_HOMELESS};
}

static void place_cursor(struct shards_view *v)
{
	for (size_t i = 0; i < v->list.count; i++)
		if (v->rows[i].first <= v->number && v->number <= v->rows[i].last)
			v->list.cursor = i;
	list_settle(&v->list, v->list.page);
	if (v->list.count &&
	    (v->number < v->rows[v->list.cursor].first || v->number > v->rows[v->list.cursor].last))
		v->number = v->rows[v->list.cursor].first;
}

static bool is_one(const struct shards_view *v, const struct shard_row *row)
{
	return row->first == OBJTABLE_HOMELESS || v->inventory->shards[row->first].created;
}

static int load_objects(const struct ui *ui, struct shards_view *v)
{
	const struct shard_row *row = &v->rows[v->list.cursor];
	int err = objtable_load(&v->objects, v->inventory,
				is_one(v, row) ? row->first : OBJTABLE_NOTHING,
				&ui->selection->filter);

	/* The keys go where there is something. */
	if (!v->objects.list.count)
		v->inside = false;
	return err;
}

static int shards_sort(struct ui *ui)
{
	struct shards_view *v = ui->state[VIEW_SHARDS];
	struct inventory *now = v->taken ? v->taken : v->inventory, *before = NULL;
	struct shard_row *rows;
	int err;

	if (!now)
		return 0;
	rows = realloc(v->rows, ((size_t)now->nshards + 1) * sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	v->rows = rows;
	if (v->taken) {
		before = v->inventory;
		v->inventory = v->taken;
		v->taken = NULL;
	}
	make_rows(v);
	place_cursor(v);
	err = load_objects(ui, v);
	/* The rows of the objects led into it until now. */
	inventory_put(before);
	return err;
}

/* --- drawing ------------------------------------------------------------------------------- */

/* Whether it says which of the shards are shown. */
static bool draw_sum(const struct shards_view *v, struct grid *g, int row)
{
	const struct inventory *inv = v->inventory;
	uint64_t words = 0, all = (uint64_t)inv->nshards * SHARD_WORDS;
	unsigned int created = 0;
	char used[32], budget[32], text[160];
	char range[LIST_RANGE];
	int n, width, col, end;

	for (unsigned int i = 0; i < inv->nshards; i++) {
		words += inv->shards[i].words;
		created += inv->shards[i].created;
	}
	objtable_number(used, sizeof(used), words);
	objtable_number(budget, sizeof(budget), all);
	n = snprintf(text, sizeof(text), " %s of %s words %.1f%%  %u of %u MiB", used, budget,
		     percent_of(words, all), created * MIB_PER_SHARD, inv->nshards * MIB_PER_SHARD);
	if (inv->left_out)
		snprintf(text + n, sizeof(text) - (size_t)n, "  (%llu objects not shown)",
			 (unsigned long long)inv->left_out);
	col = 1 + grid_put(g, row, 1, 4, ROLE_TEXT, "all ");
	/* The titles below leave no room for it. */
	list_range(&v->list, range);
	end = g->cols - grid_width(g, range) - 2;
	if (col + grid_width(g, text) > end)
		end = g->cols;
	else
		grid_put(g, row, end + 1, g->cols - end - 1, ROLE_DIM, range);
	width = end - col - grid_width(g, text) - 1;
	width = width > BAR_MAX ? BAR_MAX : width;
	if (width >= BAR_MIN) {
		grid_bar(g, row, col, width, ROLE_MODULE, share_of(words, all));
		col += width;
	}
	grid_put(g, row, col, end - col, ROLE_TEXT, text);
	return end < g->cols;
}

/* Of what is not created, and of what has no shard, nothing is measured. */
static void cell_text(const void *table, const void *from, int column, struct column_cell *c)
{
	const struct shards_view *v = table;
	const struct shard_row *row = from;
	const bool homeless = row->first == OBJTABLE_HOMELESS;
	const struct inventory_shard *s =
		!homeless && is_one(v, row) ? &v->inventory->shards[row->first] : NULL;
	const bool full = s && s->largest < FULL_GAP;

	if (!s && column != SHARDS_NUMBER && column != SHARDS_OBJECTS && column != SHARDS_STATE)
		return;
	switch ((enum shards_column)column) {
	case SHARDS_NUMBER:
		if (homeless)
			cell_say(c, "-");
		else
			cell_say(c, row->first == row->last ? "%d" : "%d-%d", row->first,
				 row->last);
		break;
	case SHARDS_BAR:
		grid_bar(c->g, c->y, c->col, c->width, ROLE_MODULE,
			 share_of(s->words, SHARD_WORDS));
		break;
	case SHARDS_USED:
		cell_say(c, "%.1f%%", percent_of(s->words, SHARD_WORDS));
		break;
	case SHARDS_WORDS_:
		objtable_number(c->text, sizeof(c->text), s->words);
		break;
	case SHARDS_OBJECTS:
		c->role = s ? ROLE_TEXT : homeless ? ROLE_WARN : ROLE_DIM;
		objtable_number(c->text, sizeof(c->text),
				s	   ? s->objects
				: homeless ? count_homeless(v->inventory)
					   : 0);
		break;
	case SHARDS_STATE:
		c->role = full || homeless ? ROLE_WARN : s ? ROLE_OK : ROLE_DIM;
		cell_say(c, "%s",
			 full	    ? "full"
			 : s	    ? "filling"
			 : homeless ? "no table"
				    : "not created");
		break;
	case SHARDS_EVICTED:
		c->role = s->evictions ? ROLE_WARN : ROLE_DIM;
		objtable_number(c->text, sizeof(c->text), s->evictions);
		break;
	case SHARDS_GENERATION:
		cell_say(c, "%u", s->generation);
		break;
	case SHARDS_AGE:
		objtable_age(c->text, sizeof(c->text), v->inventory->time - s->since);
		break;
	default:
		break;
	}
}

static void draw_shards(const struct ui *ui, struct shards_view *v, struct grid *g, int top,
			int rows)
{
	int width[SHARDS_COLUMNS], n;

	if (rows < 1)
		return;
	columns_fit(columns, SHARDS_COLUMNS, g->cols,
		    config_hidden(&ui->config, VIEW_SHARDS, columns, SHARDS_COLUMNS), width);
	columns_header(g, top, columns, SHARDS_COLUMNS, width, -1, false);
	n = list_fit(&v->list, rows);
	for (int i = 0; i < n; i++)
		columns_row(g, top + 1 + i, columns, SHARDS_COLUMNS, width, cell_text, v,
			    &v->rows[v->list.top + (size_t)i]);
	list_draw_scroll(&v->list, g, top + 1, n, g->cols - 1);
	list_mark(&v->list, g, top, n, !v->inside);
}

static void draw_title(const struct ui *ui, const struct shards_view *v, struct grid *g, int row)
{
	static const struct hint outside[] = {{ACTION_INSIDE, ACTION_NONE, "objects"},
					      {ACTION_RESET, ACTION_NONE, "resets (asks)"}};
	static const struct hint inside[] = {{ACTION_BACK, ACTION_NONE, "shards"},
					     {ACTION_DROP, ACTION_NONE, "drops"},
					     {ACTION_PIN, ACTION_NONE, "pins"}};
	const struct shard_row *at = &v->rows[v->list.cursor];
	char text[128];

	if (at->first == OBJTABLE_HOMELESS)
		snprintf(text, sizeof(text), " Without a table: evicted, queued or failed ");
	else if (!is_one(v, at))
		snprintf(text, sizeof(text), " Not created: nothing needed it yet ");
	else
		snprintf(text, sizeof(text), " Layout of shard %d: # hole  . free ", at->first);
	hints_heading(&ui->config.keys, v->inside ? inside : outside, v->inside ? 3 : 2, g, row,
		      text);
}

static bool shards_waits(const struct ui *ui)
{
	const struct shards_view *v = ui->state[VIEW_SHARDS];

	return !v->inventory && !ui->frozen && !ui->header.replayed;
}

static void shards_draw(struct ui *ui, struct grid *g, int top, int rows)
{
	struct shards_view *v = ui->state[VIEW_SHARDS];
	int above;

	above = header_draw_tables(ui, g, top, rows);
	top += above;
	rows -= above;
	if (!v->inventory || !v->list.count) {
		grid_put(g, top, 2, g->cols - 2, ROLE_TITLE,
			 ui->header.replayed ? "This session has no shards yet."
			 : ui->frozen
				 ? "Shards were not read before the view was frozen: z resumes."
				 : "The shards are being read.");
		return;
	}
	if (rows < SMALL_ROWS) {
		if (v->inside)
			objtable_draw(ui, &v->objects, g, top, rows, true);
		else
			draw_shards(ui, v, g, top, rows);
		if (!v->inside)
			list_draw_range(&v->list, g, top);
		return;
	}
	above = (rows - FIXED_ROWS) / 2;
	above = above > (int)v->list.count ? (int)v->list.count : above;
	draw_shards(ui, v, g, top + 1, above + 1);
	if (!draw_sum(v, g, top++))
		list_draw_range(&v->list, g, top);
	top += above + 1;
	draw_title(ui, v, g, top++);
	objtable_draw_layout(&v->objects, g, top++, v->inside);
	objtable_draw(ui, &v->objects, g, top, rows - above - FIXED_ROWS + 1, v->inside);
}

/* --- keys ---------------------------------------------------------------------------------- */

static const struct column *shards_columns(int *count, const struct ui *ui, int *sorted)
{
	const struct shards_view *v = ui->state[VIEW_SHARDS];

	*count = OBJTABLE_COLUMNS;
	*sorted = (int)v->objects.sorted;
	return objtable_columns;
}

static const struct column *shards_table(int at, int *count)
{
	*count = at ? (int)OBJTABLE_COLUMNS : (int)SHARDS_COLUMNS;
	return at == 0 ? columns : at == 1 ? objtable_columns : NULL;
}

static unsigned int shards_sort_by(struct ui *ui, int column)
{
	struct shards_view *v = ui->state[VIEW_SHARDS];

	v->objects.sorted = (enum objtable_column)column;
	v->objects.inverted = false;
	return UI_RESORT;
}

static unsigned int move(struct shards_view *v, enum action action)
{
	if (v->inside) {
		if (!list_move(&v->objects.list, action))
			return 0;
		objtable_hold(&v->objects);
		return UI_REDRAW;
	}
	if (!list_move(&v->list, action))
		return 0;
	v->number = v->list.count ? v->rows[v->list.cursor].first : 0;
	return UI_RESORT;
}

static unsigned int ask_reset(struct ui *ui, const struct shards_view *v)
{
	const struct shard_row *row = v->list.count ? &v->rows[v->list.cursor] : NULL;
	char text[16] = "all";

	if (row && row->first >= 0 && v->inventory->shards[row->first].created)
		snprintf(text, sizeof(text), "%d", row->first);
	prompt_open(&ui->prompt, ACTION_RESET,
		    "Reset shard (a number, or \"all\"; Esc cancels):", text);
	return UI_REDRAW;
}

/* To the object under the cursor; what came of it is a message of the tracker. */
static unsigned int post(struct ui *ui, const struct shards_view *v, enum source_command command)
{
	const struct inventory_object *o = objtable_chosen(&v->objects);
	char arg[32];

	if (!v->inside || !o) {
		ui_notice(ui, "which object? Enter goes to those of the shard");
		return UI_REDRAW;
	}
	snprintf(arg, sizeof(arg), "%llu", (unsigned long long)o->id);
	ui_post(ui, command, arg);
	return UI_REDRAW;
}

static unsigned int shards_key(struct ui *ui, enum action action)
{
	struct shards_view *v = ui->state[VIEW_SHARDS];
	unsigned int flags = move(v, action);

	if (flags)
		return flags;
	switch (action) {
	case ACTION_INSIDE:
		v->inside = v->objects.list.count != 0;
		return UI_REDRAW;
	case ACTION_BACK:
		v->inside = false;
		return UI_REDRAW;
	case ACTION_INVERT:
		v->objects.inverted = !v->objects.inverted;
		return UI_RESORT;
	case ACTION_RESET:
		return ask_reset(ui, v);
	case ACTION_DROP:
		return post(ui, v, SOURCE_DROP);
	case ACTION_PIN:
		return post(ui, v, SOURCE_PIN);
	default:
		return 0;
	}
}

/* From that row of the objects on; true: the cursor is on a match. */
static bool find_inside(struct ui *ui, struct objtable *t, ssize_t at, int step)
{
	for (; at >= 0 && at < (ssize_t)t->list.count; at += step) {
		if (objtable_matches(ui, t->rows[at].object)) {
			list_select(&t->list, (size_t)at);
			objtable_hold(t);
			return true;
		}
	}
	return false;
}

/* Shard by shard, until the one where it began comes round again. */
static unsigned int shards_find(struct ui *ui, int step, bool here)
{
	struct shards_view *v = ui->state[VIEW_SHARDS];
	ssize_t at = (ssize_t)v->objects.list.cursor + (here || !v->inside ? 0 : step);
	bool inside = v->inside;

	for (size_t tried = 0; tried <= v->list.count; tried++) {
		if (find_inside(ui, &v->objects, at, step)) {
			v->inside = true;
			return UI_REDRAW;
		}
		if (tried == v->list.count)
			break;
		list_select(&v->list,
			    (v->list.cursor + v->list.count + (size_t)step) % v->list.count);
		v->number = v->rows[v->list.cursor].first;
		if (load_objects(ui, v))
			return UI_REDRAW;
		at = step > 0 ? 0 : (ssize_t)v->objects.list.count - 1;
	}
	v->inside = inside && v->objects.list.count;
	return 0;
}

static unsigned int shards_place(struct ui *ui, struct view_place *place, bool back)
{
	struct shards_view *v = ui->state[VIEW_SHARDS];

	if (!back) {
		place->list[0] = v->list;
		place->list[1] = v->objects.list;
		place->id[0] = (uint64_t)v->number;
		place->id[1] = v->inside;
		place->id[2] = v->objects.id;
		return 0;
	}
	v->number = (int)place->id[0];
	v->inside = place->id[1];
	list_restore(&v->list, &place->list[0]);
	v->objects.id = place->id[2];
	list_restore(&v->objects.list, &place->list[1]);
	return UI_RESORT;
}

static int shards_plain(const struct ui *ui, struct plain_list *list)
{
	const struct shards_view *v = ui->state[VIEW_SHARDS];
	const struct inventory *inv = v->inventory;
	unsigned int created = 0;
	uint64_t used = 0;

	snprintf(list->title, sizeof(list->title), "Unwind tables");
	snprintf(list->empty, sizeof(list->empty), "The shards are being read.");
	if (!inv)
		return 0;
	for (unsigned int i = 0; i < inv->nshards; i++) {
		const struct inventory_shard *s = &inv->shards[i];
		struct plain_row *row;

		used += s->words;
		if (!s->created)
			continue;
		created++;
		row = plain_list_add(list, i, percent_of(s->words, SHARD_WORDS));
		if (!row)
			continue;
		snprintf(row->name, sizeof(row->name), "of shard %u", i);
		plain_row_add(row, "%u objects, %llu evicted", s->objects,
			      (unsigned long long)s->evictions);
	}
	snprintf(list->title, sizeof(list->title),
		 "Unwind tables, %.1f %% of %u shards in use, %u created; %% of a shard, then %% "
		 "of all by object",
		 percent_of(used, (uint64_t)inv->nshards * SHARD_WORDS), inv->nshards, created);
	return objtable_plain(inv, ui, list);
}

const struct view_ops shards_view = {
	.title = "Shards",
	.open = shards_open,
	.close = shards_close,
	.load = shards_load,
	.sort = shards_sort,
	.draw = shards_draw,
	.key = shards_key,
	.find = shards_find,
	.place = shards_place,
	.waits = shards_waits,
	.plain = shards_plain,
	.columns = shards_columns,
	.table = shards_table,
	.sort_by = shards_sort_by,
};
