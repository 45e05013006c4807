/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_CLONEGAP_H
#define STACKTOP_UNWIND_CLONEGAP_H

/*
 * The instructions of clone and clone3 for which no CFI is right, since both return from the system
 * call: the parent, and the child on another stack.
 */

#include <stdbool.h>
#include <stdint.h>

struct elf_file;

/*
 * True when [start, end), ELF addresses, has the code of glibc's clone functions between two FDEs:
 * the system call, behind which the part of the child begins. False, too, if it cannot be read.
 */
bool clone_gap(const struct elf_file *file, uint64_t start, uint64_t end);

#endif
