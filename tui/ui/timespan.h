/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_TIMESPAN_H
#define STACKTOP_TUI_UI_TIMESPAN_H

/*
 * Of how much time the figures are, and how often they are made anew; what is chosen now is said by
 * ui_weigh and ui_weighed. Functions with a result return enum ui_flags that are yet to be seen to.
 */

#include <stdbool.h>

#include "tui/query/query.h"

struct ui;

/* What a view that is not frozen shows, whatever was chosen: CPUs and threads are only known of the
 * window. */
enum span timespan_weighed(const struct ui *ui);
/* All since zero is chosen, or the window. */
void timespan_total(struct ui *ui, bool total);

/* What a window of so many seconds is called from now on. */
void timespan_name(struct ui *ui, unsigned int seconds);
/* All counts are zero from now on. */
unsigned int timespan_zero(struct ui *ui);
/* From the window to all since zero, to what decays, and around; said why not where it cannot. */
unsigned int timespan_weigh(struct ui *ui);
/* The next longer interval of refreshes (+1), or shorter one (-1). */
unsigned int timespan_pace(struct ui *ui, int step);
/* So many seconds between two refreshes. */
void timespan_refresh(struct ui *ui, double seconds);
/* The window becomes so long, as far as the profile allows. */
unsigned int timespan_window(struct ui *ui, unsigned int seconds);

#endif
