/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_ELF_ARCH_KINDS_H
#define STACKTOP_SYMBOLS_ELF_ARCH_KINDS_H

/* What the headers of all processors say (symbols/elf/arch.h). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum plt_stub {
	PLT_STUB_NONE, /* not the beginning of a stub */
	PLT_STUB_SLOT, /* jumps through the GOT slot at an address */
	PLT_STUB_LAZY, /* pushes the number of its relocation in .rela.plt */
};

enum arch_relocation {
	ARCH_RELATIVE, /* the bias is added to the addend: a pointer into the file itself */
	ARCH_IRELATIVE,
	ARCH_JUMP_SLOT,
	ARCH_GLOB_DAT,
	ARCH_OTHER,
};

#endif
