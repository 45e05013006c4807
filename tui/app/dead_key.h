/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_APP_DEAD_KEY_H
#define STACKTOP_TUI_APP_DEAD_KEY_H

#include "tui/screen/keys.h"

struct ui;

/* Says why a key that works in the view has done nothing there, if there is more to it than that
 * nothing moves at an end; returns enum ui_flags. */
unsigned int dead_key_tell(struct ui *ui, enum action action);
/* The same of a key that works in other views only. */
unsigned int dead_key_tell_unbound(struct ui *ui, int key);

#endif
