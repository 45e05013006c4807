/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_CODE_MEMCODE_H
#define STACKTOP_SYMBOLS_CODE_MEMCODE_H

/* Code that a process made while it ran, as it was in its memory, as a listing. */

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define MEMCODE_MARKS	64u
#define MEMCODE_GUESSED 4096u /* bytes that are read where no end is known */

struct listing;

struct memcode_request {
	uint64_t start, end; /* of the code */
	uint8_t *bytes;	     /* from start on; malloc, taken over */
	size_t size;
	/*
	 * Where the beginning is not known, and the code is only somewhere in there: addresses at
	 * which instructions begin, as samples tell. 0: start is the beginning.
	 */
	const uint64_t *marks;
	size_t nmarks;
	const atomic_bool *cancel; /* NULL, or true: give up soon */
};

/* A listing with one reference. -ENOTSUP: no disassembler; -EFAULT: no bytes; -ECANCELED, -ENOMEM.
 */
int memcode_list(const struct memcode_request *request, struct listing **out);

#endif
