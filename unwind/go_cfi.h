/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_GO_CFI_H
#define STACKTOP_UNWIND_GO_CFI_H

/*
 * The functions of Go's runtime with wrong CFI.
 */

#include <stdbool.h>
#include <stdint.h>

struct elf_file;

#define GO_UNTRUE_MAX 16u

enum go_kind {
	GO_TRAMPOLINE, /* signal handlers return to it */
	GO_SWITCH,     /* switches to another stack */
	GO_BOTTOM,     /* has no caller: the stack above it may hold stale data */
	GO_CLOCK,      /* switches stacks to call the vDSO, and has a frame pointer meanwhile */
};

struct go_untrue {
	uint64_t start; /* ELF address */
	enum go_kind kind;
};

/* Ranges of ELF addresses where the frame pointer of a function is valid; ascending. */
struct go_frame {
	uint64_t from[2];
	uint64_t to[2];
};

/*
 * Writes these functions to out and returns their number: 0 for a file that is not of Go, or
 * without (sound) symbols. Never fails.
 */
unsigned int go_untrue(const struct elf_file *file, struct go_untrue out[GO_UNTRUE_MAX]);

/*
 * Finds where in the function [start, end), ELF addresses, the frame pointer is CFA - 16, the
 * address of the saved one. False: the code is not as known releases of the assembler write it.
 */
bool go_clock_frame(const struct elf_file *file, uint64_t start, uint64_t end,
		    struct go_frame *out);

#endif
