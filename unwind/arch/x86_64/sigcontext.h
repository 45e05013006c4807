/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_ARCH_X86_64_SIGCONTEXT_H
#define STACKTOP_UNWIND_ARCH_X86_64_SIGCONTEXT_H

/*
 * struct sigcontext of Linux, as the kernel leaves it on the stack of a signal handler: the order
 * of the general registers, and where they stand in the ucontext.
 */

#include <linux/types.h>

#include "unwind/arch/x86_64/registers.h"

#define SIGCONTEXT_AT	  40 /* struct ucontext.uc_mcontext, from SP where a handler returns to */
#define ARCH_SIGNAL_FRAME 8  /* bytes that are in front of that while a handler begins */

#define ARCH_SIGCONTEXT_IN_ORDER 0 /* the registers are not in that of DWARF */

enum sigcontext_reg {
	SIGCONTEXT_R8,
	SIGCONTEXT_R9,
	SIGCONTEXT_R10,
	SIGCONTEXT_R11,
	SIGCONTEXT_R12,
	SIGCONTEXT_R13,
	SIGCONTEXT_R14,
	SIGCONTEXT_R15,
	SIGCONTEXT_RDI,
	SIGCONTEXT_RSI,
	SIGCONTEXT_RBP,
	SIGCONTEXT_RBX,
	SIGCONTEXT_RDX,
	SIGCONTEXT_RAX,
	SIGCONTEXT_RCX,
	SIGCONTEXT_RSP,
	SIGCONTEXT_RIP,
	SIGCONTEXT_COUNT,
};

#define SIGCONTEXT_SP SIGCONTEXT_RSP
#define SIGCONTEXT_FP SIGCONTEXT_RBP
#define SIGCONTEXT_PC SIGCONTEXT_RIP

/* to[n] is DWARF register n. */
static inline __attribute__((always_inline)) void
arch_from_sigcontext(__u64 to[DWARF_COUNT], const __u64 g[SIGCONTEXT_COUNT])
{
	to[DWARF_RAX] = g[SIGCONTEXT_RAX];
	to[DWARF_RDX] = g[SIGCONTEXT_RDX];
	to[DWARF_RCX] = g[SIGCONTEXT_RCX];
	to[DWARF_RBX] = g[SIGCONTEXT_RBX];
	to[DWARF_RSI] = g[SIGCONTEXT_RSI];
	to[DWARF_RDI] = g[SIGCONTEXT_RDI];
	to[DWARF_RBP] = g[SIGCONTEXT_RBP];
	to[DWARF_RSP] = g[SIGCONTEXT_RSP];
	to[DWARF_R8] = g[SIGCONTEXT_R8];
	to[DWARF_R9] = g[SIGCONTEXT_R9];
	to[DWARF_R10] = g[SIGCONTEXT_R10];
	to[DWARF_R11] = g[SIGCONTEXT_R11];
	to[DWARF_R12] = g[SIGCONTEXT_R12];
	to[DWARF_R13] = g[SIGCONTEXT_R13];
	to[DWARF_R14] = g[SIGCONTEXT_R14];
	to[DWARF_R15] = g[SIGCONTEXT_R15];
	to[DWARF_RIP] = g[SIGCONTEXT_RIP];
}

#endif
