/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_RUNTIME_RUBY_CHECK_H
#define STACKTOP_SYMBOLS_RUNTIME_RUBY_CHECK_H

/*
 * Is the layout of a CRuby that of a running process? Follows its ractors, threads, control frames
 * and functions from outside as the walk will do from inside, and compares what is said twice.
 *
 * It also learns what no file says: where vm_exec jumps to when it catches an exception. Of the
 * records on the main thread's stack the second from the outside is that of the vm_exec that runs
 * the program; each thread must have as many records that jump there as it has runs of frames.
 */

#include <stddef.h>
#include <stdint.h>

#include "symbols/runtime/ruby_layout.h"

/* Reads all bytes of the process's memory, or -errno. */
typedef int ruby_read_fn(void *arg, uint64_t addr, void *to, size_t size);

/*
 * vm: address of ruby_current_vm_ptr in the process. 0: everything agrees; *label is where records
 * of vm_exec jump to then. -ENOENT: no Ruby code runs yet, ask again; -EAGAIN: where vm_exec jumps
 * to cannot be told now, ask soon. -EINVAL: it does not, and why says what, a static string; the
 * process ran meanwhile, so this may be chance once. layout->jump becomes what it is in fact;
 * layout->ractor_owner becomes 0 if no thread held the lock, which does not prove that it is right.
 */
int ruby_check(struct ruby_layout *layout, uint64_t vm, ruby_read_fn *read, void *arg,
	       uint64_t *label, const char **why);

#endif
