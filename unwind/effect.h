/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_EFFECT_H
#define STACKTOP_UNWIND_EFFECT_H

/*
 * What one instruction does to the stack pointer, the frame pointer and the flow of control: all
 * that unwind/derive.c must know of it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum effect_kind {
	EFFECT_NONE,
	EFFECT_BAD,  /* no instruction of compiled code */
	EFFECT_PAD,  /* nop, int3 */
	EFFECT_PUSH, /* something other than FP */
	EFFECT_PUSH_FP,
	EFFECT_POP,
	EFFECT_POP_FP,
	EFFECT_ADD_SP,	/* SP += value */
	EFFECT_SP_LOST, /* SP becomes something else */
	EFFECT_SAVE_SP, /* SP is put into memory, or into a register other than FP */
	EFFECT_FP_LOST,
	EFFECT_BOTH_LOST,
	EFFECT_SP_FROM_FP, /* SP = FP + value */
	EFFECT_FP_FROM_SP, /* FP = SP + value */
	EFFECT_STORE_FP,   /* *(SP + value) = FP */
	EFFECT_LOAD_FP,	   /* FP = *(SP + value) */
	EFFECT_RELOAD_FP,  /* FP = *(FP + value) */
	EFFECT_ZERO_FP,
	EFFECT_LEAVE,
	EFFECT_RETURN,
	EFFECT_JUMP, /* by value bytes, from the end of the instruction */
	EFFECT_JUMP_COMPUTED,
	EFFECT_BRANCH, /* the same under a condition */
	EFFECT_CALL,
	EFFECT_CALL_COMPUTED,
	EFFECT_STOP,	 /* it does not continue */
	EFFECT_ADDRESS,	 /* takes the address that is as far away as that of a jump */
	EFFECT_ABSOLUTE, /* takes a number that may be an address, value */
};

struct effect {
	uint8_t size; /* bytes, at least 1 */
	uint8_t kind;
	bool uses_fp;  /* computes an address from FP */
	bool below_fp; /* uses a word below FP, as local variables are */
	bool uses_sp;  /* EFFECT_NONE and EFFECT_PUSH: it uses the memory at SP + value */
	int32_t value;
};

struct disasm;

/*
 * True where a function may begin: with an instruction that makes room on the stack, behind the
 * last byte of a return or of what fills gaps; or behind many such bytes. at > 0.
 */
bool arch_may_begin(struct disasm *disasm, const uint8_t *code, size_t at, size_t size);

/* Reads the instruction at code[0, size), size > 0. The bytes may be anything. */
void arch_effect(struct disasm *disasm, const uint8_t *code, size_t size, struct effect *out);

#endif
