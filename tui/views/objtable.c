// SPDX-License-Identifier: GPL-2.0-or-later
/* See objtable.h. */
#include "tui/views/objtable.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/text.h"
#include "tui/ui/plain_list.h"
#include "tui/util/share.h"

#define NS_PER_SEC     1000000000ULL
#define NOW_NS	       (2 * NS_PER_SEC) /* marks are looked at once a second */
#define BUILD_ID_CHARS 12
#define LAYOUT_LABEL   6

const struct column objtable_columns[OBJTABLE_COLUMNS] = {
	[OBJTABLE_MARK] = {.title = "", .min = 2, .max = 2, .keep = true},
	[OBJTABLE_KEY] = COLUMN("KEY", 5, 5, 0, false, true, SORTS_UP, "KEY: where it lies", ""),
	[OBJTABLE_WORDS] = COLUMN("WORDS", 10, 11, 0, true, false, SORTS_DOWN,
				  "WORDS in this shard", "%s words"),
	[OBJTABLE_PROCS] = COLUMN("PROCS", 7, 7, 0, true, false, SORTS_DOWN, "PROCS that map it",
				  "mapped by %s"),
	[OBJTABLE_USED] = COLUMN("USED", 6, 8, 0, true, false, SORTS_UP, "USED: last sample", ""),
	[OBJTABLE_STATE] =
		COLUMN("STATE", 8, 9, 0, false, false, SORTS_DOWN, "STATE of the table", "%s"),
	[OBJTABLE_MISSED] =
		COLUMN("MISS s", 7, 8, 0, true, false, SORTS_DOWN, "MISS: s without table", ""),
	[OBJTABLE_RATIO] =
		COLUMN("B/CFI", 6, 7, 0, true, false, SORTS_DOWN, "B/CFI: bytes per byte", ""),
	[OBJTABLE_ROWS] =
		COLUMN("ROWS", 9, 11, 0, true, false, SORTS_DOWN, "ROWS of the table", ""),
	[OBJTABLE_DERIVED] =
		COLUMN("DERIV%", 7, 8, 0, true, false, SORTS_DOWN, "DERIV%: rows from code", "%s"),
	[OBJTABLE_BUILD_ID] = {.title = "BUILD ID",
			       .min = 9,
			       .max = BUILD_ID_CHARS + 1,
			       .words = ""},
	[OBJTABLE_NAME] = COLUMN("OBJECT", 13, 400, 4, false, true, SORTS_UP, "OBJECT", ""),
};

void objtable_free(struct objtable *t)
{
	free(t->rows);
}

void objtable_number(char *to, size_t size, uint64_t n)
{
	char digits[24];
	size_t length = (size_t)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);
	size_t at = 0;

	for (size_t i = 0; i < length && at + 2 < size; i++) {
		to[at++] = digits[i];
		if ((length - i) % 3 == 1 && i + 1 < length)
			to[at++] = ',';
	}
	to[at] = '\0';
}

void objtable_age(char *to, size_t size, uint64_t ns)
{
	unsigned long long s = ns / NS_PER_SEC;

	if (s < 120)
		snprintf(to, size, "%llus", s);
	else if (s < 7200)
		snprintf(to, size, "%llum", s / 60);
	else if (s < 172800)
		snprintf(to, size, "%lluh", s / 3600);
	else
		snprintf(to, size, "%llud", s / 86400);
}

/* --- rows ---------------------------------------------------------------------------------- */

static void add_row(struct objtable *t, uint32_t index, uint32_t word)
{
	t->rows[t->list.count++] = (struct objrow){
		.object = &t->inventory->objects[index],
		.index = index,
		.word = word,
		.key = '-',
	};
}

