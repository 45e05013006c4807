/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SCREEN_PROMPT_H
#define STACKTOP_TUI_SCREEN_PROMPT_H

/* A question on the last line, and the line that answers it. */

#include <stdbool.h>
#include <stddef.h>

#include "tui/screen/grid.h"

#define PROMPT_TEXT 256

struct prompt {
	const char *question; /* NULL: closed; static text */
	int purpose;	      /* the asker's */
	char text[PROMPT_TEXT];
	size_t length; /* bytes */
	size_t cursor; /* byte offset, at a character's start */
	bool offered;  /* text is a proposal: the first letter typed takes its place */
	bool recalls;  /* the user steps through earlier answers; see prompt_history.h */
};

enum prompt_result {
	PROMPT_GOES_ON,
	PROMPT_DONE, /* the answer is in text */
	PROMPT_CANCELLED,
	PROMPT_EARLIER, /* an earlier or later answer is asked for; prompt_history.h has those */
	PROMPT_LATER,
};

void prompt_open(struct prompt *p, int purpose, const char *question, const char *text);
void prompt_close(struct prompt *p);
/* The line is that, with the cursor at its end. */
void prompt_set(struct prompt *p, const char *text);
enum prompt_result prompt_key(struct prompt *p, int key);
void prompt_draw(const struct prompt *p, struct grid *g, int row);

#endif
