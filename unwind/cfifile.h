/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_CFIFILE_H
#define STACKTOP_UNWIND_CFIFILE_H

#include "unwind/ehframe.h"

struct elf_file;

enum cfi_file_section { CFI_EH_FRAME, CFI_DEBUG_FRAME, CFI_SECTIONS };

/*
 * Reads .eh_frame of a file, and .debug_frame (.zdebug_frame) for the addresses that .eh_frame does
 * not cover: a program built without asynchronous tables has .eh_frame for the start files of the C
 * library and .debug_frame for its own functions. FDEs of .debug_frame are cut to these addresses,
 * into several if need be. If there is an .eh_frame, a .debug_frame that cannot be read is ignored.
 *
 * *cfi has the CIEs and FDEs of both; cfi_cie.section is the index in sections. A section that is
 * missing or adds nothing has size 0; without both there is no FDE. The sections are valid as long
 * as the file; the caller frees *cfi with cfi_free, also after an error: -ENOMEM, -EINVAL; -E2BIG
 * when a section does not fit cfi_limit, which those before it and .sframe share, or has too many
 * records, and nothing else is there; -ECANCELED.
 */
int cfi_file_read(const struct elf_file *file, struct cfi_section sections[CFI_SECTIONS],
		  struct cfi *cfi);

/* Sorts the FDEs. Of several with one start the first stays. */
void cfi_unique(struct cfi *cfi);
/*
 * Appends to out the FDEs of `more`, or the parts of them, for addresses that `cfi` does not cover.
 * Both have been through cfi_unique. -ENOMEM.
 */
int cfi_gaps(const struct cfi *cfi, const struct cfi *more, struct cfi *out);

/* Bytes that all sections of CFI may take: LIMIT_CFI, or less where the file is small. */
uint64_t cfi_limit(const struct elf_file *file);

#endif
