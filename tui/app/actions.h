/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_APP_ACTIONS_H
#define STACKTOP_TUI_APP_ACTIONS_H

#include "tui/screen/keys.h"

struct ui;

/* Does what a key of that action does, if it works in the view; returns enum ui_flags. */
unsigned int actions_do(struct ui *ui, enum action action);
/* Says in which views a key works that has no action in this one; returns enum ui_flags. */
unsigned int actions_explain(struct ui *ui, int key);
/* The view that ACTION_CYCLE goes to. */
enum ui_view actions_cycled(const struct ui *ui);

#endif
