/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_CLONEGAP_H
#define STACKTOP_UNWIND_CLONEGAP_H

/*
 * The instructions of clone and clone3 that no CFI is true of, since two return from the system
 * call: the parent, and the child on another stack.
 */

#include <stdbool.h>
#include <stdint.h>

struct elf_file;

/*
 * True where the code of [start, end), ELF addresses, is that of glibc's clone functions between
 * two FDEs: the system call, and at the end of it the child's own function. Whatever cannot be read
 * is no such code.
 */
bool clone_gap(const struct elf_file *file, uint64_t start, uint64_t end);

#endif
