/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_CLOCK_H
#define STACKTOP_BPF_SAMPLER_CLOCK_H

#include "symbols/base/clock.h"

/* CLOCK_MONOTONIC, ns. */
static inline uint64_t clock_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* CPU time of the calling thread, ns. */
static inline uint64_t clock_cpu_time(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

#endif
