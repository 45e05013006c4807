/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_FUZZ_H
#define STACKTOP_TESTS_FUZZ_H

/*
 * What the fuzzers share: the input in a block of its own size, so that one byte too many is seen,
 * a condition that is checked in every build, and the rules that a table may hold.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void require(int condition)
{
	if (!condition)
		abort();
}

/* Never NULL. The caller frees it. */
static inline uint8_t *fuzz_copy(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	require(copy != NULL);
	if (size)
		memcpy(copy, data, size);
	return copy;
}

/*
 * What was counted (symbols/work.h) for so many bytes may not be more than these many units a byte:
 * no input costs more than its size allows, whatever the clock says.
 */
static inline void require_work(uint64_t done, uint64_t bytes, uint64_t each)
{
	require(done <= 16384 + each * bytes);
}

/* Takes a byte from the front of the input; 0 when there is none. */
static inline unsigned int fuzz_u8(const uint8_t **data, size_t *size)
{
	if (!*size)
		return 0;
	--*size;
	return *(*data)++;
}

#endif
