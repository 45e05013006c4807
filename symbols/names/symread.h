/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_NAMES_SYMREAD_H
#define STACKTOP_SYMBOLS_NAMES_SYMREAD_H

/*
 * Where a symtab has its symbols from: the symbol tables of an ELF file, the stubs of its procedure
 * linkage tables, which have no symbols of their own, and Go's own table of functions.
 */

#include <stdbool.h>

#include "symbols/base/bytes.h"
#include "symbols/names/symlist.h"

struct elf_file;
struct pclntab;

struct symread_strings {    /* a string table, and where it is */
	struct bytes bytes; /* the elf_file's */
	uint64_t offset;
	uint64_t end;
};

/*
 * Adds the functions and labels of .symtab or .dynsym, except those that are none by their names
 * (symname_is_marker). A symbol that is global or has more than 16 bytes counts as a function
 * without a look at its name. -ENOENT: no such table, or an unusable one, *out is unchanged;
 * -ENOMEM, -ECANCELED.
 */
int symread(const struct elf_file *file, enum symlist_source source, struct symlist *list,
	    struct symread_strings *out);
/* Finds only the strings. -ENOENT as above. */
int symread_strings(const struct elf_file *file, enum symlist_source source,
		    struct symread_strings *out);

/*
 * True if the .symtab of one file may lack symbols of the other's .dynsym: linkers put all of
 * .dynsym into .symtab, so fewer globals mean that strip has thinned it out, or that there is none.
 */
bool symread_is_thin(const struct elf_file *file, const struct elf_file *dynamic);

/*
 * Adds each stub of the sections .plt* and .iplt as SYMLIST_PLT or SYMLIST_IPLT. A file without
 * any, or with broken ones, adds none. -ENOMEM.
 */
int plt_read(const struct elf_file *file, struct symlist *list);

/*
 * Adds all functions of Go's table as SYMLIST_GO. -ENOENT: no such table; -EINVAL: an unusable one;
 * -ENOMEM.
 */
int gopclntab_read(const struct elf_file *file, struct symlist *list, struct pclntab *out);

#endif
