/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_UNWIND_PROCS_H
#define STACKTOP_TUI_VIEWS_UNWIND_PROCS_H

/*
 * The upper table of Unwind chooses the stacks of the lower ones: all processes, then what is not
 * shown of any, then each process, those with most incomplete stacks first.
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

struct unwind_procs {
	const struct walk_ends *endings; /* of the last load; the caller keeps them */
	int *scopes; /* UNWIND_REASONS_ALL, UNWIND_REASONS_LOST, then processes by index */
	struct list list;
	int fixed; /* UNWIND_REASONS_ALL or _LOST is under the cursor, or 0: it is (pid, image) */
	pid_t pid;
	uint64_t image;
	bool gone; /* what the cursor was on is not there any more */
	enum scope_column sorted;
	bool inverted;
};

/* Zeroed, except for `fixed` and `sorted`, it is an empty table. */
void unwind_procs_free(struct unwind_procs *t);
/* Makes and sorts the rows of processes that the filter keeps; the cursor stays on its process.
 * -ENOMEM. */
int unwind_procs_load(struct unwind_procs *t, const struct walk_ends *e,
		      const struct filter *filter);
/* Call it when the cursor was moved. */
void unwind_procs_hold(struct unwind_procs *t);
/* What is under the cursor: index of a process, or ENDTABLE_*. */
int unwind_procs_chosen(const struct unwind_procs *t);
/* The process under the cursor; NULL: it is none. */
const struct walk_end_proc *unwind_procs_proc(const struct unwind_procs *t);
const struct column *unwind_procs_columns(void);
void unwind_procs_draw(const struct ui *ui, struct unwind_procs *t, struct grid *g, int top,
		       int rows);
/* To the next row that matches the search; false: there is none. */
bool unwind_procs_find(struct ui *ui, struct unwind_procs *t, int step, bool here);

#endif
