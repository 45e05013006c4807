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

/*
 * Behind an endbr64: `lea place(%rip), %rax; ret`, with `mov (%rax), %rax or %eax` between them, or
 * `mov place(%rip), %rax or %eax; ret`.
 */
static inline uint64_t x86_64_getter(const uint8_t *code, uint64_t addr, bool wide, bool *loads)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa}, lea[] = {0x48, 0x8d, 0x05},
			     load[] = {0x48, 0x8b, 0x05}, follow[] = {0x48, 0x8b, 0x00};
	const size_t narrow = wide ? 0 : 1; /* without the prefix */
	size_t at = memcmp(code, endbr, sizeof(endbr)) ? 0 : sizeof(endbr), from = 0;
	int32_t offset;

	*loads = true;
	if (!memcmp(code + at, lea, sizeof(lea)))
		*loads = false;
	else if (!memcmp(code + at, load + narrow, sizeof(load) - narrow))
		from = narrow;
	else
		return 0;
	at += sizeof(load) - from;
	memcpy(&offset, code + at, sizeof(offset));
	at += sizeof(offset);
	addr += at + (uint64_t)(int64_t)offset;
	if (!*loads && !memcmp(code + at, follow + narrow, sizeof(follow) - narrow)) {
		*loads = true;
		at += sizeof(follow) - narrow;
	}
	return code[at] == 0xc3 && (*loads || wide) ? addr : 0;
}

#endif
