/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_APP_SETUP_H
#define STACKTOP_TUI_APP_SETUP_H

/* The setup screen: settings, the columns of each view, and keys. */

#include "tui/ui/config.h"

struct ui;

/* Over the screen; returns enum ui_flags. */
unsigned int setup_open(struct ui *ui);
/* Warns of each column in `hide` that its view does not have or cannot hide. */
void setup_check(const struct ui *ui, config_warn_fn warn, void *arg);
/* The setting of that name in ui->config takes effect; returns enum ui_flags. */
unsigned int setup_apply(struct ui *ui, const char *name);

#endif
