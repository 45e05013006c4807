/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_STATEBAR_H
#define STACKTOP_TUI_UI_STATEBAR_H

/* A bar of where the time of threads went: a colour for each cause, or a letter without colours. */

#include <stddef.h>

#include "tui/profile/waits.h"

struct grid;
struct time_row;
struct ui;

/* In so many cells; nothing is known: dots. */
void statebar_draw(const struct ui *ui, struct grid *g, int y, int col, int cells,
		   const struct time_row *time);
/* "on 12 %, lock 60 %, sleep 28 %". */
void statebar_words(const struct time_row *time, char *to, size_t size);
/* One cell of a bar. */
void statebar_cell(const struct ui *ui, struct grid *g, int y, int col, enum wait_cause cause);
/* The causes with their colours, as far as there is room in front of column end; only those that
 * the row has (NULL: all). Returns the column behind. */
int statebar_legend(const struct ui *ui, struct grid *g, int y, int col, int end,
		    const struct time_row *time);

#endif
