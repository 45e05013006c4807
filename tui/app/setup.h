/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_APP_SETUP_H
#define STACKTOP_TUI_APP_SETUP_H

/* The setup screen: settings, columns of each view, and keys, changed where they stand. */

#include <stdbool.h>

#include "tui/ui/config.h"
#include "tui/screen/keys.h"
#include "tui/screen/list.h"

struct grid;
struct ui;

#define SETUP_ROWS 256

struct setup {
	bool open;
	bool changed;	      /* since it was opened */
	enum action catching; /* the next key is for it; ACTION_NONE: no key is waited for */
	struct list list;
	struct setup_row {
		enum setup_kind { SETUP_TITLE, SETUP_SETTING, SETUP_COLUMN, SETUP_KEY } kind;
		enum ui_view view; /* of a column ... */
		int table;	   /* ... and its table there */
		int index;	   /* of the setting or the column; the action */
	} rows[SETUP_ROWS];
};

void setup_open(struct ui *ui);
/* Tells of each column that the settings hide and that no view has, or none that can be hidden. */
void setup_check(const struct ui *ui, config_warn_fn warn, void *arg);
/* Returns enum ui_flags; UI_SAVE when it was left with changes. */
unsigned int setup_key(struct ui *ui, int key);
void setup_draw(struct ui *ui, struct grid *g);

#endif
