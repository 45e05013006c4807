/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_APP_STATUSBAR_H
#define STACKTOP_TUI_APP_STATUSBAR_H

/* The two rows below every view. */

struct grid;
struct ui;

/* The most urgent message. */
void statusbar_message(const struct ui *ui, struct grid *g, int row);
/* The function keys as they are bound, as far as there is room. */
void statusbar_footer(const struct ui *ui, struct grid *g, int row);

#endif
