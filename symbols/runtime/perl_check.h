/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_RUNTIME_PERL_CHECK_H
#define STACKTOP_SYMBOLS_RUNTIME_PERL_CHECK_H

/*
 * Is the layout of a Perl that of a running process? Follows its stacks, contexts and subs from
 * outside as the walk will do from inside, and compares what is said twice.
 */

#include <stddef.h>
#include <stdint.h>

#include "symbols/runtime/perl_layout.h"

/* Reads all bytes of the process's memory, or -errno. */
typedef int perl_read_fn(void *arg, uint64_t addr, void *to, size_t size);

/*
 * first: as in struct perl_file. 0: everything agrees. -ENOENT: no sub runs yet, ask again.
 * -EINVAL: it does not, and why says what, a static string; the process ran meanwhile, so this may
 * be chance once.
 */
int perl_check(const struct perl_layout *layout, uint64_t first, perl_read_fn *read, void *arg,
	       const char **why);

#endif
