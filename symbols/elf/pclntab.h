/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_ELF_PCLNTAB_H
#define STACKTOP_SYMBOLS_ELF_PCLNTAB_H

/*
 * Go's table of functions, .gopclntab, which strip keeps since the runtime needs it. For the format
 * see "Go 1.2 Runtime Symbol Information" and the comments in Go's debug/gosym/pclntab.go and
 * cmd/link/internal/ld/pcln.go, as of Go 1.2, 1.16, 1.18 and 1.20.
 */

#include <stddef.h>
#include <stdint.h>

struct bytes;
struct elf_file;

/*
 * Where in the file everything is. The list has `count` pairs of two numbers, the start of a
 * function and the offset of its data, and the start of what follows the last function. The data
 * are 32-bit numbers: from `field` on the offset of the name, two others, and the offset of the
 * table of stack depths.
 */
struct pclntab {
	uint64_t list;	  /* offset in the file */
	uint64_t count;	  /* of functions */
	uint64_t text;	  /* what their starts in the list count from */
	uint64_t funcs;	  /* offsets of data count from this offset in the file */
	uint64_t names;	  /* those of names from this one */
	uint64_t pcs;	  /* those of tables by pc from this one */
	uint64_t end;	  /* of the whole table, in the file */
	uint32_t word;	  /* bytes of a number in the list */
	uint32_t field;	  /* of a function's data */
	uint32_t quantum; /* bytes that a pc in a table counts by */
};

/*
 * Reads where everything is. All offsets are inside of the section, which may be out of the file.
 * -ENOENT: no such table; -EINVAL: an unusable one.
 */
int pclntab_open(const struct elf_file *file, struct pclntab *out);

/* The name of the function with the data at this offset; its length, 0 if it cannot be read. */
size_t pclntab_name(const struct pclntab *table, const struct bytes *bytes, uint32_t func, char *to,
		    size_t room);

#endif
