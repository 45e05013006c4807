/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_APP_HELP_H
#define STACKTOP_TUI_APP_HELP_H

/* The help screen, made from the table of keys. */

#include <stdbool.h>

#include "tui/screen/grid.h"

struct history;
struct keymap;
struct profile_health;
struct ui;

/* Over the screen; returns enum ui_flags. */
unsigned int help_open(struct ui *ui);
bool help_is_open(const struct ui *ui);
/* Draws the whole grid from line `first` on; returns the largest `first` that still fills the
 * grid. Keys are shown as they are bound; NULL: as in the table. The last lines are about the
 * memory of the history, and about locked memory. */
int help_draw(struct grid *g, int first, const struct profile_health *last,
	      const struct history *kept, const struct keymap *keys);

#endif
