/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_DWARF_DEBUGIMAGE_H
#define STACKTOP_SYMBOLS_DWARF_DEBUGIMAGE_H

/* A copy in memory of a file's debug sections, for libdw, without unused ones. */

#include "symbols/elf/elffile.h"

struct debugimage;

/* True for a debug section that a copy leaves out: locations of variables, macros, indexes. */
bool debugimage_leaves_out(const char *name, uint64_t flags);
/*
 * Adds the bytes of all debug sections, which libdw reads all, wanted or not, and of what it makes
 * of abbreviations to *bytes, and those of .debug_info to *units. image: without those that a copy
 * leaves out. -EFBIG: more than the limit; -EINVAL: there are two sections of abbreviations, and
 * libdw may take another one than the caller.
 */
int debugimage_cost(const struct elf_file *file, bool image, size_t limit, size_t *units,
		    size_t *bytes);
/*
 * -ENOTSUP: use the file as it is, since it is an image itself, or has split units, which libdw
 * looks for beside the file; -ENOMEM, or the error of a read. lazy: debugimage_need reads
 * .debug_info from the file, which must stay until debugimage_free.
 */
int debugimage_new(const struct elf_file *file, bool lazy, struct debugimage **out);
/*
 * For a lazy image, reads what is missing of .debug_info from the offset on; other images are
 * complete. What cannot be read, and what was not asked for, is zero. image may be NULL.
 */
void debugimage_need(struct debugimage *image, uint64_t offset, uint64_t size);
void debugimage_free(struct debugimage *image);
/*
 * A file whose only debug information is a .debug_str with the bytes of that section, perhaps none:
 * it stands for a common file of dwz, which libdw would look for itself. -ENOMEM, -EINVAL.
 */
int debugimage_of_strings(uint16_t machine, const struct elf_section *strings,
			  struct elf_file **out);
/* The file as if everything else in it were zero. Valid until debugimage_free. */
struct elf_file *debugimage_file(const struct debugimage *image);

#endif
