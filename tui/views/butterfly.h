/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_BUTTERFLY_H
#define STACKTOP_TUI_VIEWS_BUTTERFLY_H

/* A function between its callers and its callees: an overlay over the rows of the view. */

#include <stdbool.h>

#include "tui/ui/ui.h"

struct profile_func;

/* Opens it for the function, of what is zoomed into; of_row: of the row under the cursor of Procs.
 * If the function's code was opened from a butterfly, goes on in that. */
unsigned int butterfly_open(struct ui *ui, const struct profile_func *func, bool of_row);

#endif
