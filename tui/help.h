/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_HELP_H
#define STACKTOP_TUI_HELP_H

/* The help screen, made from the table of keys. */

#include "tui/grid.h"

/* Draws from line `first` on into the whole grid but its last row; returns the number of the last
 * first line that makes sense. */
int help_draw(struct grid *g, int first);

#endif
