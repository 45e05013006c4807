/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_RUNTIME_RUNTIME_SYMBOLS_H
#define STACKTOP_SYMBOLS_RUNTIME_RUNTIME_SYMBOLS_H

/* The few symbols of an ELF file by which a runtime is known. */

#include <stddef.h>
#include <stdint.h>

struct elf_file;

struct runtime_symbol { /* all 0: it is not there */
	uint64_t addr;
	uint64_t size;
};

/*
 * Finds those with these names, the first of which all files with the runtime have. Stripped files
 * have them in .dynsym if extension modules link to them; .symtab is read after it, or without it.
 */
void runtime_symbols_find(const struct elf_file *file, const char *const *names, size_t n,
			  struct runtime_symbol *out);
/* Bytes of the file at an ELF address. How many there are, at most size. */
size_t runtime_symbols_data(const struct elf_file *file, uint64_t addr, void *to, size_t size);

#endif
