// SPDX-License-Identifier: GPL-2.0-or-later
/* See prompt.h. The keys are those of every shell's line. */
#include "tui/screen/prompt.h"

#include <stdio.h>
#include <string.h>

#include "tui/screen/keys.h"

#define ROOM_FOR_TEXT 20

#define CTRL(letter) ((letter) - '@')

void prompt_open(struct prompt *p, int purpose, const char *question, const char *text)
{
	p->question = question;
	p->purpose = purpose;
	prompt_set(p, text);
	p->offered = p->length > 0;
	p->recalls = false;
}

void prompt_close(struct prompt *p)
{
	p->question = NULL;
}

void prompt_set(struct prompt *p, const char *text)
{
	snprintf(p->text, sizeof(p->text), "%s", text);
	p->length = strlen(p->text);
	p->cursor = p->length;
	p->offered = false;
}

static bool continues(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

static size_t before(const struct prompt *p, size_t at)
{
	while (at > 0 && continues(p->text[--at]))
		;
	return at;
}

static size_t after(const struct prompt *p, size_t at)
{
	if (at < p->length)
		at++;
	while (at < p->length && continues(p->text[at]))
		at++;
	return at;
}

static void cut(struct prompt *p, size_t from, size_t to)
{
	memmove(p->text + from, p->text + to, p->length - to + 1);
	p->length -= to - from;
	p->cursor = from;
}

static void insert(struct prompt *p, int key)
{
	char bytes[4];
	size_t n = (size_t)grid_utf8(bytes, (uint32_t)key);

	if (p->length + n >= sizeof(p->text))
		return;
	memmove(p->text + p->cursor + n, p->text + p->cursor, p->length - p->cursor + 1);
	memcpy(p->text + p->cursor, bytes, n);
	p->length += n;
	p->cursor += n;
}

static bool is_text(int key)
{
	return key >= ' ' && key != 0x7f && key < KEYCODE_UP;
}

enum prompt_result prompt_key(struct prompt *p, int key)
{
	bool offered = p->offered;

	p->offered = false;
	if (offered && is_text(key))
		cut(p, 0, p->length);
	switch (key) {
	case KEYCODE_ENTER:
		return PROMPT_DONE;
	case KEYCODE_ESCAPE:
	case CTRL('G'):
		return PROMPT_CANCELLED;
	case KEYCODE_UP:
	case CTRL('P'):
		return PROMPT_EARLIER;
	case KEYCODE_DOWN:
	case CTRL('N'):
		return PROMPT_LATER;
	case KEYCODE_LEFT:
	case CTRL('B'):
		p->cursor = before(p, p->cursor);
		break;
	case KEYCODE_RIGHT:
	case CTRL('F'):
		p->cursor = after(p, p->cursor);
		break;
	case KEYCODE_HOME:
	case CTRL('A'):
		p->cursor = 0;
		break;
	case KEYCODE_END:
	case CTRL('E'):
		p->cursor = p->length;
		break;
	case KEYCODE_BACKSPACE:
		if (p->length == 0)
			return PROMPT_CANCELLED;
		cut(p, before(p, p->cursor), p->cursor);
		break;
	case KEYCODE_DELETE:
	case CTRL('D'):
		cut(p, p->cursor, after(p, p->cursor));
		break;
	case CTRL('U'):
		cut(p, 0, p->cursor);
		break;
	case CTRL('K'):
		cut(p, p->cursor, p->length);
		break;
	default:
		if (is_text(key))
			insert(p, key);
	}
	return PROMPT_GOES_ON;
}

void prompt_draw(const struct prompt *p, struct grid *g, int row)
{
	char left[PROMPT_TEXT];
	int most = g->cols * 2 / 3, width = grid_width(g, p->question);
	int col, room, ahead;
	size_t from = 0;

	if (most < g->cols - ROOM_FOR_TEXT)
		most = g->cols - ROOM_FOR_TEXT;
	width = width < most ? width : most;
	grid_blank(g, row, 0, g->cols, ROLE_TEXT);
	grid_fit(g, row, 1, width, ROLE_TITLE, p->question);
	col = 1 + width;
	col += grid_put(g, row, col, 1, ROLE_TEXT, " ");
	room = g->cols - col - 1;
	/* The end that is being typed stays in sight. */
	do {
		snprintf(left, sizeof(left), "%.*s", (int)(p->cursor - from), p->text + from);
		ahead = grid_width(g, left);
		if (ahead <= room)
			break;
		from = after(p, from);
	} while (from < p->cursor);
	grid_put(g, row, col, room + 1, ROLE_TEXT, p->text + from);
	grid_role(g, row, col + ahead, 1, ROLE_CURSOR);
}

/* --- earlier answers ----------------------------------------------------------------------- */

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

bool prompt_history_step(struct prompt_history *r, struct prompt *p, int step)
{
	const struct prompt_history_list *list = &r->lists[list_of(p)];

	if (!p->recalls) {
		r->nlines = 0;
		/* A line like the one that is there already would be a key that does nothing. */
		for (size_t i = 0; i < list->count; i++)
			if (strcmp(list->text[i], p->text) != 0)
				memcpy(r->lines[r->nlines++], list->text[i], sizeof(r->lines[0]));
		r->at = r->nlines++;
		p->recalls = true;
	}
	if (step < 0 ? r->at == 0 : r->at + 1 == r->nlines)
		return false;
	memcpy(r->lines[r->at], p->text, sizeof(r->lines[0]));
	r->at = step < 0 ? r->at - 1 : r->at + 1;
	prompt_set(p, r->lines[r->at]);
	return true;
}
