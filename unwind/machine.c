// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/machine.h"

#include <elf.h>
#include <errno.h>

#include "symbols/elf/elffile.h"

int unwind_dump(const struct elf_file *file, FILE *to, FILE *notes)
{
	switch (elf_file_machine(file)) {
	case EM_X86_64:
		return unwind_dump_x86_64(file, to, notes);
	case EM_AARCH64:
		return unwind_dump_arm64(file, to, notes);
	default:
		return -ENOTSUP;
	}
}
