/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_OBJTABLE_H
#define STACKTOP_TUI_VIEWS_OBJTABLE_H

/* The objects of one shard: how they lie in it, and a row for each. */

#include "bpf/tracker/inventory.h"
#include "tui/screen/columns.h"
#include "tui/ui/filter.h"
#include "tui/screen/list.h"
#include "tui/ui/ui.h"

struct plain_list;

#define OBJTABLE_HOMELESS (-1) /* instead of a shard: what should have a table and has not */
#define OBJTABLE_NOTHING  (-2)

enum objtable_column {
	OBJTABLE_MARK,
	OBJTABLE_KEY,
	OBJTABLE_WORDS,
	OBJTABLE_PROCS,
	OBJTABLE_USED,
	OBJTABLE_STATE,
	OBJTABLE_MISSED,
	OBJTABLE_RATIO,
	OBJTABLE_ROWS,
	OBJTABLE_DERIVED,
	OBJTABLE_BUILD_ID,
	OBJTABLE_NAME,
	OBJTABLE_COLUMNS,
};

struct objrow {
	const struct inventory_object *object;
	uint32_t index; /* in the inventory */
	uint32_t word;	/* the first in the shard, counted in the shard */
	uint64_t words; /* in the shard */
	char key;	/* in the layout */
};

struct objtable {
	const struct inventory *inventory; /* of the last load; the caller keeps it */
	int shard;
	struct objrow *rows; /* those that the filter keeps come first, and are the list */
	size_t nrows;
	struct list list;
	uint64_t id; /* of the object under the cursor */
	enum objtable_column sorted;
	bool inverted;
};

/* Zeroed, except for `sorted`, it is an empty table. */
void objtable_free(struct objtable *t);
/* The objects of the shard, or OBJTABLE_*, that the filter keeps; the cursor stays on its object.
 * -ENOMEM. */
int objtable_load(struct objtable *t, const struct inventory *inventory, int shard,
		  const struct filter *filter);
/* Call it when the cursor was moved. */
void objtable_hold(struct objtable *t);
/* The object under the cursor; NULL: there is none. */
const struct inventory_object *objtable_chosen(const struct objtable *t);
extern const struct column objtable_columns[OBJTABLE_COLUMNS];
/* active: keys go to this table. */
void objtable_draw(const struct ui *ui, struct objtable *t, struct grid *g, int top, int rows,
		   bool active);
/* The shard as one line of cells. */
void objtable_draw_layout(const struct objtable *t, struct grid *g, int row, bool active);

/* 1234567 as "1,234,567". */
void objtable_number(char *to, size_t size, uint64_t n);
/* "12s", "41m", "3h", "9d". */
void objtable_age(char *to, size_t size, uint64_t ns);
bool objtable_matches(const struct ui *ui, const struct inventory_object *o);
/* The objects of all shards in words, the largest first. -ENOMEM. */
int objtable_plain(const struct inventory *inv, const struct ui *ui, struct plain_list *list);

#endif
