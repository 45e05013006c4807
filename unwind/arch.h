/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_ARCH_H
#define STACKTOP_UNWIND_ARCH_H

/*
 * What the CFI code must know about the processor. The parser, the interpreter and the table speak
 * of "the stack pointer" and "the frame pointer" only; another architecture is another block here.
 * Numbers from the System V x86-64 psABI, figure 3.36.
 */

#include "unwind/row.h"

#define ARCH_SP	      DWARF_RSP
#define ARCH_FP	      DWARF_RBP
#define ARCH_PC	      DWARF_RIP
#define ARCH_RA_AT    (-8) /* of a call's return address from the CFA */
#define ARCH_PLT_CFA  8	   /* CFA - SP anywhere in a PLT stub that has no CFI */
#define ARCH_PLT_MASK 15   /* a PLT stub's size - 1, as its CFA expression has it */
#define ARCH_MACHINE  62   /* EM_X86_64 */

/* True for what a function hands back as it found it, the frame pointer apart (psABI 3.2.1). */
static inline int arch_callee_saved(unsigned int reg)
{
	return reg == DWARF_RBX || (reg >= DWARF_R12 && reg <= DWARF_R15);
}

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
