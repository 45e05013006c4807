/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SCREEN_DELTA_H
#define STACKTOP_TUI_SCREEN_DELTA_H

/* How every view shows that a share differs from that of another time: by an arrow, a sign and a
 * colour. Shares are in percent; before < 0: nothing is compared. */

#include <stddef.h>

#include "tui/screen/grid.h"

/* "▲ +4.1", "= 0.0", "new" if there was nothing before, "-" if nothing is compared. */
void delta_text(const struct grid *g, double now, double before, char *to, size_t size);
/* Small changes are dim. */
enum role delta_role(double now, double before);
/* Into a column, aligned to the right. */
void delta_draw(struct grid *g, int row, int col, int width, double now, double before);

#endif
