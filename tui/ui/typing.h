/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_TYPING_H
#define STACKTOP_TUI_UI_TYPING_H

/*
 * A search or a filter works while its text is typed: each key shows what it finds, from where the
 * cursor was when the question was asked. Functions return enum ui_flags unless they say otherwise.
 */

#include <stdbool.h>
#include <stdint.h>

struct ui;
struct typing;

/* NULL: no memory. */
struct typing *typing_new(void);
void typing_free(struct typing *t);

/* The question that was just opened is a search or a filter: remembers what is shown. */
void typing_begin(struct ui *ui);
/* The text of the question may be another one than at the last call. */
unsigned int typing_follow(struct ui *ui);
/* The question is answered, and the text stays in force if it is valid; to be called before it is
 * used. */
unsigned int typing_keep(struct ui *ui);
/* The question is cancelled: all is as it was before. */
unsigned int typing_cancel(struct ui *ui);
/* The cursor is on a match of what was typed: there is nothing left to search. */
bool typing_found(const struct ui *ui);
/* What the answer lacks, dim in the row of messages: "not found", "unfinished: ..."; NULL: nothing.
 */
const char *typing_note(const struct ui *ui);
/* The time that matching may take, from now on: what a key may take, or a second's refresh. */
void typing_watch(struct ui *ui);
/* To be called when the view was loaded. True: the filter took too long and was taken back, so the
 * view is to be loaded again. */
bool typing_loaded(struct ui *ui);
/* The search opens a node of a tree: it is closed again with the next key. */
void typing_opens(struct ui *ui, uint64_t path);
/* It unfolds the run of a node, likewise: place.id[2] of the tree has its path. */
void typing_unfolds(struct ui *ui, uint64_t path);

#endif
