// SPDX-License-Identifier: GPL-2.0-or-later
/* See unwind_tables.h. */
#include "tui/views/unwind_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "tui/ui/plain_list.h"
#include "tui/ui/selection.h"
#include "tui/views/objtable.h"
#include "tui/util/share.h"

static const struct column reason_columns[UNWIND_REASONS_COLUMNS] = {
	[UNWIND_REASONS_MARK] = {.title = "", .min = 2, .max = 2, .keep = true},
	[UNWIND_REASONS_SAMPLES] =
		COLUMN("SAMPLES", 9, 11, 0, true, true, SORTS_DOWN, "SAMPLES", "%s"),
	[UNWIND_REASONS_SHARE] =
		{.title = "SHARE%", .min = 8, .max = 8, .right = true, .keep = true, .words = ""},
	[UNWIND_REASONS_RATE] =
		{.title = "SMP/s", .min = 7, .max = 8, .right = true, .keep = true, .words = ""},
	[UNWIND_REASONS_BAR] = {.title = "BAR", .min = 9, .max = 15},
	[UNWIND_REASONS_NAME] =
		COLUMN("WHAT HAPPENED", 24, 37, 12, false, true, SORTS_UP, "WHAT HAPPENED", ""),
	[UNWIND_REASONS_MODULE] =
		{.title = "WHAT IT MEANS", .min = 20, .max = 400, .weight = 4, .words = "%s"},
};

static const struct column place_columns[UNWIND_REASONS_COLUMNS] = {
	[UNWIND_REASONS_MARK] = {.title = "", .min = 2, .max = 2, .keep = true},
	[UNWIND_REASONS_SAMPLES] =
		COLUMN("SAMPLES", 9, 11, 0, true, true, SORTS_DOWN, "SAMPLES", NULL),
	[UNWIND_REASONS_SHARE] =
		{.title = "SHARE%", .min = 8, .max = 8, .right = true, .keep = true},
	[UNWIND_REASONS_RATE] = {.title = "SMP/s", .min = 7, .max = 8, .right = true},
	[UNWIND_REASONS_BAR] = {.title = "BAR", .min = 9, .max = 15},
	[UNWIND_REASONS_NAME] =
		COLUMN("LAST FRAME", 18, 400, 4, false, true, SORTS_UP, "LAST FRAME by name", NULL),
	[UNWIND_REASONS_MODULE] = COLUMN("FILE", 14, 28, 1, false, true, SORTS_UP, "FILE", NULL),
	[UNWIND_REASONS_PLACE] = {.title = "AT", .min = 10, .max = 17},
};

void unwind_reasons_free(struct unwind_reasons *t)
{
	free(t->rows);
	t->rows = NULL;
	unwind_reasons_clear(t);
}

void unwind_reasons_clear(struct unwind_reasons *t)
{
	t->list.count = 0;
	t->whole = 0;
}

static int row_compare(const void *x, const void *y, void *arg)
{
	const struct endrow *a = x, *b = y;
	const struct unwind_reasons *t = arg;
	int result = 0;

	if (t->sorted == UNWIND_REASONS_NAME)
		result = strcmp(a->name, b->name);
	else if (t->sorted == UNWIND_REASONS_MODULE)
		result = strcmp(a->module, b->module);
	else
		result = (a->samples < b->samples) - (a->samples > b->samples);
	if (result)
		return t->inverted ? -result : result;
	result = (a->samples < b->samples) - (a->samples > b->samples);
	return result ? result : (a->hash > b->hash) - (a->hash < b->hash);
}

static void settle(struct unwind_reasons *t, const struct walk_ends *e)
{
	t->seconds = (double)e->health.elapsed / 1e9;
	if (t->list.count)
		qsort_r(t->rows, t->list.count, sizeof(*t->rows), row_compare, t);
	for (size_t i = 0; t->list.chosen && i < t->list.count; i++)
		if (t->rows[i].hash == t->hash)
			t->list.cursor = i;
	t->list.pins = true;
	list_follow(&t->list);
	unwind_reasons_hold(t);
}

