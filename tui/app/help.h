/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_APP_HELP_H
#define STACKTOP_TUI_APP_HELP_H

/* The help screen: the keys of the view first, made from the table of keys, then the columns. */

#include <stdbool.h>

#include "tui/screen/grid.h"
#include "tui/screen/viewlist.h"

struct history;
struct keymap;
struct profile_health;
struct ui;

/* Over the screen; returns enum ui_flags. */
unsigned int help_open(struct ui *ui);
bool help_is_open(const struct ui *ui);

/* What it is about: the keys of that view as they are bound (NULL: as in the table), and the
 * memory of the history and of maps as it was when it was last looked at. */
struct help_subject {
	enum ui_view view;
	const struct keymap *keys;
	const struct profile_health *last;
	const struct history *kept;
};

/* Draws the whole grid from line `first` on; returns the largest `first` that still fills the
 * grid. */
int help_draw(struct grid *g, int first, const struct help_subject *subject);

#endif
