/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_NAMES_GOPCLNTAB_H
#define STACKTOP_SYMBOLS_NAMES_GOPCLNTAB_H

/*
 * Go's own table of functions, which strip keeps since the runtime needs it. For the format see "Go
 * 1.2 Runtime Symbol Information" and the comments in Go's debug/gosym/pclntab.go and
 * cmd/link/internal/ld/pcln.go, as of Go 1.2, 1.16, 1.18 and 1.20.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes;
struct elf_file;
struct symlist;

struct gopclntab {	/* where in the file names are, for later */
	uint64_t funcs; /* functions' offsets are relative to this offset */
	uint64_t names; /* names' offsets are relative to this one */
	uint64_t end;	/* of the table */
	uint32_t field; /* of a function's data: its name */
};

/* Adds all functions as SYMLIST_GO. -ENOENT: no such table; -EINVAL: an unusable one; -ENOMEM. */
int gopclntab_read(const struct elf_file *file, struct symlist *list, struct gopclntab *out);

/* The name of the function with the data at this offset; its length, 0 if it cannot be read. */
size_t gopclntab_name(const struct gopclntab *table, const struct bytes *bytes, uint32_t func,
		      char *to, size_t room);

#endif
