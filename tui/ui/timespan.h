/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_TIMESPAN_H
#define STACKTOP_TUI_UI_TIMESPAN_H

/*
 * The span of time that figures are of (the window, all since zero, or decaying samples), and how
 * often they are refreshed. ui_span and ui_weighed return what is chosen now (tui/ui/ui.h).
 * Functions with a result return enum ui_flags.
 */

#include <stdbool.h>

#include "tui/query/query.h"

struct ui;

/* What a view shows while it is not frozen. CPUs and threads are only known in the window,
 * whatever was chosen. */
enum span timespan_weighed(const struct ui *ui);
/* All since zero is chosen, or the window. */
void timespan_total(struct ui *ui, bool total);

/* Sets the names of a window of that length. */
void timespan_name(struct ui *ui, unsigned int seconds);
/* All counts are zero from now on. */
unsigned int timespan_zero(struct ui *ui);
/* From the window to all since zero, to decaying samples, and around; a notice says why if it
 * cannot. */
unsigned int timespan_weigh(struct ui *ui);
/* The next longer interval of refreshes (+1), or shorter one (-1). */
unsigned int timespan_pace(struct ui *ui, int step);
/* Sets the seconds between two refreshes. */
void timespan_refresh(struct ui *ui, double seconds);
/* The window becomes so long, as far as the profile allows. */
unsigned int timespan_window(struct ui *ui, unsigned int seconds);

#endif
