/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_COLLECT_CPUTIMES_H
#define STACKTOP_TUI_COLLECT_CPUTIMES_H

/* From the CPUs' times since boot to how busy each was in a slice. */

#include <stddef.h>

#include "bpf/sampler/sampler.h"
#include "tui/profile/profile.h"

struct cputimes {
	struct cpu_times before[CPU_USE_MAX], now[CPU_USE_MAX];
	size_t nbefore, nnow;
};

/* Starts the slice that ends with the next cputimes_use. */
void cputimes_begin(struct cputimes *t, const struct sampler *s);
/*
 * Ends a slice and begins the next one: how busy the CPUs were that are online at both ends, sorted
 * by number. Returns how many of `use` (CPU_USE_MAX) are filled.
 */
size_t cputimes_use(struct cputimes *t, const struct sampler *s, struct cpu_use *use);
/* The same between two readings; sorts both. */
size_t cputimes_between(struct cpu_times *before, size_t nbefore, struct cpu_times *now,
			size_t nnow, struct cpu_use *use);

#endif
