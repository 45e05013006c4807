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
	bool recalls;  /* the user steps through earlier answers */
};

enum prompt_result {
	PROMPT_GOES_ON,
	PROMPT_DONE, /* the answer is in text */
	PROMPT_CANCELLED,
	PROMPT_EARLIER, /* an earlier or later answer is asked for */
	PROMPT_LATER,
};

void prompt_open(struct prompt *p, int purpose, const char *question, const char *text);
void prompt_close(struct prompt *p);
/* The line is that, with the cursor at its end. */
void prompt_set(struct prompt *p, const char *text);
enum prompt_result prompt_key(struct prompt *p, int key);
void prompt_draw(const struct prompt *p, struct grid *g, int row);

/*
 * What was typed before at the same prompt: commands, searches and filters, each by themselves.
 * They are there as long as the screen is; nothing of them is kept in a file.
 */
#define PROMPT_HISTORY_MAX     50 /* of a prompt; the oldest go first */
#define PROMPT_HISTORY_PROMPTS 3

struct prompt_history {
	struct prompt_history_list {
		size_t count;
		char text[PROMPT_HISTORY_MAX][PROMPT_TEXT]; /* oldest first, each once */
	} lists[PROMPT_HISTORY_PROMPTS];
	/* The lines that Up and Down go through; the last is what was typed before. Changes to
	 * one of them are kept until the question is answered. */
	char lines[PROMPT_HISTORY_MAX + 1][PROMPT_TEXT];
	size_t nlines, at;
};

/* Whether answers to the prompt are recalled. */
bool prompt_history_knows(const struct prompt *p);
/* The prompt was answered by its text; "" is not kept. */
void prompt_history_add(struct prompt_history *r, const struct prompt *p);
/* An earlier (-1) or later (+1) line comes into the prompt, false: there is none. */
bool prompt_history_step(struct prompt_history *r, struct prompt *p, int step);

#endif
