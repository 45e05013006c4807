/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_HEADER_PRIV_H
#define STACKTOP_TUI_UI_HEADER_PRIV_H

/* The parts of the header. For header*.c only. */

#include "tui/ui/header.h"

/* Text that is shown as a whole or not at all, up to `end`; returns where the next begins. */
int header_piece(struct grid *g, int row, int col, int end, enum role role, const char *text);
/* "lost 0 (why)", up to `end`, and "stacks complete 99.3%", of which `what` is the words; both
 * return where the next begins. */
int header_put_lost(const struct ui *ui, struct grid *g, int row, int col, int end);
int header_put_complete(const struct ui *ui, struct grid *g, int row, int col, const char *what);
/* CPU time of stacktop itself, in percent of a CPU. */
double header_self(const struct ui *ui);

/* --- header_meters.c ------------------------------------------------------------------------- */

/* Shares (0..1) of the CPUs' time: in user mode and in the kernel. False: not known, as in older
 * recordings of an event without time. */
bool header_cpu(const struct header *h, double *user, double *kernel);
/* "faults 29.8k/s": in the unit of the event. */
void header_rate(const struct profile_health *last, char *to, size_t size);
/* Draws a meter for each CPU, and the figures beside or below them; returns the rows used. */
int header_draw_meters(const struct ui *ui, struct grid *g, int row);

/* --- header_timeline.c ----------------------------------------------------------------------- */

/* Draws the timeline in `rows` rows, 1 or 2. */
void header_draw_timeline(const struct ui *ui, struct grid *g, int row, int rows);
/* In columns col..end - 1 of a row; without a mark of its beginning. */
void header_draw_strip(const struct ui *ui, struct grid *g, int row, int col, int end);

#endif