void unwind_reasons_hold(struct unwind_reasons *t)
{
	if (t->list.cursor < t->list.count)
		t->hash = t->rows[t->list.cursor].hash;
}

const struct endrow *unwind_reasons_chosen(const struct unwind_reasons *t)
{
	return t->list.cursor < t->list.count ? &t->rows[t->list.cursor] : NULL;
}

const struct column *unwind_reasons_columns(const struct unwind_reasons *t)
{
	return t->places ? place_columns : reason_columns;
}

/* --- rows ---------------------------------------------------------------------------------- */

static int by_hash(const void *x, const void *y)
{
	const struct endrow *a = x, *b = y;

	return (a->hash > b->hash) - (a->hash < b->hash);
}

/* Of rows with the same hash there is one then. */
static void merge(struct unwind_reasons *t)
{
	size_t n = 0;

	if (t->list.count)
		qsort(t->rows, t->list.count, sizeof(*t->rows), by_hash);
	for (size_t i = 0; i < t->list.count; i++) {
		struct endrow *from = &t->rows[i], *to = n ? &t->rows[n - 1] : NULL;

		if (!to || to->hash != from->hash) {
			t->rows[n++] = *from;
			continue;
		}
		to->samples += from->samples;
		if (from->most > to->most) {
			to->most = from->most;
			to->place = from->place;
		}
	}
	t->list.count = n;
}

static void add_reason(struct unwind_reasons *t, const struct walk_end *from)
{
	const struct cause *cause =
		from->end ? reasons_find(from->end->name) : reasons_end(WALK_BOTTOM);
	t->rows[t->list.count++] = (struct endrow){
		.hash = from->end ? names_hash(from->end) : 1,
		.name = from->end ? from->end->name : cause->name,
		.module = cause->meaning,
		.end = from->end,
		.cause = cause,
		.samples = from->samples,
		.role = from->end ? ROLE_BROKEN : ROLE_OK,
	};
}

static void add_place(struct unwind_reasons *t, const struct walk_end *from)
{
	t->rows[t->list.count++] = (struct endrow){
		.hash = from->last ? names_hash(from->last) : 1,
		.name = from->last ? from->last->name : "no frame",
		.module = from->last ? from->last->module : "",
		.end = from->end,
		.func = from->last,
		.samples = from->samples,
		.place = from->place,
		.most = from->samples,
		.role = from->last ? ROLE_TEXT : ROLE_DIM,
	};
}

static int load_lines(struct unwind_reasons *t, const struct walk_ends *e)
{
	size_t n = walk_ends_lines(e, t->lines);
	const struct profile_health *h = &e->health;

	if (GROW_TO(t->rows, n, t->room, SIZE_MAX))
		return -ENOMEM;
	t->whole = h->ticks ? h->ticks : h->taken + h->loss[LOSS_THROTTLED];
	for (size_t i = 0; i < n; i++) {
		const struct entry_line *line = &t->lines[i];

		t->rows[t->list.count++] = (struct endrow){
			.hash = i + 1,
			.name = line->cause.name,
			.module = line->cause.meaning,
			.cause = &line->cause,
			.samples = line->count,
			.role = i == 0	       ? ROLE_OK
				: line->normal ? ROLE_DIM
				: line->within ? ROLE_WARN
					       : ROLE_ERROR,
		};
	}
	settle(t, e);
	return 0;
}

int unwind_reasons_load(struct unwind_reasons *t, const struct walk_ends *e, int proc,
			const struct profile_func *reason)
{
	const struct walk_end_proc *one = proc < 0 ? NULL : &e->procs[proc];
	const struct walk_end *rows = one ? e->rows + one->first : e->rows;
	const size_t count = one ? one->count : e->nrows;

	unwind_reasons_clear(t);
	t->lost = proc == UNWIND_REASONS_LOST;
	if (t->lost)
		return load_lines(t, e);
	if (GROW_TO(t->rows, count, t->room, SIZE_MAX))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		if (t->places && rows[i].end != reason)
			continue;
		t->whole += rows[i].samples;
		if (t->places)
			add_place(t, &rows[i]);
		else if (!t->filter || filter_keeps_proc(t->filter, &e->procs[rows[i].proc].proc))
			add_reason(t, &rows[i]); /* shares are of all walks */
	}
	merge(t);
	settle(t, e);
	return 0;
}

