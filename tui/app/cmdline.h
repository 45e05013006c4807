/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_APP_CMDLINE_H
#define STACKTOP_TUI_APP_CMDLINE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The commands behind `:`. Every action is one, by its name; what follows the name answers the
 * question that its key asks. Besides: the views by their names, zoom, tag, inspect, annotate and
 * sort with the name of what they are about, set, theme, bind, unbind, save and a few short forms.
 */

struct ui;

/* Does it; returns enum ui_flags. What is wrong is said as a notice. */
unsigned int cmdline_run(struct ui *ui, const char *text);
/* The words besides the actions, from 0 on, and what each does; NULL: there are no more. Static. */
const char *cmdline_word(size_t at, const char **help);
/*
 * Completes the word before the prompt's end, and says what it could be; false: to this question
 * nothing is known.
 */
bool cmdline_complete(struct ui *ui);

#endif
