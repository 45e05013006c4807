/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_HEADER_H
#define STACKTOP_TUI_UI_HEADER_H

/* The lines on top: what is measured, how, what was lost, and what it costs. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/screen/grid.h"
#include "tui/profile/profile.h"

#define TIMELINE_MAX 640 /* slices: ten minutes of seconds, and a margin */

struct ui;
struct zone;

/* The timeline of what is in view, if that is not everything: CPU use by slice, at its number
 * modulo TIMELINE_MAX. */
struct scope_line {
	bool on;	/* not everything is in view */
	bool waits;	/* slices that are kept have not been counted yet */
	uint64_t scope; /* what was counted: another one starts over */
	uint64_t slice[TIMELINE_MAX];
	float use[TIMELINE_MAX];
};

/* Where the time of the threads in view went, by slice, likewise; in shares of UINT16_MAX. */
struct state_line {
	uint64_t scope;
	uint64_t slice[TIMELINE_MAX];
	uint16_t share[TIMELINE_MAX][WAIT_CAUSES];
};

/* What the header shows, copied from the profile. */
struct header {
	struct profile_health last;
	struct profile_health sum; /* over the window */
	bool replayed;		   /* replay is valid */
	struct profile_replay replay;
	uint64_t slices;
	float timeline[TIMELINE_MAX]; /* of slices up to number `slices`; < 0: not known */
	size_t ntimeline;
	struct scope_line line;
	struct state_line states;
	struct cpu_use use[CPU_USE_MAX]; /* of slice `last`; none: not known */
	size_t nuse;
	uint64_t use_time; /* of that slice */
};

/* The lock is held. */
void header_load(struct header *h, const struct profile *p);
/* Only the timeline; the lock is held. */
void header_load_timeline(struct header *h, const struct profile *p);
/* What the CPUs did in the slice of h->last; the lock is held. */
void header_load_use(struct header *h, const struct profile *p);
/*
 * The timeline becomes that of what is in view. Counts new slices only, and so much at a time that
 * a key does not wait: line.waits says that there is more. The lock is held.
 */
void header_load_scope(struct ui *ui, const struct profile *p);
/* Draws title, meters, timeline, tabs and chips at the top; returns the rows used. */
int header_draw(const struct ui *ui, struct grid *g);
/* True if the loss is large enough to distort shares: some ticks are always late. */
bool header_tells(const struct profile_health *health, enum loss loss);
/* One line for losses, by cause and with a remedy; false: nothing was lost lately. */
bool header_loss(const struct header *h, char *to, size_t size);
/* A table of stacktop's own that is full or nearly so, with a remedy; false: there is none. */
bool header_full(const struct header *h, enum measure measure, char *to, size_t size);
/* stacktop's own tables and times, at the top of a view about these that has so many rows. Returns
 * the rows used. */
int header_draw_tables(const struct ui *ui, struct grid *g, int row, int rows);
/* The number of the slice at a column of the timeline, which the zone is. */
uint64_t header_slice_at(const struct ui *ui, const struct zone *zone, int col);

#endif
