/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_CHOSEN_H
#define STACKTOP_TUI_UI_CHOSEN_H

/*
 * The function that the user chose last, by moving a cursor or by a search. The cursor of the next
 * view goes there. A view takes part if it has the operation `select`.
 */

#include <stdbool.h>
#include <stdint.h>

struct profile_func;
struct ui;

struct chosen {
	uint64_t func; /* its names_hash; 0: none */
	bool moved;    /* the cursor of the view was, by a key or a click */
	bool arrived;  /* the view was changed, and not loaded since */
};

/* The user has moved the cursor of the view. What lies over the view has a cursor of its own. */
void chosen_moved(struct ui *ui);
/* From now on it is this function; NULL: none. */
void chosen_set(struct ui *ui, const struct profile_func *func);
/* Before the view is changed: what was open over the view has been chosen, too. */
void chosen_leave(struct ui *ui);
/* When the view is loaded and sorted: puts the cursor of a new view on the function, and remembers
 * what it was moved to. Returns enum ui_flags; UI_RESORT: the rows have to be made anew. */
unsigned int chosen_follow(struct ui *ui);

#endif
