/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_ELF_MINIDEBUG_H
#define STACKTOP_SYMBOLS_ELF_MINIDEBUG_H

/*
 * "MiniDebugInfo" (GDB manual): an ELF file in itself, compressed by xz into the section
 * .gnu_debugdata of a stripped file, with the .symtab that complements .dynsym.
 */

struct elf_file;

/*
 * -ENOENT: no such section; -EINVAL: broken, or larger than any real one; -ENOMEM. The caller frees
 * *out with elf_file_free.
 */
int minidebug_open(const struct elf_file *file, struct elf_file **out);

#endif
