/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_FUZZ_H
#define STACKTOP_TESTS_FUZZ_H

/*
 * Shared by the fuzzers: a copy of the input in a block of its own size, so that one byte too
 * many is detected; a condition that every build checks; and a bound for the work of an input.
 */

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void require(int condition)
{
	if (!condition)
		abort();
}

/* Never returns NULL. The caller frees it. */
static inline uint8_t *fuzz_copy(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	require(copy != NULL);
	if (size)
		memcpy(copy, data, size);
	return copy;
}

/*
 * The counted work (symbols/base/work.h) for `bytes` bytes may not exceed `each` units per byte:
 * no input costs more than its size allows, whatever the clock says.
 */
static inline void require_work(uint64_t done, uint64_t bytes, uint64_t each)
{
	require(done <= 16384 + each * bytes);
}

/*
 * clang counts how often each region of stacktop's code runs (-fprofile-instr-generate), in 64
 * bits per region, in these sections. The sum is the same on every machine, unlike time, and
 * needs no help from the parser, unlike symbols/base/work.h. Libraries are not compiled so: only
 * libFuzzer's -timeout bounds the work of libelf, libdw, libiberty and the decompressors.
 */
extern uint64_t __start___llvm_prf_cnts[] __attribute__((weak, visibility("hidden")));
extern uint64_t __stop___llvm_prf_cnts[] __attribute__((weak, visibility("hidden")));
extern int __llvm_profile_runtime;

/* Defined here so that clang's runtime, which would write a file at the end, is not linked. */
int __llvm_profile_runtime;

static inline uint64_t fuzz_steps(void)
{
	uint64_t sum = 0;

	for (uint64_t *at = __start___llvm_prf_cnts; at < __stop___llvm_prf_cnts; at++)
		sum += *at;
	return sum;
}

static inline int fuzz_measure(int (*input)(const uint8_t *data, size_t size), const uint8_t *data,
			       size_t size, uint64_t base, uint64_t each)
{
	uint64_t steps = fuzz_steps();
	int result = input(data, size);

	steps = fuzz_steps() - steps;
	if (getenv("FUZZ_STEPS"))
		fprintf(stderr, "steps %" PRIu64 " bytes %zu\n", steps, size);
	require(steps <= base + each * size);
	return result;
}

/*
 * Ends a fuzzer: libFuzzer calls input(), which may run through `base` regions of code and `each`
 * more for a byte of its input. FUZZ_STEPS=1 prints the number that each input took.
 */
#define FUZZ_TARGET(input, base, each)                                                             \
	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)                               \
	{                                                                                          \
		return fuzz_measure(input, data, size, base, each);                                \
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
