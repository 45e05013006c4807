/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_CURSOR_H
#define STACKTOP_UNWIND_CURSOR_H

/*
 * Reads little-endian DWARF data that may be malformed. A read past the end sets `failed`, which
 * sticks, returns 0 and puts the cursor at the end: a parser reads on without checks, its loops
 * end, and it checks `failed` once.
 */

#include "symbols/base/leb128.h"

struct cfi_cursor {
	const uint8_t *at;
	const uint8_t *end;
	bool failed;
};

static inline struct cfi_cursor cursor_new(const uint8_t *data, size_t size)
{
	return (struct cfi_cursor){data, data + size, false};
}

static inline size_t cursor_left(const struct cfi_cursor *c)
{
	return (size_t)(c->end - c->at);
}

static inline void cursor_fail(struct cfi_cursor *c)
{
	c->failed = true;
	c->at = c->end;
}

/* A little-endian number of 1 to 8 bytes. */
static inline uint64_t cursor_fixed(struct cfi_cursor *c, unsigned int bytes)
{
	uint64_t value;

	if (!fixed_read(&c->at, c->end, bytes, &value))
		cursor_fail(c);
	return value;
}

static inline uint8_t cursor_u8(struct cfi_cursor *c)
{
	return (uint8_t)cursor_fixed(c, 1);
}

/* A signed number of 1, 2, 4 or 8 bytes. */
static inline int64_t cursor_signed(struct cfi_cursor *c, unsigned int bytes)
{
	uint64_t sign = (uint64_t)1 << (8 * bytes - 1);

	return (int64_t)((cursor_fixed(c, bytes) ^ sign) - sign);
}

/* A LEB128 that needs more than 64 bits is a failure, padding is not. */
static inline uint64_t cursor_uleb(struct cfi_cursor *c)
{
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): no caller's cursor is NULL */
	const uint8_t *start = c->at;
	uint64_t value;

	if (leb128_read(&c->at, c->end, &value) && leb128_fits(start, c->at, 0))
		return value;
	cursor_fail(c);
	return 0;
}

static inline int64_t cursor_sleb(struct cfi_cursor *c)
{
	const uint8_t *start = c->at;
	int64_t value;

	if (leb128_signed(&c->at, c->end, &value) &&
	    leb128_fits(start, c->at, value < 0 ? 0x7f : 0))
		return value;
	cursor_fail(c);
	return 0;
}

/* The next size bytes, or NULL. */
static inline const uint8_t *cursor_bytes(struct cfi_cursor *c, uint64_t size)
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
static inline const char *cursor_string(struct cfi_cursor *c)
{
	const char *string = string_read(&c->at, c->end);

	if (!string)
		cursor_fail(c);
	return string;
}

#endif
