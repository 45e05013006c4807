/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SCREEN_PROMPT_HISTORY_H
#define STACKTOP_TUI_SCREEN_PROMPT_HISTORY_H

/*
 * What was typed before at the same prompt: commands, searches and filters, each by themselves.
 * They are there as long as the screen is; nothing of them is kept in a file.
 */

#include <stdbool.h>
#include <stddef.h>

#include "tui/screen/prompt.h"

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
