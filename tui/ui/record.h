/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_RECORD_H
#define STACKTOP_TUI_UI_RECORD_H

/* Sessions of what is seen: `w NAME.session` keeps the history, `:record NAME` goes on with it. */

#include <stdbool.h>

struct ui;

/* True if the name ends in ".session". */
bool record_is_session(const char *path);
/* Saves the history that is kept to a new session; of a frozen view the range that is marked. */
void record_save(struct ui *ui, const char *path);
/* The word :record. Without a path it stops. Returns enum ui_flags. */
unsigned int record_command(struct ui *ui, const char *path);
/* Stops what :record began, with a notice. --record goes on to the end. Returns enum ui_flags. */
unsigned int record_stop(struct ui *ui);
/* Brings ui->recording up to date, and frees what has ended. */
void record_look(struct ui *ui);
/* True if a file is still being written, but not one that only waits for the next slice. */
bool record_writes(const struct ui *ui);
/* Completes the files. ui may be half made. */
void record_free(struct ui *ui);

#endif
