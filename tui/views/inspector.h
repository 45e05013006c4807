/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_INSPECTOR_H
#define STACKTOP_TUI_VIEWS_INSPECTOR_H

/*
 * The screen on which a captured walk is gone through step by step: its frames, the stack memory
 * of the step, what was looked up where, and what came of it.
 */

#include "tui/profile/inspection.h"
#include "tui/profile/procstate.h"
#include "tui/screen/list.h"
#include "tui/ui/ui.h"

struct inspector {
	bool open;
	pid_t pid; /* the process to catch a walk of */
	unsigned int reason;
	bool gone;		  /* that process has exited */
	struct profile_proc proc; /* what is known of it; pid 0: nothing yet */
	struct procstate state;	  /* while it is waited for; pid 0: not known */
	uint64_t asked;		  /* CLOCK_MONOTONIC ns */
	struct inspection *shown; /* NULL: it has not come yet */
	struct list frames;
};

/* A zeroed struct is a closed one. */
void inspector_free(struct inspector *i);
/* Asks the source for a walk of the process that ends for the reason (enum walk_reason; 0: any). */
void inspector_ask(struct ui *ui, struct inspector *i, pid_t pid, unsigned int reason);
/* The lock is held. */
void inspector_load(struct inspector *i, const struct profile *p);
/* A walk of the chosen process has not come yet, and may come. */
bool inspector_waits(const struct inspector *i);
void inspector_draw(const struct ui *ui, struct inspector *i, struct grid *g, int top, int rows);
unsigned int inspector_key(struct ui *ui, struct inspector *i, enum action action);
bool inspector_find(struct ui *ui, struct inspector *i, int step, bool here);

/* A walk of the process may come: it is neither gone nor a kernel thread. */
bool inspector_hopes(const struct inspector *i);
/* Why none has come, in words; "": it was asked for a moment ago. */
void inspector_tell_wait(const struct ui *ui, const struct inspector *i, char *to, size_t size);
void inspector_draw_wait(const struct ui *ui, const struct inspector *i, struct grid *g, int top,
			 int rows);

/* The step from a frame to its caller in words, a line each, for the screen and for tests. Returns
 * how many of the INSPECTOR_LINES were written. */
#define INSPECTOR_LINES 24
#define INSPECTOR_WIDTH 640
int inspector_words(const struct inspection *i, uint32_t frame,
		    char lines[INSPECTOR_LINES][INSPECTOR_WIDTH]);

#endif
