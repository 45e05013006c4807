/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UTIL_BYTES_H
#define STACKTOP_TUI_UTIL_BYTES_H

/*
 * Numbers and texts as bytes of a file, and back. Both directions remember their first failure, so
 * that a caller writes or reads a dozen fields and checks once, at the end. A number is a LEB128
 * (DWARF 5 section 7.6), a signed one is folded first (0, -1, 1, -2 ... become 0, 1, 2, 3 ...), a
 * text is its length and its bytes.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "symbols/base/leb128.h"
#include "symbols/base/text.h"

/* --- writing: a buffer that grows --------------------------------------------------------------*/

struct outbytes { /* zeroed: empty */
	uint8_t *data;
	size_t size;
	size_t room;
	bool failed; /* no memory; what is there is of no use */
};

/* Where n more bytes can be put; NULL: no memory. */
static inline uint8_t *bytes_grow(struct outbytes *b, size_t n)
{
	b->failed = b->failed || n > SIZE_MAX / 4 - b->size ||
		    GROW_TO(b->data, b->size + n, b->room, SIZE_MAX);
	return b->failed ? NULL : b->data + b->size;
}

static inline void bytes_put(struct outbytes *b, const void *data, size_t n)
{
	uint8_t *to = bytes_grow(b, n);

	if (!to || !n)
		return;
	memcpy(to, data, n);
	b->size += n;
}

static inline void bytes_put_number(struct outbytes *b, uint64_t value)
{
	uint8_t coded[10];
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		coded[n++] = (uint8_t)(value | 0x80);
	coded[n++] = (uint8_t)value;
	bytes_put(b, coded, n);
}

static inline void bytes_put_signed(struct outbytes *b, int64_t value)
{
	bytes_put_number(b, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

static inline void bytes_put_text(struct outbytes *b, const char *text)
{
	size_t length = strlen(text);

	bytes_put_number(b, length);
	bytes_put(b, text, length);
}

static inline void bytes_free(struct outbytes *b)
{
	free(b->data);
	*b = (struct outbytes){0};
}

/* --- reading: a cursor that stops at what makes no sense
 * ----------------------------------------*/

struct cursor {
	const uint8_t *at;
	const uint8_t *end;
	bool bad; /* from then on every number is 0 and every text empty */
};

/* Of at most ten bytes. */
static inline uint64_t cursor_number(struct cursor *c)
{
	const uint8_t *start = c->at;
	uint64_t value;

	if (!c->bad && leb128_read(&c->at, c->end, &value) && leb128_fits(start, c->at, 0) &&
	    c->at - start <= 10)
		return value;
	c->bad = true;
	return 0;
}

/* At most max. */
static inline uint32_t cursor_number32(struct cursor *c, uint32_t max)
{
	uint64_t value = cursor_number(c);

	if (value > max) {
		c->bad = true;
		return 0;
	}
	return (uint32_t)value;
}

static inline int64_t cursor_signed(struct cursor *c)
{
	uint64_t value = cursor_number(c);

	return (int64_t)(value >> 1 ^ (value & 1 ? UINT64_MAX : 0));
}

/* A text, not terminated; *length is 0 when there is none. */
static inline const char *cursor_text(struct cursor *c, size_t *length)
{
	uint64_t n = cursor_number(c);
	const char *text = (const char *)c->at;

	*length = 0;
	if (c->bad || n > (uint64_t)(c->end - c->at)) {
		c->bad = true;
		return "";
	}
	c->at += n;
	*length = (size_t)n;
	return text;
}

/* The same as a clean string (text_clean). */
static inline void cursor_clean(struct cursor *c, char *to, size_t size)
{
	size_t length;
	const char *text = cursor_text(c, &length);

	text_clean(to, size, text, length);
}

#endif
