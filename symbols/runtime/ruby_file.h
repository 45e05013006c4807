/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_RUNTIME_RUBY_FILE_H
#define STACKTOP_SYMBOLS_RUNTIME_RUBY_FILE_H

/* Finds CRuby in an ELF file, a program or a library: where its state is, and how it is laid out.
 */

#include <stdbool.h>
#include <stdint.h>

#include "symbols/runtime/ruby_layout.h"

struct elf_file;

struct ruby_file {
	uint64_t vm;	  /* ELF address of ruby_current_vm_ptr */
	uint32_t version; /* as in the layout; 0: not known */
	int err;	  /* of ruby_layout_of; -ENOTSUP also if vm was not found */
	struct ruby_layout layout;
};

/* False: there is no CRuby in the file. */
bool ruby_file_read(const struct elf_file *file, struct ruby_file *out);

/* The layout of a version, without `jump`, and without `object`. -ENOTSUP: it is not known. */
int ruby_layout_of(uint32_t version, struct ruby_layout *out);
/* Sets what depends on the kind of jump. */
void ruby_layout_jump(struct ruby_layout *io, enum ruby_jump jump);

#endif
