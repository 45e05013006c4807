/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_NAMES_SYMREAD_H
#define STACKTOP_SYMBOLS_NAMES_SYMREAD_H

/*
 * The symbol tables of an ELF file.
 */

#include <stdbool.h>
#include <stdint.h>

#include "symbols/base/bytes.h"
#include "symbols/names/symlist.h"

struct elf_file;

struct symread_strings {    /* a string table, and where it is */
	struct bytes bytes; /* the elf_file's */
	uint64_t offset;
	uint64_t end;
};

/*
 * Adds the functions and labels of .symtab or .dynsym, except for those whose names say that they
 * are none (symname_is_marker). What has a size beyond 16 bytes or is global is believed to be one.
 * -ENOENT: no such table, or one that cannot be used, *out is unchanged; -ENOMEM, -ECANCELED.
 */
int symread(const struct elf_file *file, enum symlist_source source, struct symlist *list,
	    struct symread_strings *out);
/* Only where the strings are. -ENOENT as above. */
int symread_strings(const struct elf_file *file, enum symlist_source source,
		    struct symread_strings *out);

/*
 * True when the .symtab of one file may lack what the .dynsym of the other has: linkers put all of
 * the one into the other, so that fewer globals mean one that was thinned out by strip, or none.
 */
bool symread_is_thin(const struct elf_file *file, const struct elf_file *dynamic);

#endif
