/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_RUNTIME_PYTHON_OFFSETS_H
#define STACKTOP_SYMBOLS_RUNTIME_PYTHON_OFFSETS_H

/*
 * Finds the layout of a CPython: in the table that it has at the start of _PyRuntime from 3.13 on,
 * else in our own. For 64-bit x86 and final releases from 3.8 to 3.15 with a GIL. A build with
 * other options (Py_TRACE_REFS) or patches may have the same version but another layout, so the
 * caller must compare with what is in memory.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/runtime/python_layout.h"

struct elf_file;

#define PYTHON_DEBUG_OFFSETS_SIZE 888u /* bytes of _PyRuntime that are enough for all versions */

/*
 * version: PY_VERSION_HEX. debug_offsets: the first `size` bytes of _PyRuntime, not read up to
 * 3.12. *out is all zero on failure. -ENOTSUP: a version that is not known, a pre-release, or a
 * build without a GIL; -EINVAL: the table in _PyRuntime is short, is for another version, or
 * contradicts itself.
 */
int python_layout_of(__u32 version, const uint8_t *debug_offsets, size_t size,
		     struct python_layout *out);
/*
 * True if each member that the version has is aligned, inside of a structure of plausible size, and
 * not at 0 unless it may be, and the others are 0. A layout that fails must not be used.
 */
bool python_layout_is_sane(const struct python_layout *layout);
/* Sets the sizes and code_head by the members. */
void python_layout_measure(struct python_layout *layout);
/*
 * Replaces offsets in a layout of python_layout_of by those of the debug information of the same
 * build, as far as it has them. file: the one with .debug_info, not
 * relocatable; alternate: the one that it shares types with (dwz), NULL: none. Takes at most
 * 2 seconds of the thread's time, and stops when the file's work is over. Returns how many offsets
 * were found; -ENOENT: none, or there is an alternate file that was not given; -EFBIG: more than
 * 256 MiB; -EINVAL: broken, or what was found is not sane; -ENOTSUP, -ENOMEM, -ECANCELED, -E2BIG.
 * The layout is not changed if it fails.
 */
int python_layout_dwarf(const struct elf_file *file, const struct elf_file *alternate,
			struct python_layout *io);

#endif
