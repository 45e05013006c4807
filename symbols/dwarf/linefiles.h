/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_DWARF_LINEFILES_H
#define STACKTOP_SYMBOLS_DWARF_LINEFILES_H

/*
 * The directories and files that the header of a line table lists (DWARF 5 section 6.2.4, and the
 * same section of the versions 2 to 4); for linetable.c and lineprogram.c only.
 */

#include "symbols/elf/elffile.h"

struct linefiles_file;

struct linefiles {	   /* a zeroed struct has none */
	const char **dirs; /* the first is the unit's */
	size_t ndirs, dirs_room;
	struct linefiles_file *files;
	size_t nfiles, files_room;
};

struct linefiles_source { /* sections must outlive the lists */
	struct elf_section line_str, str;
	const char *dir; /* of the unit; NULL: unknown */
	unsigned int version, offset_size;
};

/* Reads both lists at *at, which moves behind them. -EINVAL, -ENOMEM. */
int linefiles_read(struct linefiles *lists, const struct linefiles_source *source,
		   const uint8_t **at, const uint8_t *end);
/*
 * Adds a file that the table's program defines, in the form of the versions before 5. -EINVAL,
 * -ENOMEM.
 */
int linefiles_define(struct linefiles *lists, const uint8_t **at, const uint8_t *end);
void linefiles_free(struct linefiles *lists);
/* Bytes of memory held besides the struct, without paths. */
size_t linefiles_bytes(const struct linefiles *lists);
/* As linetable_file. */
const char *linefiles_path(struct linefiles *lists, uint64_t file);

#endif
