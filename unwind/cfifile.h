/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_CFIFILE_H
#define STACKTOP_UNWIND_CFIFILE_H

#include "unwind/ehframe.h"

struct elf_file;

/*
 * Reads the file's .eh_frame or, where that describes no function, its .debug_frame. Neither of
 * them: an empty *cfi and section->size 0. The section is valid as long as the file; the caller
 * frees *cfi with cfi_free, also after an error: -ENOMEM, -EINVAL.
 */
int cfi_file_read(const struct elf_file *file, struct cfi_section *section, struct cfi *cfi);

#endif
