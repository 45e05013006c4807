/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_VIEW_FUNCS_H
#define STACKTOP_TUI_VIEWS_VIEW_FUNCS_H

/* The table of functions: the whole of Funcs and the lower half of Procs. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/screen/columns.h"
#include "tui/screen/list.h"
#include "tui/ui/names.h"
#include "tui/query/query.h"

enum functable_column {
	FUNCTABLE_MARK,
	FUNCTABLE_SELF,
	FUNCTABLE_TOTAL,
	FUNCTABLE_BAR,
	FUNCTABLE_CHANGE,
	FUNCTABLE_SAMPLES,
	FUNCTABLE_KIND,
	FUNCTABLE_FUNC,
	FUNCTABLE_CALLER,
	FUNCTABLE_MODULE,
	FUNCTABLE_SOURCE,
	FUNCTABLE_COLUMNS,
};

struct functable_row {
	const struct profile_func *func; /* of names, or of files */
	uint64_t hash;			 /* the same function in every refresh */
	uint64_t self, total;
	uint64_t before, before_of; /* self and all samples of the time before; 0: not compared */
	const struct profile_func *caller; /* likewise; NULL: none is known */
};

struct functable {
	struct names *names;
	struct functable_row *rows;
	bool by_file; /* rows stand for source files and objects, which have their names */
	struct profile_func *files; /* then: two for each row */
	uint64_t samples;	    /* what 100 % is */
	uint64_t most;		    /* self samples of the row that has most: what a full bar is */
	bool sources;		    /* of some function the source line is known */
	int mark;		    /* cells that the longest mark takes (names_mark) */
	enum functable_column sorted;
	bool inverted;
	struct list list;
	uint64_t cursor;			/* hash of the row under the cursor */
	char about[128];			/* scope of the functions that are shown */
	int scroll;				/* cells that long names are scrolled to the left */
	struct column shown[FUNCTABLE_COLUMNS]; /* as the user put them */
};

struct ui;

/* NULL: no memory. */
struct functable *functable_new(void);
void functable_free(struct functable *t);
/* The rows of a query, unsorted; ui: only those that its filter keeps, NULL: all. The lock is
 * held. -ENOMEM leaves the table empty. */
int functable_load(struct functable *t, const struct profile *p, const struct query *q,
		   const struct ui *ui);
void functable_clear(struct functable *t);
/* Sorts; the cursor stays on its function. */
void functable_sort(struct functable *t);
/* The function under the cursor; NULL: there is none. */
const struct profile_func *functable_function(const struct functable *t);
/* framedetails_draw for the function under the cursor; false: there is none. */
bool functable_details(const struct functable *t, bool source, struct grid *g, int row);
/* `active`: the table has the cursor. */
void functable_draw(const struct ui *ui, struct functable *t, struct grid *g, int top, int rows,
		    bool active);

/* Funcs has rows by "file" or by "function" from now on. Returns enum ui_flags. */
unsigned int funcs_sum(struct ui *ui, const char *by);

#endif
