/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_EXPR_H
#define STACKTOP_UNWIND_EXPR_H

/*
 * DWARF expressions (DWARF 5 section 2.5) as far as unwind rules need them. They are run on symbols
 * instead of numbers, so that each spelling of "what SP + 160 points to, plus 8" gives the same.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum expr_kind {
	EXPR_OTHER,	/* none of those below */
	EXPR_CONST,	/* add */
	EXPR_REG,	/* reg + add */
	EXPR_DEREF,	/* *(reg + off) + add */
	EXPR_CFA,	/* CFA + add */
	EXPR_CFA_DEREF, /* *(CFA + off) + add */
	EXPR_PLT, /* reg + off + ((pc & mask) >= threshold ? add : 0), mask being ARCH_PLT_BYTES - 1
		   */
};

struct expr {
	uint8_t kind; /* enum expr_kind */
	uint32_t reg; /* DWARF number */
	uint32_t threshold;
	int64_t off;
	int64_t add;
};

/*
 * What the expression computes. with_cfa: it begins with the CFA on its stack, as that of
 * DW_CFA_expression and DW_CFA_val_expression does. False when it is malformed: an operand is cut
 * off or the stack runs empty.
 */
bool expr_parse(const uint8_t *data, size_t size, bool with_cfa, struct expr *out);

#endif
