/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_SCRUB_H
#define STACKTOP_TUI_UI_SCRUB_H

/*
 * Going back in time. A frozen view shows an extract of the profile (FROZEN_MOMENT): the window
 * that ends with the slice under the timeline's cursor, the range between a mark and the cursor, or
 * what was shown when the view froze. Sampling goes on.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/screen/keys.h"
#include "tui/query/query.h"

#define SCRUB_SECONDS 600 /* of history are kept, in its part of memory.h at most */

struct ui;

struct scrub {
	uint64_t at;	 /* number of the slice under the cursor */
	uint64_t mark;	 /* the other end of the range; 0: none */
	uint64_t froze;	 /* the newest slice when the view froze */
	bool weighed;	 /* shows what was counted when it froze, not slices up to `at` */
	bool slices;	 /* the slices of the moment are still kept */
	bool cpus;	 /* those slices have CPUs */
	uint64_t time;	 /* CLOCK_MONOTONIC ns, end of slice `at` */
	uint64_t newest; /* end of the newest slice when it was read last */
	uint64_t mark_time;
	char clock[16];	     /* time of day of slice at; "" not known */
	char shown[32];	     /* the span that is shown, "10 s" */
	uint64_t base[2];    /* slices that are the baseline; 0: it is not of slices */
	char base_name[64];  /* "10 s to 14:03:09"; "" there is no baseline */
	bool diff;	     /* the difference is shown */
	bool dragged;	     /* the last click was on the timeline */
	struct history kept; /* when the timeline was read */
};

/* True for keys that move in time while the view is frozen. */
bool scrub_moves(const struct ui *ui, enum action action);
/* What a key about time means; 0: it is about something else. Returns enum ui_flags. */
unsigned int scrub_act(struct ui *ui, enum action action);
/* Freezes the view at that slice; drag: at the range from where it was before to there. */
unsigned int scrub_point(struct ui *ui, uint64_t slice, bool drag);
/* A session becomes the baseline, as soon as it is read; its difference is shown from then on. */
unsigned int scrub_baseline(struct ui *ui, const char *path);
/* What the header shows of a frozen view; the lock is held. */
void scrub_load(struct ui *ui, struct profile *p);
/* A recording has gone on behind a frozen view; the lock is held. */
void scrub_wait(struct ui *ui, const struct profile *p);
/* "-12s" or "-2m28s", with the range that is marked, "-30s..-12s"; empty before the first slice. */
void scrub_age(const struct ui *ui, char *to, size_t size);

#endif
