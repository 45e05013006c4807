/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_CURSOR_H
#define STACKTOP_UNWIND_CURSOR_H

/*
 * Reads little-endian DWARF data of unknown quality. A read past the end sets `failed`, which
 * sticks, gives 0 and puts the cursor at its end: a parser reads on without checks, its loops end,
 * and it looks at `failed` once.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cursor {
	const uint8_t *at;
	const uint8_t *end;
	bool failed;
};

static inline struct cursor cursor_new(const uint8_t *data, size_t size)
{
	return (struct cursor){data, data + size, false};
}

static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->at);
}

static inline void cursor_fail(struct cursor *c)
{
	c->failed = true;
	c->at = c->end;
}

/* A little-endian number of 1 to 8 bytes. */
static inline uint64_t cursor_fixed(struct cursor *c, unsigned int bytes)
{
	uint64_t value = 0;

	if (cursor_left(c) < bytes) {
		cursor_fail(c);
		return 0;
	}
	for (unsigned int i = 0; i < bytes; i++)
		value |= (uint64_t)c->at[i] << 8 * i;
	c->at += bytes;
	return value;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
	return (uint8_t)cursor_fixed(c, 1);
}

/* A signed number of 1, 2, 4 or 8 bytes. */
static inline int64_t cursor_signed(struct cursor *c, unsigned int bytes)
{
	uint64_t sign = (uint64_t)1 << (8 * bytes - 1);

	return (int64_t)((cursor_fixed(c, bytes) ^ sign) - sign);
}

/* DWARF 5 section 7.6. A number that needs more than 64 bits is a failure, zero padding is not. */
static inline uint64_t cursor_uleb(struct cursor *c)
{
	uint64_t value = 0;
	unsigned int shift = 0;

	while (c->at < c->end) {
		uint8_t byte = *c->at++;
		uint64_t bits = byte & 0x7f;

		if (shift < 64)
			value |= bits << shift;
		if (bits && (shift > 63 || (shift == 63 && bits > 1)))
			break;
		if (!(byte & 0x80))
			return value;
		shift += shift < 70 ? 7 : 0;
	}
	cursor_fail(c);
	return 0;
}

static inline int64_t cursor_sleb(struct cursor *c)
{
	uint64_t value = 0;
	unsigned int shift = 0;

	while (c->at < c->end) {
		uint8_t byte = *c->at++;
		uint64_t bits = byte & 0x7f;

		/* Beyond 64 bits there may only be more of the sign. */
		if (shift < 64)
			value |= bits << shift;
		if (shift >= 63 && bits != (value >> 63 ? 0x7f : 0))
			break;
		if (!(byte & 0x80)) {
			if (shift < 57 && byte & 0x40)
				value |= ~(uint64_t)0 << (shift + 7);
			return (int64_t)value;
		}
		shift += shift < 70 ? 7 : 0;
	}
	cursor_fail(c);
	return 0;
}

/* The next size bytes, or NULL. */
static inline const uint8_t *cursor_bytes(struct cursor *c, uint64_t size)
{
	const uint8_t *at = c->at;

	if (cursor_left(c) < size) {
		cursor_fail(c);
		return NULL;
	}
	c->at += size;
	return at;
}

/* A NUL-terminated string, or NULL. */
static inline const char *cursor_string(struct cursor *c)
{
	const uint8_t *at = c->at;

	while (c->at < c->end)
		if (!*c->at++)
			return (const char *)at;
	cursor_fail(c);
	return NULL;
}

#endif
