// SPDX-License-Identifier: GPL-2.0-or-later
/* See prompt_history.h. */
#include "tui/screen/prompt_history.h"

#include <string.h>

#include "tui/screen/keys.h"

/* The place of the prompt's list; PROMPT_HISTORY_PROMPTS: it has none. */
static size_t list_of(const struct prompt *p)
{
	static const enum action purposes[PROMPT_HISTORY_PROMPTS] = {ACTION_COMMAND, ACTION_SEARCH,
								     ACTION_FILTER};
	size_t i = 0;

	while (i < PROMPT_HISTORY_PROMPTS && (int)purposes[i] != p->purpose)
		i++;
	return i;
}

bool prompt_history_knows(const struct prompt *p)
{
	return list_of(p) < PROMPT_HISTORY_PROMPTS;
}

void prompt_history_add(struct prompt_history *r, const struct prompt *p)
{
	struct prompt_history_list *list;
	size_t i = 0;

	if (!prompt_history_knows(p) || !p->text[0])
		return;
	list = &r->lists[list_of(p)];
	while (i < list->count && strcmp(list->text[i], p->text) != 0)
		i++;
	/* Of what was there already, and of what is too much, the later ones take the place. */
	if (i == list->count && i == PROMPT_HISTORY_MAX)
		i = 0;
	if (i < list->count)
		memmove(list->text[i], list->text[i + 1],
			(--list->count - i) * sizeof(list->text[0]));
	memcpy(list->text[list->count++], p->text, sizeof(p->text));
}

/* A line like the one that is there already would be a key that does nothing. */
static void begin(struct prompt_history *r, struct prompt *p)
{
	const struct prompt_history_list *list = &r->lists[list_of(p)];

	r->nlines = 0;
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->text[i], p->text) != 0)
			memcpy(r->lines[r->nlines++], list->text[i], sizeof(r->lines[0]));
	r->at = r->nlines++;
	p->recalls = true;
}

bool prompt_history_step(struct prompt_history *r, struct prompt *p, int step)
{
	if (!p->recalls)
		begin(r, p);
	if (step < 0 ? r->at == 0 : r->at + 1 == r->nlines)
		return false;
	memcpy(r->lines[r->at], p->text, sizeof(r->lines[0]));
	r->at = step < 0 ? r->at - 1 : r->at + 1;
	prompt_set(p, r->lines[r->at]);
	return true;
}
