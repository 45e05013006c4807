/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_LEDGER_H
#define STACKTOP_TUI_LEDGER_H

/* The books of Unwind: where each sample and each tick is, and what the walks cost. */

#include "tui/endings.h"
#include "tui/grid.h"

#define LEDGER_LINES 3

/* At most LEDGER_LINES lines, what matters most first. */
void ledger_draw(const struct endings *e, struct grid *g, int top, int rows);

#endif
