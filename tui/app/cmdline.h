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

/* Runs the command; returns enum ui_flags. A notice says what is wrong. */
unsigned int cmdline_run(struct ui *ui, const char *text);
/* Word `at` of those that are no actions, and what it does; NULL behind the last. Static. */
const char *cmdline_word(size_t at, const char **help);
/*
 * Completes the word at the end of the prompt, and shows what it could be; false: this question has
 * no completion.
 */
bool cmdline_complete(struct ui *ui);

#endif
