/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_TABLE_H
#define STACKTOP_UNWIND_TABLE_H

/*
 * Compiles the call frame information of an ELF file to the words that the BPF program searches.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "unwind/row.h"

struct elf_file;
struct wide_rules;

/* A run of text that has rows. Addresses are ELF virtual addresses. */
struct unwind_span {
	uint64_t start;	    /* multiple of GRANULE_SIZE */
	uint64_t end;	    /* exclusive, multiple of GRANULE_SIZE */
	uint32_t first;	    /* of this span's block in unwind_table.words */
	uint32_t nwords;    /* index and rows, at most SPAN_MAX_WORDS */
	uint32_t ngranules; /* (end - start) / GRANULE_SIZE: the index words */
};

struct unwind_table {
	struct unwind_span *spans; /* ascending, disjoint */
	uint32_t nspans;
	uint32_t *words;
	uint32_t nwords;
	/* The input of the table. */
	uint64_t cfi_bytes; /* size of the sections used; 0: the file has no CFI */
	uint32_t nrows;
	uint32_t nderived; /* rows of code without CFI, see unwind/derive.h */
	uint32_t nfdes;
	uint32_t bad_fdes;		   /* malformed, each costs its own function only */
	uint32_t classes[ROW_CLASS_COUNT]; /* rows that ended as ROW_UNSUPPORTED */
};

/*
 * Builds the table of .eh_frame; of .debug_frame for addresses that it does not cover; of .sframe
 * for those that neither covers; of .gopclntab for functions of Go that none covers
 * (unwind/go_pcsp.h); of the machine code elsewhere (unwind/derive.h). PLT sections without CFI get
 * CFA = SP + ARCH_PLT_CFA. A file without any of these gives a table without spans, as does one
 * without an executable segment (relocatable). -ENOMEM, -ENOTSUP for another machine (or a .sframe
 * of another one and nothing else), or -EINVAL when the section as a whole is unusable. -E2BIG:
 * more CFI than LIMIT_CFI, or it takes more work than LIMIT_WORK. -ECANCELED: the flag of
 * elf_file_work(file) was set; it is checked often. The caller frees *out with unwind_table_free.
 */
int unwind_table_build(const struct elf_file *file, struct wide_rules *wide,
		       struct unwind_table **out);

struct unwind_soon {
	void (*take)(void *arg, const struct unwind_table *table);
	void *arg;
};

/*
 * The same. Of a file with much CFI `soon` gets a table before the machine code is read, which
 * takes several times as long: it has the rows of the CFI, and is valid during the call.
 */
int unwind_table_build_soon(const struct elf_file *file, struct wide_rules *wide,
			    const struct unwind_soon *soon, struct unwind_table **out);
void unwind_table_free(struct unwind_table *table);

/*
 * Prints `PC CFA FP RA`, tab-separated, a line for each row of the compact table, equal neighbours
 * merged (see stacktop(1), --dump-unwind). Where the table says nothing about a column it prints
 * `-`: FP and RA of `end`, and of a row that is not supported all but the column with `expr`. An
 * outermost row (RA `u`) whose CFA is not short has CFA `expr`. RA `c-8|u` is `u` where the
 * result of a clone is zero. FP `=c` is Haskell's: the CFA, on a stack of its own, while SP is
 * unchanged; the name of SP and `+8` behind it: SP is eight bytes lower. -EIO when writing failed.
 */
int unwind_table_dump(const struct unwind_table *table, const struct wide_rules *wide, FILE *out);

/* An enum row_class as text: "CFA expression", ... */
const char *row_class_name(unsigned int row_class);

#endif
