/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_CODE_KCODE_H
#define STACKTOP_SYMBOLS_CODE_KCODE_H

/*
 * One function of the running kernel or of a module as a listing: as it is in memory, where the
 * kernel has patched alternatives, static calls and tracing into it. No file has that.
 */

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct listing;

struct kcode_request {
	uint64_t start, end;  /* end 0: up to the next name */
	const char *core;     /* "/proc/kcore" */
	const char *kallsyms; /* "/proc/kallsyms": names what is called; may be missing */
	/* Where the core file cannot be read. All bytes or -errno; NULL: there is no other way. */
	int (*read)(uint64_t addr, void *to, size_t size);
	const atomic_bool *cancel; /* NULL, or true: give up soon */
};

/*
 * A listing with one reference. -ENOENT, -EPERM, -EACCES: of opening the core file, and there is no
 * other way; -EFAULT: nothing is at the address; -ENODATA: the end is not known; -ENOTSUP: no
 * disassembler; -ECANCELED, -EINVAL, -ENOMEM.
 */
int kcode_list(const struct kcode_request *request, struct listing **out);

#endif
