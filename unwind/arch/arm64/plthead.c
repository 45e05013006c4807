// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The first stub of a PLT, to which the others lead before a function is bound, begins with
 *
 *	(bti c;) stp x16, x30, [sp, #-16]!
 *
 * (ELF for the Arm 64-bit Architecture, "Procedure Linkage Table"). No linker writes CFI for it.
 */
#include "unwind/rule.h"

#include "symbols/elf/elffile.h"

uint32_t plt_head(const struct elf_file *file, const struct elf_section *section)
{
	uint32_t code[2];

	if (section->size < PLT_HEAD_BYTES ||
	    elf_file_read(file, section->offset, code, sizeof(code)))
		return 0;
	if (code[0] == 0xa9bf7bf0)
		return 4;
	return code[1] == 0xa9bf7bf0 ? 8 : 0;
}