/* --- drawing ------------------------------------------------------------------------------- */

struct reasons_painter { /* of rows */
	const struct ui *ui;
	const struct unwind_reasons *t;
};

/* In words: of which process most are, too. */
static void cell_samples(const struct unwind_reasons *t, const struct endrow *row,
			 struct column_cell *c)
{
	size_t n;

	if (c->g) {
		objtable_number(c->text, sizeof(c->text), row->samples);
		return;
	}
	cell_say(c, "%" PRIu64 "%s", row->samples, t->lost ? "" : " stacks");
	n = strlen(c->text);
	if (row->proc)
		snprintf(c->text + n, sizeof(c->text) - n, "; mostly of PID %d %s",
			 (int)row->proc->pid, row->proc->comm);
}

/* In words: what helps, too. */
static void cell_meaning(const struct unwind_reasons *t, const struct endrow *row,
			 struct column_cell *c)
{
	bool remedy = row->cause && row->cause->remedy[0];

	c->role = t->places ? ROLE_MODULE : ROLE_DIM;
	/* Complete stacks need no words. */
	if (!c->g && !row->end && !t->lost)
		return;
	cell_say(c, "%s%s%s", row->module, !c->g && remedy ? "; " : "",
		 !c->g && remedy ? row->cause->remedy : "");
}

static void cell_text(const void *table, const void *from, int column, struct column_cell *c)
{
	const struct reasons_painter *p = table;
	const struct unwind_reasons *t = p->t;
	const struct endrow *row = from;
	double part = share_of(row->samples, t->whole);

	switch ((enum unwind_reasons_column)column) {
	case UNWIND_REASONS_MARK:
		if (c->g && (row->role == ROLE_BROKEN || row->role == ROLE_ERROR))
			grid_put(c->g, c->y, 1, 1, row->role, "!");
		break;
	case UNWIND_REASONS_SAMPLES:
		cell_samples(t, row, c);
		break;
	case UNWIND_REASONS_SHARE:
		c->role = ui_heat(part);
		cell_say(c, "%.1f", 100 * part);
		break;
	case UNWIND_REASONS_RATE:
		cell_say(c, "%.1f", t->seconds > 0 ? (double)row->samples / t->seconds : 0);
		break;
	case UNWIND_REASONS_BAR:
		if (c->g)
			grid_eighths(c->g, c->y, c->col, c->width, row->role, part);
		break;
	case UNWIND_REASONS_NAME:
		c->role = search_matches(p->ui, row->name) ? ROLE_MATCH : row->role;
		cell_say(c, "%s", row->name);
		break;
	case UNWIND_REASONS_MODULE:
		cell_meaning(t, row, c);
		break;
	default:
		c->width += c->last;
		if (row->place && t->places)
			cell_say(c, "0x%" PRIx64, row->place);
		break;
	}
}

void unwind_reasons_draw(const struct ui *ui, struct unwind_reasons *t, struct grid *g, int top,
			 int rows, bool active, bool cursor)
{
	const struct column *columns = unwind_reasons_columns(t);
	const struct reasons_painter painter = {ui, t};
	int width[UNWIND_REASONS_COLUMNS], n;
	unsigned int hidden = t->places ? 0 : 1U << UNWIND_REASONS_PLACE;

	hidden |= config_hidden(&ui->config, VIEW_UNWIND, columns, UNWIND_REASONS_COLUMNS);
	if (rows < 1)
		return;
	columns_fit(columns, UNWIND_REASONS_COLUMNS, g->cols, hidden, width);
	columns_header(g, top, columns, UNWIND_REASONS_COLUMNS, width, (int)t->sorted, t->inverted);
	n = list_fit(&t->list, rows);
	for (int i = 0; i < n; i++)
		columns_row(g, top + 1 + i, columns, UNWIND_REASONS_COLUMNS, width, cell_text,
			    &painter, &t->rows[list_at(&t->list, i)]);
	list_draw_range(&t->list, g, top);
	list_draw_scroll(&t->list, g, top + 1, n, g->cols - 1);
	if (cursor)
		list_mark(&t->list, g, top, n, active);
	if (!t->list.count && rows > 1)
		grid_put(g, top + 1, 2, g->cols - 2, ROLE_DIM, "no walks of user stacks");
}