/* In the order of the words, so that keys are given from left to right. */
static int add_blocks(struct objtable *t)
{
	static const char keys[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	const struct inventory *inv = t->inventory;
	uint32_t *row_of = malloc(((size_t)inv->nobjects + 1) * sizeof(*row_of));

	if (!row_of)
		return -ENOMEM;
	memset(row_of, 0xff, ((size_t)inv->nobjects + 1) * sizeof(*row_of));
	for (uint32_t i = 0; i < inv->nblocks; i++) {
		const struct inventory_block *b = &inv->blocks[i];

		if (b->word >> SHARD_SHIFT != (uint32_t)t->shard)
			continue;
		if (row_of[b->object] == UINT32_MAX) {
			row_of[b->object] = (uint32_t)t->list.count;
			add_row(t, b->object, b->word & SHARD_MASK);
			t->rows[t->list.count - 1].key =
				keys[(t->list.count - 1) % (sizeof(keys) - 1)];
		}
		t->rows[row_of[b->object]].words += b->words;
	}
	free(row_of);
	return 0;
}

static double ratio(const struct inventory_object *o)
{
	return o->cfi_bytes ? (double)o->words * sizeof(uint32_t) / (double)o->cfi_bytes : 0;
}

/* Percent of the rows that were derived from machine code. */
static double derived(const struct inventory_object *o)
{
	return o->rows ? 100 * (double)o->derived / (double)o->rows : 0;
}

static int compare_by(enum objtable_column column, const struct objrow *a, const struct objrow *b)
{
	switch (column) {
	case OBJTABLE_WORDS:
		return most_first((double)a->words, (double)b->words);
	case OBJTABLE_PROCS:
		return most_first(a->object->processes, b->object->processes);
	case OBJTABLE_USED:
		return most_first((double)a->object->sampled, (double)b->object->sampled);
	case OBJTABLE_STATE: /* pinned ones first */
		return most_first(a->object->pinned * 8 + (int)a->object->state,
				  b->object->pinned * 8 + (int)b->object->state);
	case OBJTABLE_MISSED:
		return most_first((double)a->object->missed, (double)b->object->missed);
	case OBJTABLE_RATIO:
		return most_first(ratio(a->object), ratio(b->object));
	case OBJTABLE_ROWS:
		return most_first(a->object->rows, b->object->rows);
	case OBJTABLE_DERIVED:
		return most_first(derived(a->object), derived(b->object));
	case OBJTABLE_NAME:
		return strcmp(a->object->name, b->object->name);
	default:
		return most_first(b->word, a->word);
	}
}

static int compare(const void *x, const void *y, void *arg)
{
	const struct objrow *a = x, *b = y;
	const struct objtable *t = arg;
	int result = compare_by(t->sorted, a, b);

	if (result)
		return t->inverted ? -result : result;
	result = compare_by(OBJTABLE_KEY, a, b);
	return result ? result : (a->index > b->index) - (a->index < b->index);
}

int objtable_load(struct objtable *t, const struct inventory *inventory, int shard,
		  const struct filter *filter)
{
	int err = 0;

	if (shard != t->shard)
		t->list = (struct list){0};
	free(t->rows);
	t->shard = shard;
	t->inventory = inventory;
	t->list.count = 0;
	t->rows = calloc((size_t)inventory->nobjects + 1, sizeof(*t->rows));
	if (!t->rows)
		return -ENOMEM;
	for (uint32_t i = 0; shard == OBJTABLE_HOMELESS && i < inventory->nobjects; i++)
		if (inventory->objects[i].state != INVENTORY_READY)
			add_row(t, i, i);
	if (shard >= 0)
		err = add_blocks(t);
	t->nrows = t->list.count;
	t->list.count = 0;
	/* The layout shows all objects: what is not kept stays behind the rows of the list. */
	for (size_t i = 0; i < t->nrows; i++) {
		struct objrow row = t->rows[i];

		if (!filter_keeps_text(filter, row.object->name))
			continue;
		t->rows[i] = t->rows[t->list.count];
		t->rows[t->list.count++] = row;
	}
	if (t->list.count)
		qsort_r(t->rows, t->list.count, sizeof(*t->rows), compare, t);
	for (size_t i = 0; t->list.chosen && i < t->list.count; i++)
		if (t->rows[i].object->id == t->id)
			t->list.cursor = i;
	t->list.pins = true;
	list_follow(&t->list);
	objtable_hold(t);
	return err;
}

void objtable_hold(struct objtable *t)
{
	if (t->list.cursor < t->list.count)
		t->id = t->rows[t->list.cursor].object->id;
}

const struct inventory_object *objtable_chosen(const struct objtable *t)
{
	return t->list.cursor < t->list.count ? t->rows[t->list.cursor].object : NULL;
}

static void build_id_text(const struct inventory_object *o, char to[2 * BUILD_ID_MAX + 1])
{
	to[0] = '\0';
	for (size_t i = 0; i < o->build_id_size; i++)
		sprintf(to + 2 * i, "%02x", o->build_id[i]);
}

bool objtable_matches(const struct ui *ui, const struct inventory_object *o)
{
	char id[2 * BUILD_ID_MAX + 1];

	build_id_text(o, id);
	return search_matches(ui, o->name) || search_matches(ui, id);
}

/* --- drawing ------------------------------------------------------------------------------- */

struct objtable_painter { /* of rows */
	const struct ui *ui;
	uint64_t now;
};

static void cell_used(const struct objtable_painter *p, const struct inventory_object *o,
		      struct column_cell *c)
{
	if (!o->sampled) {
		cell_say(c, "never");
		c->role = ROLE_DIM;
	} else if (o->sampled + NOW_NS >= p->now) {
		cell_say(c, "now");
		c->role = ROLE_OK;
	} else {
		objtable_age(c->text, sizeof(c->text), p->now - o->sampled);
	}
}

static void cell_state(const struct inventory_object *o, struct column_cell *c)
{
	static const struct {
		const char *brief, *words;
	} states[] = {
		[INVENTORY_READY] = {"ready", "in place"},
		[INVENTORY_QUEUED] = {"queued", "about to be built"},
		[INVENTORY_EVICTED] = {"evicted", "evicted: comes back when it is sampled"},
		[INVENTORY_FAILED] = {"failed", "failed: unreadable, or larger than the budget"},
		[INVENTORY_REFUSED] = {"refused", "refused: more CFI than any real file has"},
	};

	if (!c->g) {
		cell_say(c, "%s%s", states[o->state].words, o->pinned ? ", pinned" : "");
		return;
	}
	c->role = o->pinned ? ROLE_TAG : o->state == INVENTORY_READY ? ROLE_TEXT : ROLE_WARN;
	cell_say(c, "%s",
		 o->pinned && o->state == INVENTORY_READY ? "pinned" : states[o->state].brief);
}

static void cell_number(uint64_t n, struct column_cell *c)
{
	if (c->g)
		objtable_number(c->text, sizeof(c->text), n);
	else
		cell_say(c, "%llu", (unsigned long long)n);
}

/* Nothing where all rows are those of CFI, as in most files. */
static void cell_derived(const struct inventory_object *o, struct column_cell *c)
{
	if (o->derived)
		cell_say(c, c->g ? "%.1f" : "%.1f%% of the rows derived from machine code",
			 derived(o));
	else if (c->g)
		cell_say(c, "-");
	c->role = ROLE_DIM;
}

static void cell_text(const void *table, const void *from, int column, struct column_cell *c)
{
	const struct objtable_painter *p = table;
	const struct objrow *row = from;
	const struct inventory_object *o = row->object;
	char id[2 * BUILD_ID_MAX + 1];

	switch ((enum objtable_column)column) {
	case OBJTABLE_MARK:
		if (c->g && o->pinned)
			grid_put(c->g, c->y, 1, 1, ROLE_TAG, "p");
		break;
	case OBJTABLE_KEY:
		c->role = ROLE_TITLE;
		cell_say(c, "%c", row->key);
		break;
	case OBJTABLE_WORDS:
		cell_number(row->words, c);
		break;
	case OBJTABLE_PROCS:
		c->role = o->processes ? ROLE_TEXT : ROLE_DIM;
		cell_say(c, "%u%s", o->processes,
			 c->g		     ? ""
			 : o->processes == 1 ? " process"
					     : " processes");
		break;
	case OBJTABLE_USED:
		cell_used(p, o, c);
		break;
	case OBJTABLE_STATE:
		cell_state(o, c);
		break;
	case OBJTABLE_MISSED:
		c->role = o->missed ? ROLE_WARN : ROLE_DIM;
		cell_number(o->missed, c);
		break;
	case OBJTABLE_RATIO:
		/* A file without CFI of its own may still have rows, those of its PLT. */
		cell_say(c, o->cfi_bytes && o->words ? "%.2f" : "-", ratio(o));
		break;
	case OBJTABLE_ROWS:
		cell_number(o->rows, c);
		break;
	case OBJTABLE_DERIVED:
		cell_derived(o, c);
		break;
	case OBJTABLE_BUILD_ID:
		c->role = ROLE_DIM;
		build_id_text(o, id);
		cell_say(c, "%.*s", c->width, id);
		break;
	default:
		c->width += c->last;
		c->role = objtable_matches(p->ui, o) ? ROLE_MATCH : ROLE_MODULE;
		cell_say(c, "%s", o->name);
		break;
	}
}

void objtable_draw(const struct ui *ui, struct objtable *t, struct grid *g, int top, int rows,
		   bool active)
{
	struct objtable_painter painter = {.ui = ui};
	int width[OBJTABLE_COLUMNS], n;

	if (rows < 1)
		return;
	painter.now = t->inventory ? t->inventory->time : 0;
	columns_fit(objtable_columns, OBJTABLE_COLUMNS, g->cols,
		    config_hidden(&ui->config, VIEW_SHARDS, objtable_columns, OBJTABLE_COLUMNS),
		    width);
	columns_header(g, top, objtable_columns, OBJTABLE_COLUMNS, width, (int)t->sorted,
		       t->inverted);
	n = list_fit(&t->list, rows);
	for (int i = 0; i < n; i++)
		columns_row(g, top + 1 + i, objtable_columns, OBJTABLE_COLUMNS, width, cell_text,
			    &painter, &t->rows[list_at(&t->list, i)]);
	list_draw_range(&t->list, g, top);
	list_draw_scroll(&t->list, g, top + 1, n, g->cols - 1);
	if (active)
		list_mark(&t->list, g, top, n, true);
	if (t->list.count == 0 && rows > 1)
		grid_put(g, top + 1, 2, g->cols - 2, ROLE_DIM,
			 t->nrows ? "the filter keeps none" : "it has no objects");
}

/* --- in words ------------------------------------------------------------------------------ */

#define OBJECT_KEY 0x100000000ull /* above the numbers of shards */

static int by_words(const void *x, const void *y)
{
	const struct objrow *a = x, *b = y;

	if (a->words != b->words)
		return a->words < b->words ? 1 : -1;
	return (a->object->id > b->object->id) - (a->object->id < b->object->id);
}

int objtable_plain(const struct inventory *inv, const struct ui *ui, struct plain_list *list)
{
	const double all = (double)inv->nshards * SHARD_WORDS;
	const struct objtable_painter painter = {ui, inv->time};
	struct objrow *rows = calloc((size_t)inv->nobjects + 1, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < inv->nobjects; i++)
		rows[i] =
			(struct objrow){.object = &inv->objects[i], .words = inv->objects[i].words};
	qsort(rows, inv->nobjects, sizeof(*rows), by_words);
	for (uint32_t i = 0; i < inv->nobjects; i++) {
		struct plain_row *row =
			plain_list_add(list, OBJECT_KEY + rows[i].object->id,
				       all > 0 ? 100 * (double)rows[i].words / all : 0);
		char name[80];

		if (!row)
			continue;
		text_clean(name, sizeof(name), rows[i].object->name,
			   strnlen(rows[i].object->name, sizeof(rows[i].object->name)));
		snprintf(row->name, sizeof(row->name), "table of %s", name);
		plain_row_columns(
			row, objtable_columns, OBJTABLE_COLUMNS,
			config_hidden(&ui->config, VIEW_SHARDS, objtable_columns, OBJTABLE_COLUMNS),
			cell_text, &painter, &rows[i]);
	}
	free(rows);
	return 0;
}

/* --- the layout ---------------------------------------------------------------------------- */

struct tally { /* of what lies in a cell */
	uint32_t words, most, run;
	uint32_t object; /* of which most is */
	uint32_t last;
};

static void tally_add(struct tally *c, uint32_t object, uint32_t words)
{
	c->words += words;
	c->run = object == c->last ? c->run + words : words;
	c->last = object;
	if (c->run > c->most) {
		c->most = c->run;
		c->object = object;
	}
}

static const struct objrow *row_of(const struct objtable *t, uint32_t object)
{
	for (size_t i = 0; i < t->nrows; i++)
		if (t->rows[i].index == object)
			return &t->rows[i];
	return NULL;
}

static void draw_cell(const struct objtable *t, struct grid *g, int row, int col,
		      const struct tally *c, uint32_t room, bool free_behind, bool active)
{
	const struct objrow *r = 2 * (uint64_t)c->words >= room ? row_of(t, c->object) : NULL;
	const struct inventory_object *chosen = objtable_chosen(t);

	if (r)
		grid_printf(g, row, col, 1,
			    active && r->object == chosen ? ROLE_CURSOR
			    : (uint32_t)r->key & 1	  ? ROLE_USER
							  : ROLE_MODULE,
			    "%c", r->key);
	else
		grid_put(g, row, col, 1, free_behind ? ROLE_DIM : ROLE_WARN,
			 free_behind ? "." : "#");
}

void objtable_draw_layout(const struct objtable *t, struct grid *g, int row, bool active)
{
	const struct inventory *inv = t->inventory;
	int cells = g->cols - 2 * LAYOUT_LABEL - 6;
	uint32_t i = 0, end = 0;

	if (t->shard < 0 || cells < 1)
		return;
	for (uint32_t b = 0; b < inv->nblocks; b++) {
		if (inv->blocks[b].word >> SHARD_SHIFT == (uint32_t)t->shard)
			end = (inv->blocks[b].word & SHARD_MASK) + inv->blocks[b].words;
		else if (inv->blocks[b].word >> SHARD_SHIFT < (uint32_t)t->shard)
			i = b + 1;
	}
	grid_right(g, row, 0, LAYOUT_LABEL, ROLE_DIM, "0");
	grid_put(g, row, LAYOUT_LABEL, 1, ROLE_BORDER, grid_glyph(g, GLYPH_VLINE));
	for (int cell = 0; cell < cells; cell++) {
		uint32_t from =
			(uint32_t)((uint64_t)SHARD_WORDS * (uint32_t)cell / (uint32_t)cells);
		uint32_t to =
			(uint32_t)((uint64_t)SHARD_WORDS * (uint32_t)(cell + 1) / (uint32_t)cells);
		struct tally c = {.last = UINT32_MAX};

		for (; i < inv->nblocks; i++) {
			uint32_t first = inv->blocks[i].word & SHARD_MASK;
			uint32_t last = first + inv->blocks[i].words;

			if (inv->blocks[i].word >> SHARD_SHIFT != (uint32_t)t->shard || first >= to)
				break;
			tally_add(&c, inv->blocks[i].object,
				  (last < to ? last : to) - (first > from ? first : from));
			if (last > to) /* goes on in the next cell */
				break;
		}
		draw_cell(t, g, row, LAYOUT_LABEL + 1 + cell, &c, to - from,
			  from + (to - from) / 2 >= end, active);
	}
	grid_put(g, row, LAYOUT_LABEL + 1 + cells, 1, ROLE_BORDER, grid_glyph(g, GLYPH_VLINE));
	grid_put(g, row, LAYOUT_LABEL + 2 + cells, 10, ROLE_DIM, "1,048,575");
}
