/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_APP_QUESTIONS_H
#define STACKTOP_TUI_APP_QUESTIONS_H

/* Questions on the last line; what becomes of an answer is ui_answer's. */

#include "tui/screen/keys.h"

struct ui;

/* Asks what the action has to know; returns enum ui_flags, 0 when it asks nothing. */
unsigned int questions_ask(struct ui *ui, enum action action);
/* How the question that is asked is to be answered; NULL: its own words say so. */
const char *questions_help(const struct ui *ui);
/* A key for the question that is asked; flags likewise. */
unsigned int questions_key(struct ui *ui, int key);

#endif
