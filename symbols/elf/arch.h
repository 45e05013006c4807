/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_ELF_ARCH_H
#define STACKTOP_SYMBOLS_ELF_ARCH_H

/*
 * What is read of files of each processor, whichever runs here: a header for each, chosen by the
 * machine of the file (e_machine).
 */

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARCH_STUB_MAX	32u /* bytes; LLVM's retpolines have so many, all others 8, 16 or 24 */
#define ARCH_STUB_USUAL 16u

#include "symbols/elf/arch/arm64.h"
#include "symbols/elf/arch/kinds.h"
#include "symbols/elf/arch/x86_64.h"

/* The processor that this program runs on, and that of the 32-bit programs that it may run. */
#if defined(__x86_64__)
#define ARCH_ELF_MACHINE    EM_X86_64
#define ARCH_ELF_MACHINE_32 EM_386
#elif defined(__aarch64__)
#define ARCH_ELF_MACHINE    EM_AARCH64
#define ARCH_ELF_MACHINE_32 EM_ARM
#else
#error "symbols/elf/arch/ has no header for this processor"
#endif

/* True for files of a processor whose code is known. */
static inline bool arch_is_known(unsigned int machine)
{
	return machine == EM_X86_64 || machine == EM_AARCH64;
}

/* type: ELF64_R_TYPE of a relocation. */
static inline enum arch_relocation arch_relocation(unsigned int machine, uint32_t type)
{
	return machine == EM_AARCH64 ? arm64_relocation(type) : x86_64_relocation(type);
}

/* What the code p[0, room) at addr is. *value: see enum plt_stub. */
static inline enum plt_stub arch_plt_stub(unsigned int machine, const uint8_t *p, size_t room,
					  uint64_t addr, uint64_t *value)
{
	return machine == EM_AARCH64 ? arm64_plt_stub(p, room, addr, value)
				     : x86_64_plt_stub(p, room, addr, value);
}

/* Bytes of the shortest jump of a stub: the next one begins behind it. */
static inline size_t arch_jump_min(unsigned int machine)
{
	return machine == EM_AARCH64 ? ARM64_JUMP_MIN : X86_64_JUMP_MIN;
}

#endif
