/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_LEAVE_H
#define STACKTOP_UNWIND_LEAVE_H

/*
 * Rows for machine code of which only a place inside is known, as of code made at run time: where a
 * walk came by. What the function does from there until it returns says where its frame ends, from
 * wherever it began. Paths that lead out of the code, or to no return, say nothing.
 *
 * A function that does not return, such as a main loop, is searched for its beginning instead: the
 * nearest place before where a function may begin (arch_may_begin) and from where its jumps lead to
 * the known one.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct disasm;
struct derived;
struct work;

struct leave_code {
	const uint8_t *bytes;
	size_t size;
	uint64_t addr; /* of bytes[0] */
};

/*
 * Appends rows for the instructions that are reached from pc, an address of the code where an
 * instruction begins, in any order; behind_call: that is a return address; each piece of rows ends
 * with one of ROW_END. Nothing is appended where the code does not prove it. -ENOMEM, or as
 * work_add.
 */
int leave_rows(const struct leave_code *code, uint64_t pc, bool behind_call, struct disasm *disasm,
	       struct work *work, struct derived *out);

/*
 * Where that proves nothing: if the function goes on to use local variables below FP, this is its
 * own, so CFA = FP + 16, wherever the place leads to without another FP. whole: from the prologue
 * on that leads to the place. Errors as above.
 */
int leave_by_use(const struct leave_code *code, uint64_t pc, bool whole, struct disasm *disasm,
		 struct work *work, struct derived *out);

#endif
