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

/* What the header shows, copied from the profile. */
struct header {
	struct profile_health last;
	struct profile_health sum; /* over the window */
	bool replayed;		   /* replay is valid */
	struct profile_replay replay;
	uint64_t slices;
	float timeline[TIMELINE_MAX];
	size_t ntimeline;
};

/* The lock is held. */
void header_load(struct header *h, const struct profile *p);
/* Only the timeline; the lock is held. */
void header_load_timeline(struct header *h, const struct profile *p);
/* Draws title, state and tabs at the top; returns the rows used. */
int header_draw(const struct ui *ui, struct grid *g);
/* True if the loss is large enough to distort shares: some ticks are always late. */
bool header_tells(const struct profile_health *health, enum loss loss);
/* One line for losses, by cause and with a remedy; false: nothing was lost lately. */
bool header_loss(const struct header *h, char *to, size_t size);

#endif
