/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_ARCH_ARM64_CODE_H
#define STACKTOP_UNWIND_ARCH_ARM64_CODE_H

/*
 * Instructions that the walk recognizes, by the encodings of the Arm Architecture Reference Manual
 * (C4, "A64 Instruction Set Encoding"). `code` is 8 bytes of memory: two instructions, the first in
 * bits 0..31.
 */

#include <linux/types.h>

#define ARCH_FUNCTION_ALIGN  16 /* what compilers align functions to */
#define ARCH_SIGRETURN_ALIGN 4	/* ... and kernel and C libraries what handlers return to */

/* --- calls --------------------------------------------------------------------------------- */

/* True for BL, BLR, and BLR with authentication. */
static inline __attribute__((always_inline)) int arch_calls(__u32 insn)
{
	return (insn & 0xfc000000) == 0x94000000 || (insn & 0xfffffc1f) == 0xd63f0000 ||
	       (insn & 0xfefff800) == 0xd63f0800;
}

/* True when the 8 bytes end with a call. */
static inline __attribute__((always_inline)) int arch_is_call(const __u64 *code)
{
	return arch_calls(*code >> 32);
}

/* Where a call that ends at the address leads, if it is BL; else 0. */
static inline __attribute__((always_inline)) __u64 arch_call_target(__u64 code, __u64 end)
{
	__u32 insn = code >> 32;

	if ((insn & 0xfc000000) != 0x94000000)
		return 0;
	return end - 4 + ((__u64)(__s64)((__s32)(insn << 6) >> 6) << 2);
}

/* True when the frame pointer is made zero right before the call with which the 8 bytes end. */
static inline __attribute__((always_inline)) int arch_clears_fp(__u64 code)
{
	__u32 insn = code;

	return (insn == 0xd280001d || insn == 0xaa1f03fd) && arch_calls(code >> 32);
}

/* --- the edges of a function ----------------------------------------------------------------- */

/* True for `stp x29, x30` to anywhere. */
static inline __attribute__((always_inline)) int arch_saves_record(__u32 insn)
{
	return (insn & 0xfe407c1f) == 0xa800781d;
}

/* True for `add sp, xN, #n` and `mov sp, xN`, unless N is SP or FP. */
static inline __attribute__((always_inline)) int arch_loads_sp(__u32 insn)
{
	const __u32 from = insn >> 5 & 31;

	return (insn & 0xff80001f) == 0x9100001f && from != 31 && from != 29;
}

/* True if one of the ARCH_MOVE_STEP bytes' instructions does. */
#define ARCH_MOVE_STEP 8
static inline __attribute__((always_inline)) int arch_moves_sp(__u64 code)
{
	return arch_loads_sp(code) || arch_loads_sp(code >> 32);
}

/* True where a frame record is made by the first or the second instruction. */
static inline __attribute__((always_inline)) int arch_begins_frame(__u64 code)
{
	return arch_saves_record(code) || arch_saves_record(code >> 32);
}

/* True for a return, with authentication or not. */
static inline __attribute__((always_inline)) int arch_returns(__u32 insn)
{
	return insn == 0xd65f03c0 || (insn & 0xfffffbff) == 0xd65f0bff;
}

/* 1 for a return by any register, or where a frame record is made, else 0; without a branch. */
static inline __attribute__((always_inline)) __u64 arch_is_no_leaf(__u32 insn)
{
	__u64 other = (insn & 0xfffff000) ^ 0xd65f0000;
	__u64 record = (insn & 0xfe407c1f) ^ 0xa800781d;

	/* both are below 2^32 */
	return ((other - 1) | (record - 1)) >> 63;
}

/*
 * What an instruction does to SP, the frame pointer and x30. The place of a load or a store is
 * ARCH_STEP_VALUE bytes from SP, or from the frame pointer with ARCH_STEP_BY_FP.
 */
#define ARCH_STEP_OTHER	    0u /* it may do anything */
#define ARCH_STEP_PLAIN	    1u /* nothing */
#define ARCH_STEP_RETURN    2u
#define ARCH_STEP_JUMP	    3u
#define ARCH_STEP_LOAD	    4u
#define ARCH_STEP_STORE	    5u
#define ARCH_STEP_SET_SP    6u /* SP = SP or FP + value */
#define ARCH_STEP_SET_FP    7u /* FP = SP + value */
#define ARCH_STEP_TAIL	    8u /* it ends a stub of the PLT, or is another jump */
#define ARCH_STEP_KIND(s)   ((s)&15u)
#define ARCH_STEP_BY_FP	    16u
#define ARCH_STEP_MOVES	    32u	 /* SP += value */
#define ARCH_STEP_BEHIND    64u	 /* ... behind the access, which is at SP itself */
#define ARCH_STEP_FP	    128u /* loads or stores the frame pointer: the first word */
#define ARCH_STEP_LINK	    256u /* ... x30: the first word */
#define ARCH_STEP_LINK_2    512u /* ... the second */
#define ARCH_STEP_VALUE(s)  ((__s32)(s) >> 10)
#define ARCH_STEP_OF(value) ((__u32)(value) << 10)
#define ARCH_STEP_MAX_VALUE (1 << 20)

