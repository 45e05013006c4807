/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_EVENTMENU_H
#define STACKTOP_TUI_UI_EVENTMENU_H

/* What drives the sampling, to be chosen while it goes on. Both return enum ui_flags. */

struct ui;

unsigned int eventmenu_open(struct ui *ui);
/* By name. What comes of it is a message of the source. */
unsigned int eventmenu_take(struct ui *ui, const char *name);

#endif
