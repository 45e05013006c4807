/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_GDBJIT_H
#define STACKTOP_BPF_TRACKER_GDBJIT_H

/*
 * GDB's JIT interface (gdb manual, "JIT Compilation Interface"): a list of ELF images in the memory
 * of the process, which LLVM, QEMU, PHP and LuaJIT keep for debuggers.
 */

#include <stdint.h>

struct code_draft;
struct code_memory;

/* Adds the list at the descriptor to *mark; nothing if it is empty. -errno as codereader_memory. */
int gdbjit_mark(struct code_memory *m, uint64_t descriptor, uint64_t *mark);
/* Adds what the images say. -ENOMEM, -E2BIG; what cannot be read is left out. */
int gdbjit_read(struct code_memory *m, uint64_t descriptor, struct code_draft *d);

#endif
