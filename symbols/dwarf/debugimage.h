/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_DWARF_DEBUGIMAGE_H
#define STACKTOP_SYMBOLS_DWARF_DEBUGIMAGE_H

/* A copy in memory of a file's debug sections, for libdw, without those that are not used. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/elf/elffile.h"

struct debugimage;

/* True for a debug section that a copy leaves out: locations of variables, macros, indexes. */
bool debugimage_leaves_out(const char *name, uint64_t flags);
/*
 * -ENOTSUP: the file is to be used as it is, since it is an image itself, or has split units, which
 * libdw looks for beside the file; -ENOMEM, or the error of a read. lazy: .debug_info is read by
 * debugimage_need, from the file, which has to be there until debugimage_free.
 */
int debugimage_new(const struct elf_file *file, bool lazy, struct debugimage **out);
/*
 * Reads what is missing of .debug_info from the offset on, of a lazy image; of others everything is
 * there. What cannot be read, and what was not asked for, is zero. image may be NULL.
 */
void debugimage_need(struct debugimage *image, uint64_t offset, uint64_t size);
void debugimage_free(struct debugimage *image);
/* The file as it would be if the rest of it were zero. Valid until debugimage_free. */
struct elf_file *debugimage_file(const struct debugimage *image);

#endif
