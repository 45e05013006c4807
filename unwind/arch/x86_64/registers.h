/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_ARCH_X86_64_REGISTERS_H
#define STACKTOP_UNWIND_ARCH_X86_64_REGISTERS_H

/* Registers by their DWARF numbers (System V psABI x86-64, figure 3.36), their names and roles. */

#include <linux/types.h>

#define ARCH_MACHINE	62 /* EM_X86_64 */
#define ARCH_SFRAME_ABI 3  /* SFRAME_ABI_AMD64_ENDIAN_LITTLE */

enum dwarf_reg {
	DWARF_RAX,
	DWARF_RDX,
	DWARF_RCX,
	DWARF_RBX,
	DWARF_RSI,
	DWARF_RDI,
	DWARF_RBP,
	DWARF_RSP,
	DWARF_R8,
	DWARF_R9,
	DWARF_R10,
	DWARF_R11,
	DWARF_R12,
	DWARF_R13,
	DWARF_R14,
	DWARF_R15,
	DWARF_RIP,
	DWARF_COUNT,
};

#define ARCH_SP	    DWARF_RSP
#define ARCH_FP	    DWARF_RBP
#define ARCH_PC	    DWARF_RIP
#define ARCH_RESULT DWARF_RAX /* of a system call */

#define ARCH_RA_AT    (-8) /* where a call leaves the return address, from the CFA */
#define ARCH_HAS_LINK 0	   /* not in a register */
#define ARCH_LINK     0
#define ARCH_FP_BELOW 0 /* bytes that a frame pointer may be below the stack pointer */

/* Registers that a walk keeps track of: bit n for register n. */
#define ARCH_KNOWN_REGS 17u
#define ARCH_ALL_KNOWN	((1u << ARCH_KNOWN_REGS) - 1u)

/* An address as code or data is read from, without what else pointers to it may have. */
static inline __attribute__((always_inline)) __u64 arch_code(__u64 value)
{
	return value;
}

static inline __attribute__((always_inline)) __u64 arch_data(__u64 value)
{
	return value;
}

#define ARCH_PC_SHIFT 0 /* instructions begin at any byte */
#define ARCH_DERIVES  1 /* code without CFI gets rows (unwind/effect.h) */

#define ARCH_STEP_H	 "unwind/arch/x86_64/step.h"
#define ARCH_UNWIND_DUMP unwind_dump_x86_64

/* As people read them. */
#define ARCH_SP_NAME	 "rsp"
#define ARCH_FP_NAME	 "rbp"
#define ARCH_FP_CAPITALS "RBP"
#define ARCH_RESULT_NAME "rax"

/* Bit n: a function returns register n unchanged (psABI 3.2.1). Without the frame pointer. */
#define ARCH_CALLEE_SAVED                                                                          \
	(1u << DWARF_RBX | 1u << DWARF_R12 | 1u << DWARF_R13 | 1u << DWARF_R14 | 1u << DWARF_R15)

/* Name of a DWARF register below DWARF_COUNT, else "?". */
static inline const char *arch_reg_name(unsigned int reg)
{
	static const char *const names[DWARF_COUNT] = {
		"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8",
		"r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip",
	};

	return reg < DWARF_COUNT ? names[reg] : "?";
}

#endif
