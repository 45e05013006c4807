/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In this room because the screen has no access to the tables. */
#include "bpf/report/dump.h"

#include <errno.h>

#include "symbols/elf/elffile.h"
#include "unwind/derive.h"
#include "unwind/table.h"
#include "unwind/wide.h"

int dump_unwind(const char *path, FILE *to, FILE *notes)
{
	struct wide_rules *wide = wide_rules_new();
	struct unwind_table *table = NULL;
	struct elf_file *file = NULL;
	int err = wide ? elf_file_open(path, &file) : -ENOMEM;

	if (!err)
		err = unwind_table_build(file, wide, &table);
	if (!err && derive_missing())
		fprintf(notes, "stacktop: code without CFI has no rows: %s\n", derive_missing());
	if (!err && !table->nspans)
		err = -ENODATA;
	if (!err)
		err = unwind_table_dump(table, wide, to);
	if (!err && table->bad_fdes)
		fprintf(notes, "stacktop: %u of %u FDEs are malformed and left out\n",
			table->bad_fdes, table->nfdes);
	for (unsigned int i = 0; !err && i < ROW_CLASS_COUNT; i++)
		if (table->classes[i])
			fprintf(notes, "stacktop: %u rows not supported: %s\n", table->classes[i],
				row_class_name(i));
	unwind_table_free(table);
	elf_file_free(file);
	wide_rules_free(wide);
	return err;
}
