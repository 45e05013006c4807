/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_ELF_ARCH_ARM64_H
#define STACKTOP_SYMBOLS_ELF_ARCH_ARM64_H

/*
 * Relocations and the code of PLT stubs of arm64 (ELF for the Arm 64-bit Architecture, "Procedure
 * Linkage Table").
 */

#include <elf.h>
#include <string.h>

#include "symbols/elf/arch/kinds.h"

#define ARM64_JUMP_MIN 12u

static inline enum arch_relocation arm64_relocation(uint32_t type)
{
	switch (type) {
	case R_AARCH64_RELATIVE:
		return ARCH_RELATIVE;
	case R_AARCH64_IRELATIVE:
		return ARCH_IRELATIVE;
	case R_AARCH64_JUMP_SLOT:
		return ARCH_JUMP_SLOT;
	case R_AARCH64_GLOB_DAT:
		return ARCH_GLOB_DAT;
	default:
		return ARCH_OTHER;
	}
}

/* The page that `adrp` at the address gives. */
static inline uint64_t arm64_page(uint32_t adrp, uint64_t addr)
{
	uint64_t pages = (uint64_t)(adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);

	return (addr & ~(uint64_t)4095) + (((pages ^ 0x100000) - 0x100000) << 12);
}

/* (bti c;) adrp x16, page; ldr x17, [x16, #n]; ... */
static inline enum plt_stub arm64_plt_stub(const uint8_t *p, size_t room, uint64_t addr,
					   uint64_t *value)
{
	uint32_t code[3];
	size_t at = 0;

	if (room < sizeof(code) || addr & 3)
		return PLT_STUB_NONE;
	memcpy(code, p, sizeof(code));
	if (code[0] == 0xd503245f)
		at = 1;
	if ((code[at] & 0x9f00001f) != 0x90000010 || (code[at + 1] & 0xffc003ff) != 0xf9400211)
		return PLT_STUB_NONE;
	*value = arm64_page(code[at], addr + 4 * at) + (code[at + 1] >> 10 & 0xfff) * 8;
	return PLT_STUB_SLOT;
}

#endif
