/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_ARCH_ARM64_SIGCONTEXT_H
#define STACKTOP_UNWIND_ARCH_ARM64_SIGCONTEXT_H

/*
 * struct sigcontext of Linux, as the kernel leaves it on the stack of a signal handler: x0 to x30,
 * sp and pc, in the order of their DWARF numbers.
 */

#include <linux/types.h>

#include "unwind/arch/arm64/registers.h"

/* struct siginfo, struct ucontext up to uc_mcontext, fault_address: from SP in a handler's caller
 */
#define SIGCONTEXT_AT	  (128 + 176 + 8)
#define ARCH_SIGNAL_FRAME 0 /* the same while a handler begins */

#define SIGNAL_FRAME_BYTES 4688 /* struct rt_sigframe */

#define ARCH_SIGCONTEXT_IN_ORDER 1

#define SIGCONTEXT_COUNT DWARF_COUNT
#define SIGCONTEXT_SP	 DWARF_SP
#define SIGCONTEXT_FP	 DWARF_X29
#define SIGCONTEXT_PC	 DWARF_PC

/* From the registers to the first record behind them, which is that of the vector registers. */
#define SIGCONTEXT_RECORDS 280
#define SIGCONTEXT_FPSIMD  0x0000021046508001ull /* its size and magic number */

#endif
