/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_BASE_LEB128_H
#define STACKTOP_SYMBOLS_BASE_LEB128_H

/*
 * Reads LEB128 numbers (DWARF 5 section 7.6), little-endian ones and strings at *at, and moves *at
 * behind them; false: they do not end before end. Bits beyond the 64th are dropped, which
 * leb128_fits finds out.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline bool leb128_read(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
	const uint8_t *p = *at;
	unsigned int shift = 7;
	uint64_t sum;

	if (p == end)
		return false;
	sum = *p & 0x7f;
	while (*p++ & 0x80) {
		if (p == end)
			return false;
		if (shift < 64) {
			sum |= (uint64_t)(*p & 0x7f) << shift;
			shift += 7;
		}
	}
	*value = sum;
	*at = p;
	return true;
}

/* Skips one without decoding it. */
static inline bool leb128_skip(const uint8_t **at, const uint8_t *end)
{
	const uint8_t *p = *at;

	while (p < end)
		if (!(*p++ & 0x80)) {
			*at = p;
			return true;
		}
	return false;
}

static inline bool leb128_signed(const uint8_t **at, const uint8_t *end, int64_t *value)
{
	const uint8_t *start = *at;
	uint64_t bits;
	size_t width;

	if (!leb128_read(at, end, &bits))
		return false;
	width = 7 * (size_t)(*at - start);
	if (width < 64 && (*at)[-1] & 0x40)
		bits |= ~(uint64_t)0 << width;
	*value = (int64_t)bits;
	return true;
}

/*
 * True when the bits beyond the 64th of the number in [start, end), which has been read, are all
 * padding: 0, or 0x7f, seven ones, for a negative signed number.
 */
static inline bool leb128_fits(const uint8_t *start, const uint8_t *end, uint8_t padding)
{
	for (ptrdiff_t i = 9; i < end - start; i++) {
		uint8_t bits = start[i] & 0x7f;

		/* the lowest of the tenth byte is the 64th */
		if (bits != padding && (i > 9 || (bits ^ padding) != 1))
			return false;
	}
	return true;
}

/* A number of 1 to 8 bytes. */
static inline bool fixed_read(const uint8_t **at, const uint8_t *end, size_t size, uint64_t *value)
{
	*value = 0;
	if ((size_t)(end - *at) < size || size > sizeof(*value))
		return false;
	memcpy(value, *at, size); /* little-endian, as elffile.h says */
	*at += size;
	return true;
}

static inline bool bytes_skip(const uint8_t **at, const uint8_t *end, uint64_t size)
{
	if ((uint64_t)(end - *at) < size)
		return false;
	*at += size;
	return true;
}

/* NULL: it does not end. */
static inline const char *string_read(const uint8_t **at, const uint8_t *end)
{
	const uint8_t *start = *at;
	const uint8_t *nul = start < end ? memchr(start, 0, (size_t)(end - start)) : NULL;

	if (!nul)
		return NULL;
	*at = nul + 1;
	return (const char *)start;
}

#endif
