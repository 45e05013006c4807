/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In this room because the screen has no access to the tables. */
#include "bpf/report/dump.h"

#include "symbols/elf/elffile.h"
#include "unwind/machine.h"

int dump_unwind(const char *path, FILE *to, FILE *notes)
{
	struct elf_file *file = NULL;
	int err = elf_file_open(path, &file);

	if (!err)
		err = unwind_dump(file, to, notes);
	elf_file_free(file);
	return err;
}
