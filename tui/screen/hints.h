/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SCREEN_HINTS_H
#define STACKTOP_TUI_SCREEN_HINTS_H

/* What keys do in what is shown: one row of words at the foot of a view, or the end of a heading.
 */

#include <stddef.h>

#include "tui/screen/grid.h"
#include "tui/screen/keys.h"

struct keymap;

struct hint {
	enum action action; /* its first key is named, as it is bound; ACTION_NONE: no key is */
	enum action also;   /* a second key with the same words, or ACTION_NONE */
	const char *text;
};

/* The first key of an action, and what it does, for a sentence elsewhere: "Esc clears"; "" when no
 * key does it. Returns to. */
const char *hints_words(const struct keymap *keys, enum action action, const char *text, char *to,
			size_t size);
/* " Enter zooms  Esc back": as many as there is room for in the row, the first ones first, none of
 * them cut. */
void hints_draw(const struct keymap *keys, const struct hint *hints, size_t count, struct grid *g,
		int row, enum role role);
/* A line with a title in it, and hints at its end, likewise. */
void hints_heading(const struct keymap *keys, const struct hint *hints, size_t count,
		   struct grid *g, int row, const char *title);

#endif
