/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_RUNTIME_PHP_CHECK_H
#define STACKTOP_SYMBOLS_RUNTIME_PHP_CHECK_H

/*
 * Is the layout of a PHP that of a running process? Follows its frames and functions from outside
 * as the walk will do from inside, and compares what is said twice.
 */

#include <stddef.h>
#include <stdint.h>

#include "symbols/runtime/php_layout.h"

/* Reads all bytes of the process's memory, or -errno. */
typedef int php_read_fn(void *arg, uint64_t addr, void *to, size_t size);

/*
 * globals: address of executor_globals. 0: everything agrees. -ENOENT: no PHP code runs yet, ask
 * again. -EINVAL: it does not, and why says what, a static string; the process ran meanwhile, so
 * this may be chance once.
 */
int php_check(const struct php_layout *layout, uint64_t globals, php_read_fn *read, void *arg,
	      const char **why);

#endif
