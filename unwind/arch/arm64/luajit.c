// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * LuaJIT's assembler code pushes nothing on this processor: its CFI is right all through
 * (src/vm_arm64.dasc, "saveregs").
 */
#include "unwind/luajit.h"

int luajit_rows_begin(struct luajit_rows *rows, const struct elf_file *file,
		      const struct cfi_fde *fde, cfa_row_fn *row, void *arg)
{
	(void)file;
	*rows = (struct luajit_rows){.fde = fde, .row = row, .arg = arg};
	return 0;
}

int luajit_row(void *rows, uint64_t pc, const struct cfa_state *state)
{
	const struct luajit_rows *r = rows;

	return r->row(r->arg, pc, state);
}

void luajit_rows_free(struct luajit_rows *rows)
{
	(void)rows;
}
