/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Formats of CPython: str objects (PEP 393), and the tables from instructions to lines, of which
 * there are three: up to 3.9 (Objects/lnotab_notes.txt), of 3.10 (PEP 626, the same file), and from
 * 3.11 on (PEP 657, InternalDocs/code_objects.md).
 */
#include "symbols/runtime/python_code.h"

#include <stdbool.h>
#include <string.h>

#include "symbols/base/text.h"
#include "symbols/runtime/python_layout.h"

static bool is_from(const struct python_layout *l, unsigned int minor)
{
	return l->version >= (0x03000000u | minor << 16);
}

/* --- texts ----------------------------------------------------------------------------------- */

#define BATCH 64u /* characters that are converted at a time */

/* The bit field `state`: interned:2, kind:3, compact:1, ascii:1. */
#define STATE_INTERNED 0x3u
#define STATE_KIND(s)  ((s) >> 2 & 7)
#define STATE_COMPACT  0x20u
#define STATE_ASCII    0x40u
#define STATE_WIDER    14u /* bits that `interned` has more in some releases of 3.14 */

struct string {
	const uint8_t *at;
	size_t length;	   /* characters that are there */
	unsigned int kind; /* bytes of each: 1, 2 or 4 */
};

/* A compact string has a kind, so the low 16 bits show how wide `interned` is. */
static uint32_t state_read(const struct python_layout *l, const uint8_t *object)
{
	uint32_t state;

	memcpy(&state, object + l->text_state, sizeof(state));
	if (is_from(l, 14) && !(state & 0xffff & ~STATE_INTERNED))
		state >>= STATE_WIDER;
	return state;
}

static bool string_open(const struct python_layout *l, const uint8_t *object, size_t size,
			struct string *out)
{
	size_t start;
	int64_t length;
	uint32_t state;

	if (l->text_state + sizeof(state) > size || l->text_length + sizeof(length) > size)
		return false;
	memcpy(&length, object + l->text_length, sizeof(length));
	state = state_read(l, object);
	out->kind = STATE_KIND(state);
	if (!(state & STATE_COMPACT) || length < 0)
		return false;
	if (out->kind != 1 && (state & STATE_ASCII || (out->kind != 2 && out->kind != 4)))
		return false;
	start = state & STATE_ASCII ? l->text_ascii : l->text_compact;
	if (start > size)
		return false;
	out->at = object + start;
	out->length = (size - start) / out->kind;
	if ((uint64_t)length < out->length)
		out->length = (size_t)length;
	return true;
}

static uint32_t string_character(const struct string *s, size_t i)
{
	uint16_t two;
	uint32_t four;

	switch (s->kind) {
	case 1:
		return s->at[i];
	case 2:
		memcpy(&two, s->at + i * sizeof(two), sizeof(two));
		return two;
	default:
		memcpy(&four, s->at + i * sizeof(four), sizeof(four));
		return four;
	}
}

size_t python_text(const struct python_layout *l, const uint8_t *object, size_t size, char *to,
		   size_t room)
{
	struct string s;
	size_t done = 0;

	to[0] = '\0';
	if (!string_open(l, object, size, &s))
		return 0;
	for (size_t i = 0; i < s.length;) {
		char text[4 * BATCH];
		char clean[4 * BATCH + 1];
		size_t length = 0, n;

		for (; i < s.length && length <= sizeof(text) - 4; i++)
			length += text_encode(string_character(&s, i), text + length);
		n = text_clean(clean, sizeof(clean), text, length);
		if (n >= room - done) {
			/* the last batch, again, into the room that is left */
			return done + text_clean(to + done, room - done, text, length);
		}
		memcpy(to + done, clean, n + 1);
		done += n;
	}
	return done;
}

/* --- lines ----------------------------------------------------------------------------------- */

#define NO_LINE INT32_MIN

struct lines { /* a table being read: `line` is of the instructions in front of `end` */
	const uint8_t *at, *stop;
	int64_t end;
	uint32_t
		sum; /* a line number that wraps around, as CPython's does not for any real table */
	int32_t line; /* NO_LINE: none, or it was cut */
};

/* Up to 3.9: pairs of bytes: how far to go, and then the signed change of the line. */
static int32_t lnotab_line(struct lines *t, bool cut, int64_t lasti)
{
	while (t->stop - t->at >= 2) {
		t->end += t->at[0];
		if (t->end > lasti)
			return (int32_t)t->sum;
		t->sum += (uint32_t)(int8_t)t->at[1];
		t->at += 2;
	}
	return cut ? NO_LINE : (int32_t)t->sum;
}

/* 3.10: pairs of bytes: the length of the range, and the signed change of the line in front of it.
 */
static bool linetable_next(struct lines *t)
{
	int8_t delta;

	if (t->stop - t->at < 2)
		return false;
	delta = (int8_t)t->at[1];
	t->end += t->at[0];
	t->at += 2;
	if (delta != INT8_MIN)
		t->sum += (uint32_t)delta;
	t->line = delta == INT8_MIN ? NO_LINE : (int32_t)t->sum;
	return true;
}

/* Six bits a byte, least significant first; bit 6: more follow; bit 7 starts the next entry. */
static bool varint_read(struct lines *t, uint32_t *value)
{
	unsigned int shift = 0;
	uint8_t byte;

	*value = 0;
	do {
		if (t->at == t->stop || *t->at & 0x80)
			return false;
		byte = *t->at++;
		if (shift < 32)
			*value |= (uint32_t)(byte & 0x3f) << shift;
		shift += shift < 32 ? 6 : 0;
	} while (byte & 0x40);
	return true;
}

enum location { /* kinds of entries; below, the line is that of the one in front */
		LOCATION_ONE_LINE = 10, /* to 12: the change is the distance from here */
		LOCATION_NO_COLUMNS = 13,
		LOCATION_LONG = 14,
		LOCATION_NONE = 15,
};

/* From 3.11 on. */
static bool location_next(struct lines *t)
{
	unsigned int kind;
	uint32_t value;
	uint8_t head;

	while (t->at < t->stop && !(*t->at & 0x80)) /* columns, which were not read */
		t->at++;
	if (t->at == t->stop)
		return false;
	head = *t->at++;
	kind = head >> 3 & 15;
	t->end += ((head & 7) + 1) * 2;
	if (kind == LOCATION_NONE) {
		t->line = NO_LINE;
		return true;
	}
	if (kind == LOCATION_NO_COLUMNS || kind == LOCATION_LONG) {
		if (!varint_read(t, &value))
			return false;
		t->sum += value & 1 ? 0 - (value >> 1) : value >> 1;
	} else if (kind >= LOCATION_ONE_LINE)
		t->sum += kind - LOCATION_ONE_LINE;
	t->line = (int32_t)t->sum;
	return true;
}

unsigned int python_line(const struct python_layout *l, const uint8_t *table, size_t size,
			 size_t whole, unsigned int first, int32_t lasti)
{
	struct lines t = {.at = table, .stop = table + size, .sum = first, .line = (int32_t)first};
	bool (*next)(struct lines *) = is_from(l, 11) ? location_next : linetable_next;

	if (lasti >= 0 && !is_from(l, 10))
		t.line = lnotab_line(&t, size < whole, lasti);
	else if (lasti >= 0)
		while (lasti >= t.end)
			if (!next(&t))
				return 0;
	return t.line > 0 ? (unsigned int)t.line : 0;
}
