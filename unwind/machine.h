/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_MACHINE_H
#define STACKTOP_UNWIND_MACHINE_H

/*
 * The tables of files of any known processor, to be shown. The sources of this folder are compiled
 * for the processor that stacktop runs on, and once more for each other one, of which only the
 * function below remains visible (Makefile, "unwind tables of other processors").
 */

#include <stdio.h>

struct elf_file;

/*
 * Prints the table of the file (unwind_table_dump) and, to notes, what it leaves out. -ENOTSUP: a
 * file of an unknown processor; -ENODATA: it has no rows; -ENOMEM, -EIO, and as unwind_table_build.
 */
int unwind_dump(const struct elf_file *file, FILE *to, FILE *notes);

/* The same for files of one processor: unwind/dumpfile.c. */
int unwind_dump_arm64(const struct elf_file *file, FILE *to, FILE *notes);
int unwind_dump_x86_64(const struct elf_file *file, FILE *to, FILE *notes);

#endif
