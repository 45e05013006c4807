/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_CFA_H
#define STACKTOP_UNWIND_CFA_H

/*
 * Runs CFA programs (DWARF 5 section 6.4.2) and reports, for each range of addresses, the rules of
 * the values that a walk needs: CFA, stack and frame pointer, return address. All other registers
 * are skipped.
 */

#include "unwind/ehframe.h"

/*
 * DWARF expressions (DWARF 5 section 2.5) as far as unwind rules need them. They are run on symbols
 * instead of numbers, so that each spelling of "what SP + 160 points to, plus 8" gives the same.
 */
enum expr_kind {
	EXPR_OTHER,	  /* none of those below */
	EXPR_CONST,	  /* add */
	EXPR_REG,	  /* reg + add */
	EXPR_DEREF,	  /* *(reg + off) + add */
	EXPR_DEREF_TWICE, /* **(reg + off) + add */
	EXPR_CFA,	  /* CFA + add */
	EXPR_CFA_DEREF,	  /* *(CFA + off) + add */
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

enum reg_how {
	REG_UNSET,	/* no instruction named it */
	REG_SAME,	/* unchanged */
	REG_UNDEFINED,	/* not recoverable; of the return address: there is no caller */
	REG_AT_CFA,	/* *(CFA + off) */
	REG_CFA_PLUS,	/* CFA + off */
	REG_IN_REG,	/* reg + off */
	REG_AT_REG,	/* *(reg + off) */
	REG_EXPRESSION, /* something that expr_parse does not know */
	REG_LOST,	/* the frame pointer of code without CFI: overwritten, and nowhere else */
};

struct reg_rule {
	uint8_t how; /* enum reg_how */
	uint32_t reg;
	int64_t off;
};

struct cfa_state {
	struct expr cfa; /* EXPR_REG, EXPR_DEREF, EXPR_DEREF_TWICE, EXPR_PLT; EXPR_OTHER: not one of
			    these */
	bool cfa_set;	 /* false: nothing defined a CFA */
	bool cfa_is_expression;
	int64_t cfa_offset; /* that of the last CFA that was no expression */
	struct reg_rule sp; /* usually REG_UNSET: the CFA */
	struct reg_rule fp;
	struct reg_rule ra;
	/* Another register that is followed, by its DWARF number, and its rule; 0: none is. */
	uint32_t kept_reg;
	struct reg_rule kept;
};

/* State after the CIE's initial instructions; -EINVAL when they are malformed, or as work_add. */
int cfa_initial(const struct cfi_section *section, const struct cfi_cie *cie, uint32_t kept_reg,
		struct cfa_state *out);

/*
 * The rules from pc to the next call, or to the FDE's end. Calls come in ascending order of pc,
 * each with a pc inside the FDE. state is valid during the call only. An error ends the run and is
 * returned by it.
 */
typedef int cfa_row_fn(void *arg, uint64_t pc, const struct cfa_state *state);

/*
 * Runs the program of a FDE. *end: where its rules end. That is fde->end, or, when an instruction
 * is malformed (-EINVAL), the address that it applies to: rows before that are sound. Any other
 * error is that of the callback, or of work_add, which is called with all bytes of the program even
 * if the FDE is a part of it only: running many parts costs as much.
 */
int cfa_run(const struct cfi_section *section, const struct cfi_cie *cie,
	    const struct cfa_state *initial, const struct cfi_fde *fde, cfa_row_fn *row, void *arg,
	    uint64_t *end);

#endif
