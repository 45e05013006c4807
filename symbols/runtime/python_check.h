/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_RUNTIME_PYTHON_CHECK_H
#define STACKTOP_SYMBOLS_RUNTIME_PYTHON_CHECK_H

/*
 * Is the layout of a CPython that of a running process? Follows its interpreters, threads, frames
 * and code objects from outside as the walk will do from inside, and compares what is said twice.
 */

#include <stddef.h>
#include <stdint.h>

#include "symbols/runtime/python_layout.h"

/* Reads all bytes of the process's memory, or -errno. */
typedef int python_read_fn(void *arg, uint64_t addr, void *to, size_t size);

struct python_place { /* addresses in the process */
	uint64_t runtime, type;
};

/*
 * 0: everything agrees. -ENOENT: no Python code runs yet, ask again. -EINVAL: it does not, and why
 * says what, a static string; the process ran meanwhile, so this may be chance once.
 * layout->runtime_current becomes 0 if no thread held the GIL, which does not prove that it is
 * right.
 */
int python_check(struct python_layout *layout, const struct python_place *place,
		 python_read_fn *read, void *arg, const char **why);

#endif
