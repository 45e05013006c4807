/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_SEARCH_H
#define STACKTOP_TUI_UI_SEARCH_H

/* What is searched on the screen, and the steps from match to match. */

#include <stdbool.h>

#include "tui/screen/prompt.h"
#include "tui/ui/pattern.h"

struct profile_func;
struct ui;

struct search {
	bool set;
	char pattern[PROMPT_TEXT];
	struct pattern compiled; /* valid when set */
};

void search_clear(struct search *search);
/* From now on the pattern is what is searched, none if it is empty, and nothing moves. False: why
 * says what is wrong with it, and the old one stays. */
bool search_take(struct ui *ui, const char *pattern, char *why, size_t size);
/* From now on the pattern is what is searched, none if it is empty; goes to the first match.
 * Returns enum ui_flags, as the next ones do. */
unsigned int search_set(struct ui *ui, const char *pattern);
/* The regular expression of exactly this text; of one that is too long, of its beginning. */
void search_quote(char *to, size_t size, const char *text);
/* From now on the very name is. */
unsigned int search_name(struct ui *ui, const char *name);
/* The name of the function, as it is shown; NULL: nothing is done. */
unsigned int search_func(struct ui *ui, const struct profile_func *func);
/* To the next match in the direction of step (+1, -1), or the one under the cursor when `here`. */
unsigned int search_step(struct ui *ui, int step, bool here);
/* True when a search is on and the text matches. */
bool search_matches(const struct ui *ui, const char *text);
/* The same of the name of a function, as it is shown. */
bool search_matches_func(const struct ui *ui, const struct profile_func *func);

#endif
