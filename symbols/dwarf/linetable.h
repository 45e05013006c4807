/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_DWARF_LINETABLE_H
#define STACKTOP_SYMBOLS_DWARF_LINETABLE_H

/*
 * The line table of a unit, for the source line at an address (.debug_line, DWARF 2 to 5). Rows are
 * read on demand, a sequence at a time.
 */

#include "symbols/elf/elffile.h"

struct linetable;

struct linetable_source { /* sections of size 0 are missing; all must outlive the table */
	struct elf_section line, line_str, str;
	const char *dir; /* of the unit, DW_AT_comp_dir; NULL: unknown */
	uint64_t low,
		high; /* code is in [low, high): sequences that begin elsewhere are left out */
};

/*
 * The table at an offset of the section. If a program is broken off, its rows before are used.
 * -EINVAL: the header cannot be read; -ENOMEM.
 */
int linetable_new(const struct linetable_source *source, uint64_t offset, struct linetable **out);
void linetable_free(struct linetable *table);
/* Bytes of memory held; grows with what is asked for. */
size_t linetable_bytes(const struct linetable *table);

/* False: there is no row for the address. *line 0: unknown. */
bool linetable_find(struct linetable *table, uint64_t vaddr, uint64_t *file, unsigned int *line);
/*
 * Path of a file by its number, with the directories in the table, or without any. NULL: there is
 * no such file. Valid until linetable_free.
 */
const char *linetable_file(struct linetable *table, uint64_t file);

#endif
