/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_NAMES_KALLSYMS_H
#define STACKTOP_SYMBOLS_NAMES_KALLSYMS_H

/*
 * Kernel functions from /proc/kallsyms: the fallback for kernels that cannot resolve addresses
 * in a BPF program (before 5.13). Read when first asked.
 */

#include <stdint.h>

struct kallsyms;

/* path: "/proc/kallsyms". -EPERM: all addresses are hidden (kernel.kptr_restrict); -errno. */
int kallsyms_new(const char *path, struct kallsyms **out);
void kallsyms_free(struct kallsyms *table);

/*
 * 0 with the name, the module ("vmlinux" for the kernel itself, "bpf" for BPF programs, else the
 * module's name without brackets) and the offset in the function; -ENOENT. The table owns the
 * strings.
 */
int kallsyms_find(const struct kallsyms *table, uint64_t addr, const char **name,
		  const char **module, uint64_t *offset);

/* The address of the first function behind addr; 0: there is none. */
uint64_t kallsyms_next(const struct kallsyms *table, uint64_t addr);

#endif