/*
 * Loads and stores, of a pair of registers or of one. What is of other registers or at other places
 * does nothing here, but for the write-back to a base.
 */
static inline __attribute__((always_inline)) __u32 arch_step_access(__u32 insn)
{
	const __u32 pair = !(insn >> 28 & 1), base = insn >> 5 & 31, vector = insn >> 26 & 1;
	__u32 step = ARCH_STEP_PLAIN, regs, moves;
	__s32 value;

	if (pair) {
		/* 8 bytes, of the registers that count; of vectors, 4 to 16 */
		value = (__s32)(insn << 10) >> 25;
		value = (__s32)((__u32)value << (2 + (vector ? insn >> 30 : insn >> 31)));
		regs = insn & 0x7c1f;
		moves = insn >> 23 & 1;
	} else if ((insn >> 21 & 9) == 1) { /* by another register, or atomic */
		return (insn & 31) - 29 < 2 || ((insn >> 10 & 3) == 3 && base >= 29)
			       ? ARCH_STEP_OTHER
			       : ARCH_STEP_PLAIN;
	} else {
		value = insn >> 24 & 1 ? (__s32)((insn >> 10 & 0xfff) << (insn >> 30))
				       : (__s32)(insn << 11) >> 23;
		regs = (insn & 0x1f) | 0x7c00;
		moves = !(insn >> 24 & 1) && (insn >> 10 & 1);
	}
	/* The base, and whether the access is at it, for which SP moves behind. */
	if (moves && pair && insn >> 30 == 1 && !vector && !(insn >> 22 & 1))
		return ARCH_STEP_OTHER; /* it stores tags */
	if (base == 31)
		step |= moves ? ARCH_STEP_MOVES : 0;
	else if (moves && base >= 29)
		return ARCH_STEP_OTHER;
	if (moves && !(insn >> (pair ? 24 : 11) & 1))
		step |= ARCH_STEP_BEHIND;
	step |= ARCH_STEP_OF(value) | (base == 29 ? ARCH_STEP_BY_FP : 0);
	if (vector)
		return step;
	if (regs == 0x781d) /* x29, x30 */
		step |= ARCH_STEP_FP | ARCH_STEP_LINK_2;
	else if ((regs & 0x7c00) == 0x7400)
		return ARCH_STEP_OTHER;
	else if ((regs & 0x7c00) == 0x7800)
		step |= ARCH_STEP_LINK_2;
	else if ((regs & 0x1f) == 30)
		step |= ARCH_STEP_LINK;
	else if ((regs & 0x1f) == 29)
		step |= ARCH_STEP_FP;
	else
		return step;
	if (insn >> 30 != 3 - pair || (!pair && insn >> 23 & 1) || (base != 31 && base != 29))
		return ARCH_STEP_OTHER;
	return (step & ~15u) | (insn >> 22 & 1 ? ARCH_STEP_LOAD : ARCH_STEP_STORE);
}

/* Branches, system calls and hints. */
static inline __attribute__((always_inline)) __u32 arch_step_branch(__u32 insn)
{
	if (arch_returns(insn))
		return ARCH_STEP_RETURN;
	if ((insn & 0xfc000000) == 0x14000000)
		return ARCH_STEP_JUMP;
	/* br x16 and br x17 */
	if ((insn & 0xffffffdf) == 0xd61f0200)
		return ARCH_STEP_TAIL;
	/* under a condition: on the other way, all is as here */
	if ((insn & 0xfe000000) == 0x54000000 || (insn & 0x7c000000) == 0x34000000)
		return ARCH_STEP_PLAIN;
	/* svc; hints and what writes system registers; what reads them */
	if ((insn & 0xffe0001f) == 0xd4000001 || (insn & 0xffe00000) == 0xd5000000)
		return ARCH_STEP_PLAIN;
	return (insn & 0xffe00000) == 0xd5200000 && (insn & 31) - 29 >= 2 ? ARCH_STEP_PLAIN
									  : ARCH_STEP_OTHER;
}

