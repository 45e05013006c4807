/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_APP_QUESTIONS_H
#define STACKTOP_TUI_APP_QUESTIONS_H

/* Questions on the last line. All return enum ui_flags. */

#include "tui/screen/keys.h"

struct ui;

/* Asks for the text that the action needs; 0: it needs none. */
unsigned int questions_ask(struct ui *ui, enum action action);
/* How to answer the open question; NULL: its own words say so. */
const char *questions_help(const struct ui *ui);
/* Does the action with the text as the answer to its question. */
unsigned int questions_answer(struct ui *ui, enum action action, const char *text);
/* A key for the open question. */
unsigned int questions_key(struct ui *ui, int key);

#endif
