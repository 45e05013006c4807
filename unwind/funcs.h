/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_FUNCS_H
#define STACKTOP_UNWIND_FUNCS_H

/*
 * The functions of a file by its CFI, to tell them apart in a stripped file.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct funcs;

/* Does not use the file afterwards. A file without CFI has no function. -ENOMEM, -EINVAL. */
int funcs_new(const struct elf_file *file, struct funcs **out);
void funcs_free(struct funcs *f);
size_t funcs_bytes(const struct funcs *f); /* of memory */
/* Start of the function around an ELF virtual address; false: no function is known there. */
bool funcs_find(const struct funcs *f, uint64_t vaddr, uint64_t *start);
/*
 * False if the function at start cannot reach to vaddr, which is behind it: another one begins
 * between them, or its own ends.
 */
bool funcs_reaches(const struct funcs *f, uint64_t start, uint64_t vaddr);
/* Finds the largest range between functions, [gap[0], gap[1]). Both are 0 if there is none. */
void funcs_gap(const struct funcs *f, uint64_t gap[2]);

#endif