/* Sums with a number. */
static inline __attribute__((always_inline)) __u32 arch_step_add(__u32 insn)
{
	__u32 from = insn >> 5 & 31, to = insn & 31, value = insn >> 10 & 0xfff;
	__u32 by_fp = from == 29 ? ARCH_STEP_BY_FP : 0, kind;

	if (to < 29 || (to == 31 && insn >> 29 & 1)) /* the flags only */
		return ARCH_STEP_PLAIN;
	if (insn >> 22 & 1)
		value <<= 12;
	if (!(insn >> 31) || to == 30 || (from != 31 && from != 29) || insn >> 29 & 1 ||
	    value > ARCH_STEP_MAX_VALUE || (to == 29 && by_fp))
		return ARCH_STEP_OTHER;
	kind = to == 31 ? ARCH_STEP_SET_SP : ARCH_STEP_SET_FP;
	return kind | by_fp | ARCH_STEP_OF(insn >> 30 & 1 ? -(__s32)value : (__s32)value);
}

/* The first instruction. */
static inline __attribute__((always_inline)) __u32 arch_epilogue(__u64 code)
{
	__u32 insn = code;

	if ((insn >> 26 & 7) == 5)
		return arch_step_branch(insn);
	/* Tags: they are stored, with write-back or not, or set. */
	if ((insn & 0xff000000) == 0xd9000000 || (insn & 0x1f800000) == 0x11800000)
		return (insn >> 5 & 31) >= 29 || (insn & 31) >= 29 ? ARCH_STEP_OTHER
								   : ARCH_STEP_PLAIN;
	if ((insn & 0x2a000000) == 0x28000000)
		return arch_step_access(insn);
	if ((insn & 0x1f800000) == 0x11000000)
		return arch_step_add(insn);
	/* Vectors, of which some move their base; exclusive access, which has up to three
	 * registers. */
	if ((insn & 0x3e000000) == 0x0c000000)
		return insn >> 23 & 1 && (insn >> 5 & 31) >= 29 ? ARCH_STEP_OTHER : ARCH_STEP_PLAIN;
	if ((insn & 0x3f000000) == 0x08000000 &&
	    ((insn >> 16 & 31) - 29 < 2 || (insn >> 10 & 31) - 29 < 2))
		return ARCH_STEP_OTHER;
	/* What writes SP in another way: logic with a number, sums with a shifted register. */
	if ((insn & 31) == 31 &&
	    ((insn & 0x1f800000) == 0x12000000 || (insn & 0x1fe00000) == 0x0b200000))
		return ARCH_STEP_OTHER;
	if (!(insn >> 27 & 3)) /* not allocated, or of scalable vectors */
		return ARCH_STEP_OTHER;
	return (insn & 31) - 29 < 2 ? ARCH_STEP_OTHER : ARCH_STEP_PLAIN;
}

/* --- the return from a signal handler: `mov x8, #139; svc #0` -------------------------------- */

#define ARCH_SIGRETURN_SIZE 8
#define ARCH_SIGRETURN_CALL 4 /* offset of the system call in it */

static inline __attribute__((always_inline)) int arch_is_system_call(__u64 code)
{
	return (__u32)code == 0xd4000001;
}

static inline __attribute__((always_inline)) int arch_begins_sigreturn(__u64 code)
{
	return code == 0xd4000001d2801168ull;
}

/* True for its last 8 bytes, which are all. */
static inline __attribute__((always_inline)) int arch_ends_sigreturn(__u64 code)
{
	return arch_begins_sigreturn(code);
}

/* True when it ends right behind the 8 bytes. */
static inline __attribute__((always_inline)) int arch_is_behind_sigreturn(__u64 code)
{
	return arch_begins_sigreturn(code);
}

/* --- the end of a thread -------------------------------------------------------------------- */

/* True for musl's `mov x8, #93; svc #0`. */
static inline __attribute__((always_inline)) int arch_is_thread_exit(__u64 code)
{
	return code == 0xd4000001d2800ba8ull;
}

/* --- stubs of the PLT ------------------------------------------------------------------------ */

/* A stub leaves SP and x30 alone, but for the first one, which has its own rows (plthead.c). */
#define ARCH_PLT_CFA   0
#define ARCH_PLT_PUSH  16
#define ARCH_PLT_BYTES 16

/* No CFI has a rule for stubs that depends on the pc. */
static inline __attribute__((always_inline)) __u64 arch_plt_cfa(__u64 sp, __u64 pc, __u32 threshold)
{
	(void)pc;
	(void)threshold;
	return sp;
}

#endif
