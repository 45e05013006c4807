/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_ELF_ARCH_X86_64_H
#define STACKTOP_SYMBOLS_ELF_ARCH_X86_64_H

/*
 * The relocations that fill slots of the GOT, and the code of PLT stubs (psABI AMD64, "Procedure
 * Linkage Table") and of functions that return a variable. A part of symbols/elf/arch.h.
 */

#include <elf.h>
#include <string.h>

#include "symbols/elf/arch/kinds.h"

#define X86_64_JUMP_MIN 5u

static inline enum arch_relocation x86_64_relocation(uint32_t type)
{
	switch (type) {
	case R_X86_64_RELATIVE:
		return ARCH_RELATIVE;
	case R_X86_64_IRELATIVE:
		return ARCH_IRELATIVE;
	case R_X86_64_JUMP_SLOT:
		return ARCH_JUMP_SLOT;
	case R_X86_64_GLOB_DAT:
		return ARCH_GLOB_DAT;
	default:
		return ARCH_OTHER;
	}
}

/*
 * endbr64 and bnd may come first, then `push n`,
 * `jmp *slot(%rip)`, or `mov slot(%rip), %r11` of a retpoline.
 */
static inline enum plt_stub x86_64_plt_stub(const uint8_t *p, size_t room, uint64_t addr,
					    uint64_t *value)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
	size_t skip = 0, jump;
	int32_t offset;
	uint32_t number;

	if (room >= sizeof(endbr) && !memcmp(p, endbr, sizeof(endbr)))
		skip = sizeof(endbr);
	if (room >= skip + 5 && skip && p[skip] == 0x68) { /* push */
		memcpy(&number, p + skip + 1, sizeof(number));
		*value = number;
		return PLT_STUB_LAZY;
	}
	if (skip < room && p[skip] == 0xf2)
		skip++;
	if (room >= skip + 6 && p[skip] == 0xff && p[skip + 1] == 0x25)
		jump = skip + 2;
	else if (!skip && room >= 7 && p[0] == 0x4c && p[1] == 0x8b && p[2] == 0x1d)
		jump = 3;
	else
		return PLT_STUB_NONE;
	memcpy(&offset, p + jump, sizeof(offset));
	*value = addr + jump + sizeof(offset) + (uint64_t)(int64_t)offset;
	return PLT_STUB_SLOT;
}

#endif
