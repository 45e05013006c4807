/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_RUNTIME_V8_CHECK_H
#define STACKTOP_SYMBOLS_RUNTIME_V8_CHECK_H

/*
 * Is the V8 of a file that of a running process? Nothing that a process exports leads to V8's
 * objects, so what can be compared from outside is the version in its memory. Whether the layout is
 * right shows at each frame: the BPF program takes none whose context, function, function's
 * description and script are not all of the instance types that they must be.
 */

#include <stddef.h>
#include <stdint.h>

#include "symbols/runtime/v8_layout.h"

/* Reads all bytes of the process's memory, or -errno. */
typedef int v8_read_fn(void *arg, uint64_t addr, void *to, size_t size);

struct v8_place { /* addresses in the process; 0: not known */
	uint64_t major, minor;
};

/* 0: it agrees. -EINVAL: it does not, and *why says what, a static string; or the read's error. */
int v8_check(const struct v8_layout *layout, const struct v8_place *place, v8_read_fn *read,
	     void *arg, const char **why);

#endif
