/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_UNWIND_REASONS_H
#define STACKTOP_TUI_VIEWS_UNWIND_REASONS_H

/*
 * The two lower tables of Unwind: how the stacks of a process ended (or what became of the samples
 * that are not shown), and at which functions those ended that ended alike.
 */

#include "tui/screen/columns.h"
#include "tui/views/walk_ends.h"
#include "tui/screen/list.h"
#include "tui/ui/ui.h"

#define ENDTABLE_ALL  (-1) /* instead of the index of a process */
#define ENDTABLE_LOST (-2)

enum endtable_column {
	ENDTABLE_MARK,
	ENDTABLE_SAMPLES,
	ENDTABLE_SHARE,
	ENDTABLE_RATE,
	ENDTABLE_BAR,
	ENDTABLE_NAME,
	ENDTABLE_MODULE,
	ENDTABLE_PLACE,
	ENDTABLE_COLUMNS,
};

struct endrow {
	uint64_t hash; /* the same row in every refresh */
	const char *name, *module;
	const struct profile_func *end; /* of a reason; NULL: complete, or none */
	const struct cause *cause;
	uint64_t samples;
	uint64_t place, most; /* most: samples of the row that place is from */
	enum role role;
};

struct endtable {
	bool places; /* else reasons */
	struct endrow *rows;
	size_t room;
	struct entry_line lines[ENDINGS_LINES];
	struct list list;
	uint64_t hash; /* of the row under the cursor */
	uint64_t whole;
	double seconds;
	enum endtable_column sorted;
	bool inverted;
};

/* A zeroed struct is an empty table, but for `places` and `sorted`. */
void endtable_free(struct endtable *t);
/* The reasons of a process (index, or ENDTABLE_*); e has to stay. -ENOMEM. */
int endtable_reasons(struct endtable *t, const struct endings *e, int proc);
/* Where the walks of that process ended for that reason; NULL: the complete ones. -ENOMEM. */
int endtable_places(struct endtable *t, const struct endings *e, int proc,
		    const struct profile_func *reason);
void endtable_clear(struct endtable *t);
/* Call it when the cursor was moved. */
void endtable_hold(struct endtable *t);
/* The row under the cursor; NULL: there is none. */
const struct endrow *endtable_chosen(const struct endtable *t);
const struct column *endtable_columns(const struct endtable *t);
/* active: keys go to this table; cursor: it is shown. */
void endtable_draw(const struct ui *ui, struct endtable *t, struct grid *g, int top, int rows,
		   bool active, bool cursor);
/* To the next row that matches the search; false: there is none. */
bool endtable_find(struct ui *ui, struct endtable *t, int step, bool here);

#endif
