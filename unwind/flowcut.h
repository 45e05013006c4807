/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_FLOWCUT_H
#define STACKTOP_UNWIND_FLOWCUT_H

/* Cuts code into instructions, for unwind/flow.c, and marks where functions begin. */

#include <stdbool.h>
#include <stdint.h>

#include "unwind/flow.h"

#define NO_INSN UINT32_MAX

/* flow_insn.flags */
enum flow_flag {
	START = 1,    /* a function begins here */
	USES_FP = 2,  /* the instruction computes an address from FP */
	NORETURN = 4, /* the call has been seen not to return */
	TAKEN = 8,    /* its address is taken */
	USES_SP = 16, /* it uses the memory at SP + value */
	JUMPED_TO = 32,
	TAKES_RA = 64, /* it takes the return address from the stack, to jump there */
	FP_GONE = 128, /* a function begins here, and another one leads to it without its FP */
};

/* Fills flow->insns, without states. -ENOMEM, or as work_add. */
int flowcut_run(struct flow *f);
/* The instruction at an offset, or behind its lock prefix; NO_INSN: none begins there. */
uint32_t flowcut_find(const struct flow *f, int64_t at);
/* The offset to which a jump or call leads, or of which the address is taken. */
int64_t flowcut_target(const struct flow_insn *insn);
/* True for an instruction that nothing continues behind. */
bool flowcut_ends_block(const struct flow_insn *insn);

#endif
