/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_DEBUGFILE_H
#define STACKTOP_SYMBOLS_DEBUGFILE_H

/*
 * Separate debug files, found by build-id as GDB does (GDB manual, "Debugging Information in
 * Separate Files").
 */

struct elf_file;

/*
 * Opens DEBUG_ROOT/.build-id/ab/cdef.debug for the file whose build-id is abcdef. The debug file
 * must bear the same build-id itself. -ENOENT: no build-id, no such file or another one's;
 * else as elf_file_open. The caller frees *out with elf_file_free.
 */
int debugfile_open(const struct elf_file *file, const char *debug_root, struct elf_file **out);

#endif
