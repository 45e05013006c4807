/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_WALK_ENDS_H
#define STACKTOP_TUI_VIEWS_WALK_ENDS_H

/*
 * What Unwind shows, copied out of the profile: how the walks of each process ended and where, and
 * what became of the samples and ticks that are not shown.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/profile/reasons.h"
#include "tui/ui/names.h"
#include "tui/query/query.h"

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
};

#define WALK_ENDS_LINES (LOSS_COUNT + 5)

/* Fills at most WALK_ENDS_LINES lines, of the span that is shown; returns how many. */
size_t walk_ends_lines(const struct walk_ends *e, struct entry_line *lines);
/* Samples that are in a cell of the profile. */
uint64_t walk_ends_shown(const struct walk_ends *e);
/* Of all that should have been shown. */
uint64_t walk_ends_lost(const struct walk_ends *e);

#endif
