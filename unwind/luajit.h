/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_LUAJIT_H
#define STACKTOP_UNWIND_LUAJIT_H

/*
 * LuaJIT's interpreter: assembler code of many functions with one FDE, which gives all of them the
 * frame that they have while they run byte code.
 */

#include "unwind/cfa.h"

struct elf_file;

struct luajit_rows {
	const struct cfi_fde *fde;
	uint8_t *code; /* all of the FDE's */
	cfa_row_fn *row;
	void *arg;
};

/*
 * 1: the FDE is of such code. luajit_row is then to be given to cfa_run, with *rows as its
 * argument, and calls row where the code has another frame, too; the caller calls luajit_rows_free.
 * 0: it is of other code. -ENOMEM.
 */
int luajit_rows_begin(struct luajit_rows *rows, const struct elf_file *file,
		      const struct cfi_fde *fde, cfa_row_fn *row, void *arg);
int luajit_row(void *rows, uint64_t pc, const struct cfa_state *state);
void luajit_rows_free(struct luajit_rows *rows);

#endif
