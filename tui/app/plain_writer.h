/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_APP_PLAIN_WRITER_H
#define STACKTOP_TUI_APP_PLAIN_WRITER_H

/*
 * Writes the list of a view as lines, and the next time only what is new: rows that came, moved by
 * more than a little since they were written, or went. Every line is clean text.
 */

#include <stdbool.h>
#include <stdio.h>

#include "tui/ui/plain_list.h"

struct inspection;

struct plain_writer {
	struct plain_list now;
	struct plain_list said; /* rows as they were written last */
	char chips[512];	/* what changed the numbers then */
};

/* All functions write to a stream in memory, which keeps its own errors. */

/* Time, use of the CPUs, and how far to believe it: one line, and another when what changes the
 * numbers is not what it was. */
void plain_writer_state(struct plain_writer *t, FILE *to, const struct ui *ui);
/* Title and all rows. -ENOMEM. */
int plain_writer_all(struct plain_writer *t, FILE *to, const struct ui *ui);
/* What is new; all of it, if it is about something else than before. -ENOMEM. */
int plain_writer_news(struct plain_writer *t, FILE *to, const struct ui *ui);
/* What is under the cursor; false: the view does not name it. */
bool plain_writer_cursor(const struct ui *ui, char *to, size_t size);

/* A captured walk: its frames, and why frame pointers alone would not have shown it. */
void plain_writer_walk(FILE *to, const struct inspection *walk);
/* How the caller of a frame was found; false: the walk does not have that frame. */
bool plain_writer_step(FILE *to, const struct inspection *walk, unsigned int frame);

#endif
