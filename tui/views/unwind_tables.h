/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_UNWIND_TABLES_H
#define STACKTOP_TUI_VIEWS_UNWIND_TABLES_H

/* What Unwind shows: the ends of walks, and the tables of them. */

#include "tui/screen/columns.h"
#include "tui/profile/reasons.h"
#include "tui/query/query.h"
#include "tui/ui/names.h"
#include "tui/screen/list.h"
#include "tui/ui/filter.h"
#include "tui/ui/ui.h"

struct plain_list;

/*
 * What Unwind shows, copied out of the profile: how the walks of each process ended and where, and
 * what became of the samples and ticks that are not shown.
 */

struct walk_end {			 /* walks of a process that ended alike */
	uint32_t proc;			 /* index in procs */
	const struct profile_func *end;	 /* NULL: complete */
	const struct profile_func *last; /* the outermost frame that was reached; NULL: none */
	uint64_t place;			 /* of it; see profile_stack.place */
	uint64_t samples;
};

struct walk_end_proc {
	struct profile_proc proc;
	uint32_t first, count; /* its rows, the most frequent first */
	uint64_t walks, complete;
	uint64_t guessed;		   /* of those that are not complete */
	const struct profile_func *reason; /* of most of the incomplete; NULL: all are complete */
};

struct walk_ends {
	struct names *names;
	struct walk_end *rows;
	size_t nrows;
	struct walk_end_proc *procs;
	size_t nprocs;
	struct profile_health health; /* over the span that is shown */
};

/* A zeroed struct is empty. */
void walk_ends_free(struct walk_ends *e);
/* The lock is held. -ENOMEM leaves it empty. */
int walk_ends_load(struct walk_ends *e, const struct profile *p, const struct query *q);
double walk_ends_rate(const struct walk_ends *e, uint64_t n);

/* A line of the loss panel: a count of samples or ticks, and why they are not shown. */
struct entry_line {
	uint64_t count;
	struct cause cause;
	bool normal; /* no warning needed */
	bool within; /* shown, but not in full: not to be added up */
	bool walks;  /* user stacks, which are shown */
};

#define WALK_ENDS_LINES (LOSS_COUNT + 6)

/* Fills at most WALK_ENDS_LINES lines, of the span that is shown; returns how many. */
size_t walk_ends_lines(const struct walk_ends *e, struct entry_line *lines);
/* Complete user stacks whose end is proved, not only marked by a frame pointer. */
uint64_t walk_ends_proved(const struct walk_ends *e);
/* Samples that are in a cell of the profile. */
uint64_t walk_ends_shown(const struct walk_ends *e);

/*
 * The two lower tables of Unwind: how the stacks of a process ended (or what became of the samples
 * that are not shown), and at which functions those ended that ended alike.
 */

#define UNWIND_REASONS_ALL  (-1) /* instead of the index of a process */
#define UNWIND_REASONS_LOST (-2)

enum unwind_reasons_column {
	UNWIND_REASONS_MARK,
	UNWIND_REASONS_SAMPLES,
	UNWIND_REASONS_SHARE,
	UNWIND_REASONS_RATE,
	UNWIND_REASONS_BAR,
	UNWIND_REASONS_NAME,
	UNWIND_REASONS_MODULE,
	UNWIND_REASONS_PLACE,
	UNWIND_REASONS_COLUMNS,
};

struct endrow {
	uint64_t hash; /* the same row in every refresh */
	const char *name, *module;
	const struct profile_func *end;	 /* of a reason; NULL: complete, or none */
	const struct profile_func *func; /* of a place; NULL: none */
	const struct cause *cause;
	uint64_t samples;
	uint64_t place, most;		 /* most: samples of the row that place is from */
	const struct profile_proc *proc; /* in words: that with most samples of a reason */
	enum role role;
};

struct unwind_reasons {
	bool places;		     /* else reasons */
	bool lost;		     /* the rows are what was not shown, not walks */
	const struct filter *filter; /* rows are of the processes that it keeps; NULL: of all */
	struct endrow *rows;
	size_t room;
	struct entry_line lines[WALK_ENDS_LINES];
	struct list list;
	uint64_t hash; /* of the row under the cursor */
	uint64_t whole;
	double seconds;
	enum unwind_reasons_column sorted;
	bool inverted;
};

/* Zeroed, except for `places` and `sorted`, it is an empty table. */
void unwind_reasons_free(struct unwind_reasons *t);
/* The reasons of a process (index, or UNWIND_REASONS_*); or where its walks ended for that reason,
 * NULL: the complete ones. e has to stay. -ENOMEM. */
int unwind_reasons_load(struct unwind_reasons *t, const struct walk_ends *e, int proc,
			const struct profile_func *reason);
void unwind_reasons_clear(struct unwind_reasons *t);
/* Call it when the cursor was moved. */
void unwind_reasons_hold(struct unwind_reasons *t);
/* The row under the cursor; NULL: there is none. */
const struct endrow *unwind_reasons_chosen(const struct unwind_reasons *t);
const struct column *unwind_reasons_columns(const struct unwind_reasons *t);
/* active: keys go to this table; cursor: it is shown. */
void unwind_reasons_draw(const struct ui *ui, struct unwind_reasons *t, struct grid *g, int top,
			 int rows, bool active, bool cursor);
/*
 * In words: how the stacks of the processes that the filter keeps ended, of one (index) or
 * UNWIND_REASONS_ALL, and then what was lost. -ENOMEM.
 */
int unwind_reasons_plain(const struct walk_ends *e, const struct ui *ui, int proc,
			 struct plain_list *list);
/* To the next row that matches the search; false: there is none. */
bool unwind_reasons_find(struct ui *ui, struct unwind_reasons *t, int step, bool here);

/*
 * The upper table of Unwind chooses the stacks of the lower ones: all processes, then what is not
 * shown of any, then each process, those with most incomplete stacks first.
 */

enum scope_column {
	SCOPE_MARK,
	SCOPE_PID,
	SCOPE_WALKS,
	SCOPE_COMPLETE,
	SCOPE_BROKEN,
	SCOPE_RATE,
	SCOPE_GUESSED,
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
/* What is under the cursor: index of a process, or UNWIND_REASONS_*. */
int unwind_procs_chosen(const struct unwind_procs *t);
/* The process under the cursor; NULL: it is none. */
const struct walk_end_proc *unwind_procs_proc(const struct unwind_procs *t);
extern const struct column unwind_procs_columns[SCOPE_COLUMNS];
void unwind_procs_draw(const struct ui *ui, struct unwind_procs *t, struct grid *g, int top,
		       int rows);
/* To the next row that matches the search; false: there is none. */
bool unwind_procs_find(struct ui *ui, struct unwind_procs *t, int step, bool here);

#endif
