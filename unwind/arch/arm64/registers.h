/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_ARCH_ARM64_REGISTERS_H
#define STACKTOP_UNWIND_ARCH_ARM64_REGISTERS_H

/* Registers by their DWARF numbers (DWARF for the Arm 64-bit Architecture, 4.1), names and roles.
 */

#include <linux/types.h>

#define ARCH_MACHINE	183 /* EM_AARCH64 */
#define ARCH_SFRAME_ABI 2   /* SFRAME_ABI_AARCH64_ENDIAN_LITTLE */

enum dwarf_reg {
	DWARF_X0,
	DWARF_X29 = 29,
	DWARF_X30,
	DWARF_SP,
	DWARF_PC,
	DWARF_COUNT,
};

#define ARCH_SP	    DWARF_SP
#define ARCH_FP	    DWARF_X29
#define ARCH_PC	    DWARF_PC
#define ARCH_RESULT DWARF_X0 /* of a system call */

/*
 * A call leaves the return address in x30. A function that calls others saves it right above the
 * frame pointer: both are a frame record, which may be anywhere in the frame (AAPCS64, "The Frame
 * Pointer").
 */
#define ARCH_RA_AT    0 /* not at a fixed place */
#define ARCH_HAS_LINK 1
#define ARCH_LINK     DWARF_X30
#define ARCH_FP_BELOW 8 /* bytes that a frame pointer may be below SP: that of Go */

/* Registers that a walk keeps track of: bit n for register n. */
#define ARCH_KNOWN_REGS 32u
#define ARCH_ALL_KNOWN	0xffffffffu

/*
 * An address as code or data is read from. A signed return address has its signature above the
 * address (pointer authentication), and memory tags stand in the highest byte. How many bits an
 * address has depends on the kernel; those with 52 are given to programs that ask for them only.
 */
#define arch_code(value) ((value)&STEP_CODE_MASK) /* of unwind/step.h */

static inline __attribute__((always_inline)) __u64 arch_data(__u64 value)
{
	return value & ((1ull << 56) - 1);
}

#define ARCH_PC_SHIFT 2 /* instructions have 4 bytes */
#define ARCH_DERIVES  0 /* code without CFI gets no rows: it keeps frame records */

#define ARCH_STEP_H	 "unwind/arch/arm64/step.h"
#define ARCH_UNWIND_DUMP unwind_dump_arm64

/* As people read them. */
#define ARCH_SP_NAME	 "sp"
#define ARCH_FP_NAME	 "x29"
#define ARCH_FP_CAPITALS "X29"
#define ARCH_RESULT_NAME "x0"

/*
 * Registers that rules need beyond a call: 0, since no compiled file's do, but for the frame
 * pointer.
 */
#define ARCH_CALLEE_SAVED 0u

/* Name of a DWARF register below DWARF_COUNT, else "?". */
static inline const char *arch_reg_name(unsigned int reg)
{
	static const char *const names[DWARF_COUNT] = {
		"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",	 "x7",	"x8",  "x9",  "x10",
		"x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
		"x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp",  "pc",
	};

	return reg < DWARF_COUNT ? names[reg] : "?";
}

#endif
