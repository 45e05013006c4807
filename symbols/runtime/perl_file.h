/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_RUNTIME_PERL_FILE_H
#define STACKTOP_SYMBOLS_RUNTIME_PERL_FILE_H

/* Finds Perl in an ELF file, a program or a library: where its state is, and how it is laid out. */

#include <stdbool.h>
#include <stdint.h>

#include "symbols/runtime/perl_layout.h"

struct elf_file;

struct perl_file {
	/* ELF addresses. */
	uint64_t key;	     /* PL_thr_key; 0: a build without threads */
	uint64_t first;	     /* PL_curinterp: the interpreter that was made first; without threads
				the first of its variables */
	uint64_t eval[2][2]; /* [start, end) of Perl_runops_standard and Perl_runops_debug */
	int err;	     /* -ENOTSUP: a version that is not known */
	struct perl_layout layout; /* its version is right even so, or 0 */
};

/* False: there is no Perl in it. */
bool perl_file_read(const struct elf_file *file, struct perl_file *out);
/* That of a build with threads. -ENOTSUP: not known. */
int perl_layout_of(uint32_t version, struct perl_layout *out);

#endif
