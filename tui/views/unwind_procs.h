/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_UNWIND_PROCS_H
#define STACKTOP_TUI_VIEWS_UNWIND_PROCS_H

/*
 * The upper table of Unwind: whose stacks the lower ones are about. First all processes, then what
 * is not shown of any, then each process, those with most incomplete stacks first.
 */

#include "tui/views/unwind_reasons.h"
#include "tui/ui/filter.h"

enum scope_column {
	SCOPE_MARK,
	SCOPE_PID,
	SCOPE_WALKS,
	SCOPE_COMPLETE,
	SCOPE_BROKEN,
	SCOPE_RATE,
	SCOPE_REASON,
	SCOPE_COMMAND,
	SCOPE_COLUMNS,
};

struct scopetable {
	const struct endings *endings; /* of the last load; the caller keeps them */
	int *scopes;		       /* ENDTABLE_ALL, ENDTABLE_LOST, then processes by index */
	struct list list;
	int fixed; /* ENDTABLE_ALL or _LOST is under the cursor, or 0: it is (pid, image) */
	pid_t pid;
	uint64_t image;
	bool gone; /* what the cursor was on is not there any more */
	enum scope_column sorted;
	bool inverted;
};

/* A zeroed struct is an empty table, but for `fixed` and `sorted`. */
void scopetable_free(struct scopetable *t);
/* Makes and sorts the rows of processes that the filter keeps; the cursor stays on its process.
 * -ENOMEM. */
int scopetable_load(struct scopetable *t, const struct endings *e, const struct filter *filter);
/* Call it when the cursor was moved. */
void scopetable_hold(struct scopetable *t);
/* What is under the cursor: index of a process, or ENDTABLE_*. */
int scopetable_chosen(const struct scopetable *t);
/* The process under the cursor; NULL: it is none. */
const struct ending_proc *scopetable_proc(const struct scopetable *t);
const struct column *scopetable_columns(void);
void scopetable_draw(const struct ui *ui, struct scopetable *t, struct grid *g, int top, int rows);
/* To the next row that matches the search; false: there is none. */
bool scopetable_find(struct ui *ui, struct scopetable *t, int step, bool here);

#endif
