/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_NAMES_SYMTAB_H
#define STACKTOP_SYMBOLS_NAMES_SYMTAB_H

/*
 * The functions of one ELF file, sorted by address: those of .symtab, from the file itself, its
 * separate debug file, or .gnu_debugdata (debugfile.h); those of .dynsym; the stubs
 * of its PLTs as `name@plt`; and for Go programs without .symtab those of .gopclntab.
 *
 * A table holds 16 bytes for each function. Names stay in the file until they are asked for; for
 * that the table keeps at most two descriptors open, and can do without them for a while. A file
 * that is written meanwhile gives other names, or none.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct debug_place;
struct elf_file;
struct symtab;

struct symbol {
	const char
		*name;	/* as in the file without its version, not demangled; the symtab owns it */
	uint64_t start; /* ELF virtual address */
	uint64_t size;	/* 0 in the file: up to the next symbol or the section's end */
	bool guessed;	/* may be too far: functions without a symbol may lie there */
};

/* Says where functions without a size in the file end, for one who knows more of the file. */
struct symtab_extents {
	/* True if the function that begins at start is still there at vaddr. */
	bool (*reaches)(void *arg, uint64_t start, uint64_t vaddr);
	void *arg;
};

/*
 * Reads all function symbols. place: where debug files are, NULL: none. A file without symbols
 * gives an empty table. The elf_file is not needed afterwards. -ENOMEM; -EINVAL: nothing in it is
 * usable; -ECANCELED (elf_file_work).
 */
int symtab_new(const struct elf_file *file, const struct debug_place *place, struct symtab **out);
void symtab_free(struct symtab *table);

/* Closes the files. Until symtab_wake only names that were asked for before are known. */
void symtab_rest(struct symtab *table);
bool symtab_rests(const struct symtab *table);
/*
 * Opens them again: fd, which the caller keeps, is the file that the table was made from, place
 * where its debug file was found. On an error (-ESTALE: there is another debug file now) the table
 * stays closed: make a new one.
 */
int symtab_wake(struct symtab *table, int fd, const struct debug_place *place);

size_t symtab_count(const struct symtab *table);
/* Bytes of memory that the table holds; grows with the names that are asked for. */
size_t symtab_bytes(const struct symtab *table);
/* False: there was no full .symtab, so a debug file that is installed later would add something. */
bool symtab_complete(const struct symtab *table);

/*
 * 0 and *out; -ENOENT: no function covers the address, or its name cannot be read any more;
 * -ENOMEM. The name stays valid until symtab_free.
 */
int symtab_find(struct symtab *table, uint64_t vaddr, struct symbol *out);
/* The same. extents: is asked about functions without a size; NULL: these end as in struct symbol.
 */
int symtab_find_within(struct symtab *table, uint64_t vaddr, const struct symtab_extents *extents,
		       struct symbol *out);
/*
 * demangle (demangle.h) for a name of this table. When the name could be of a language that is told
 * by the file only, the strings of the file are searched once for the runtime of that language.
 */
char *symtab_demangle(struct symtab *table, const char *name);

#endif
