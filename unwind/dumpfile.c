// SPDX-License-Identifier: GPL-2.0-or-later
/* See machine.h. */
#include "unwind/machine.h"

#include <errno.h>

#include "unwind/arch.h"
#include "unwind/derive.h"
#include "unwind/table.h"
#include "unwind/wide.h"

int ARCH_UNWIND_DUMP(const struct elf_file *file, FILE *to, FILE *notes)
{
	struct wide_rules *wide = wide_rules_new();
	struct unwind_table *table = NULL;
	int err = wide ? unwind_table_build(file, wide, &table) : -ENOMEM;

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
	wide_rules_free(wide);
	return err;
}
