/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_RUNTIME_PYTHON_OFFSETS_H
#define STACKTOP_SYMBOLS_RUNTIME_PYTHON_OFFSETS_H

/*
 * Finds the layout of a CPython: in the table that it has at the start of _PyRuntime from 3.13 on,
 * else in our own. For 64-bit x86 and final releases from 3.8 to 3.15 with a GIL. Debug builds have
 * the same version but another layout, so the caller must compare with what is in memory.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/runtime/python_layout.h"

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

#endif
