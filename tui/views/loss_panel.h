/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_LOSS_PANEL_H
#define STACKTOP_TUI_VIEWS_LOSS_PANEL_H

/* The books of Unwind: where each sample and each tick is, and what the walks cost. */

#include "tui/views/walk_ends.h"
#include "tui/screen/grid.h"

#define LOSS_PANEL_LINES 3

/* At most LOSS_PANEL_LINES lines, what matters most first. */
void loss_panel_draw(const struct walk_ends *e, struct grid *g, int top, int rows);

#endif