bool unwind_reasons_find(struct ui *ui, struct unwind_reasons *t, int step, bool here)
{
	bool found = LIST_FIND(&t->list, step, here, i,
			       search_matches(ui, t->rows[i].name) ||
				       search_matches(ui, t->rows[i].module));

	unwind_reasons_hold(t);
	return found;
}

/* --- in words ------------------------------------------------------------------------------ */

#define LOST_KEY 2 /* from here on, lines of losses; no hash of a name is as small */

/* The process with most walks that ended so. The rows of a process stand together. */
static const struct profile_proc *most_of(const struct walk_ends *e, const struct filter *filter,
					  const struct profile_func *end)
{
	const struct profile_proc *found = NULL;
	uint64_t most = 0;

	for (size_t i = 0; i < e->nprocs; i++) {
		const struct walk_end_proc *proc = &e->procs[i];
		uint64_t sum = 0;

		for (uint32_t k = 0; k < proc->count; k++)
			sum += e->rows[proc->first + k].end == end
				       ? e->rows[proc->first + k].samples
				       : 0;
		if (sum > most && filter_keeps_proc(filter, &proc->proc)) {
			most = sum;
			found = &proc->proc;
		}
	}
	return found;
}

static void add_row(const struct reasons_painter *p, const struct endrow *from, uint64_t key,
		    double percent, const char *of, struct plain_list *list)
{
	struct plain_row *row = plain_list_add(list, key, percent);

	if (!row)
		return;
	snprintf(row->name, sizeof(row->name), "%s%s",
		 from->end || p->t->lost ? from->name : "complete", of);
	plain_row_columns(
		row, reason_columns, UNWIND_REASONS_COLUMNS,
		config_hidden(&p->ui->config, VIEW_UNWIND, reason_columns, UNWIND_REASONS_COLUMNS),
		cell_text, p, from);
}

static void add_losses(struct unwind_reasons *t, const struct walk_ends *e, const struct ui *ui,
		       struct plain_list *list)
{
	const struct reasons_painter painter = {ui, t};

	for (size_t i = 0; i < t->list.count; i++) {
		const struct endrow *row = &t->rows[i];
		const struct entry_line *line = &t->lines[row->hash - 1];

		/* Without frame pointers all complete stacks are so by proof. */
		if (line->walks && e->health.complete_fp_walks)
			add_row(&painter, row, LOST_KEY + row->hash,
				percent_of(row->samples, e->health.user_walks), ", of all stacks",
				list);
		if (row->samples && !line->normal)
			add_row(&painter, row, LOST_KEY + row->hash,
				percent_of(row->samples, e->health.samples + row->samples),
				", of all samples", list);
	}
}

int unwind_reasons_plain(const struct walk_ends *e, const struct ui *ui, int proc,
			 struct plain_list *list)
{
	const struct filter *filter = &ui->selection->filter;
	struct unwind_reasons t = {.sorted = UNWIND_REASONS_SAMPLES, .filter = filter};
	const struct reasons_painter painter = {ui, &t};
	int err = unwind_reasons_load(&t, e, proc, NULL);

	for (size_t i = 0; !err && i < t.list.count; i++) {
		struct endrow *row = &t.rows[i];

		if (row->end)
			row->proc = proc < 0 ? most_of(e, filter, row->end) : &e->procs[proc].proc;
		add_row(&painter, row, row->hash, percent_of(row->samples, t.whole), "", list);
	}
	if (!err && proc < 0)
		err = unwind_reasons_load(&t, e, UNWIND_REASONS_LOST, NULL);
	if (!err && proc < 0)
		add_losses(&t, e, ui, list);
	unwind_reasons_free(&t);
	return err;
}
