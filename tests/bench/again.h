/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_BENCH_AGAIN_H
#define STACKTOP_TESTS_BENCH_AGAIN_H

/* The input and output of again.bpf.c. */

#include "unwind/arch.h"

struct again {
	__u64 regs[DWARF_COUNT]; /* in: start of the walk */
	__u32 list_count;	 /* in: entries of the only list */
	__u32 reason;
	__u32 nframes;
	__u32 along; /* in: 1: by the rows of the walk before */
	__u64 ns;
};

#endif
