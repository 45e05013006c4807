/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_GO_PCSP_H
#define STACKTOP_UNWIND_GO_PCSP_H

/*
 * The stack depths of Go's functions, from the table that its own unwinder uses and that no strip
 * removes.
 */

#include "symbols/elf/pclntab.h"
#include "unwind/cfa.h"

struct go_functions;

#define GO_CIE	       (UINT32_MAX - 3) /* cfi_fde.cie of Go's functions without CFI */
#define GO_PCSP_WINDOW 1024u

struct go_pcsp_window { /* of the file */
	uint64_t at;
	size_t filled;
	uint8_t bytes[GO_PCSP_WINDOW];
};

struct go_pcsp {
	const struct elf_file *file;
	struct pclntab table;
	uint64_t bytes; /* of the data of functions without CFI; 0: there are none */
	struct go_pcsp_window list, data;
};

/*
 * Appends to cfi->fdes the functions of Go that no FDE covers, as FDEs with cie GO_CIE, and those
 * of them that change stacks to *functions. Nothing in a file without a (sound) table, or with more
 * functions than LIMIT_FDES. -ENOMEM; or as work_add.
 */
int go_pcsp_read(const struct elf_file *file, struct go_pcsp *out, struct go_functions *functions,
		 struct cfi *cfi);

/* The rows of such a FDE, called for as cfa_run does. *end: where its table ends. */
int go_pcsp_run(struct go_pcsp *pcsp, const struct cfi_fde *fde, cfa_row_fn *row, void *arg,
		uint64_t *end);

#endif
