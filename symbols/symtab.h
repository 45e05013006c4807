/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_SYMTAB_H
#define STACKTOP_SYMBOLS_SYMTAB_H

/*
 * The functions of one ELF file, sorted by address: .symtab of the file or of its separate debug
 * file (found by build-id below /usr/lib/debug/.build-id), and .dynsym.
 */

#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct symtab;

struct symbol {
	const char *name; /* as in the file, not demangled; owned by the symtab */
	uint64_t start;	  /* ELF virtual address */
	uint64_t size;	  /* 0 in the file: up to the next symbol or the section's end */
};

/*
 * Reads all function symbols. debug_root is the folder that holds .build-id ("/usr/lib/debug"),
 * NULL for no separate debug file. A file without symbols gives an empty table. The elf_file is
 * not needed afterwards. -ENOMEM, or -EINVAL when nothing in it can be used.
 */
int symtab_new(const struct elf_file *file, const char *debug_root, struct symtab **out);
void symtab_free(struct symtab *table);
size_t symtab_count(const struct symtab *table);
/* Bytes of memory that the table holds. */
size_t symtab_bytes(const struct symtab *table);

/* 0 and *out, or -ENOENT when no function covers the address. */
int symtab_find(const struct symtab *table, uint64_t vaddr, struct symbol *out);

#endif
