/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_GO_CFI_H
#define STACKTOP_UNWIND_GO_CFI_H

/*
 * The functions of Go's runtime whose CFI is not true.
 */

#include <stdbool.h>
#include <stdint.h>

struct elf_file;

#define GO_UNTRUE_MAX 16u

enum go_kind {
	GO_TRAMPOLINE, /* signal handlers return to it */
	GO_SWITCH,     /* goes over to another stack */
	GO_BOTTOM,     /* has no caller: the stack above it may hold stale data */
	GO_CLOCK, /* the same, around a call of the vDSO, and keeps a frame pointer meanwhile */
};

struct go_untrue {
	uint64_t start; /* ELF address */
	enum go_kind kind;
};

/* Where the frame pointer of a function is one, from one ELF address up to the next; ascending. */
struct go_frame {
	uint64_t from[2];
	uint64_t to[2];
};

/*
 * Puts these functions into out and returns how many there are: 0 for a file that is not Go's, or
 * has no symbols. Never fails: a broken symbol table is one without them.
 */
unsigned int go_untrue(const struct elf_file *file, struct go_untrue out[GO_UNTRUE_MAX]);

/*
 * Reads in the code of [start, end), ELF addresses, where the frame pointer is CFA - 16, the
 * address of the caller's saved one. False where the code is not as the assembler's releases write
 * it.
 */
bool go_clock_frame(const struct elf_file *file, uint64_t start, uint64_t end,
		    struct go_frame *out);

#endif
