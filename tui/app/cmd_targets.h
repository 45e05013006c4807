/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_APP_CMD_TARGETS_H
#define STACKTOP_TUI_APP_CMD_TARGETS_H

/*
 * Commands with a target by name instead of the cursor: `:zoom 4121`. All return enum ui_flags; a
 * notice says what cannot be found.
 */

struct ui;

/* The process of that PID, or the busiest of that name. */
unsigned int cmd_targets_zoom(struct ui *ui, const char *text);
unsigned int cmd_targets_tag(struct ui *ui, const char *text);
unsigned int cmd_targets_inspect(struct ui *ui, const char *text);
/* The hottest function of that name, of what is zoomed into. */
unsigned int cmd_targets_annotate(struct ui *ui, const char *text);
/* Sorts by the column with a title that begins so, in any case. */
unsigned int cmd_targets_sort(struct ui *ui, const char *text);

#endif
