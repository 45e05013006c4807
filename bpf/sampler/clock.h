/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_CLOCK_H
#define STACKTOP_BPF_SAMPLER_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_read(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

/* CLOCK_MONOTONIC, ns. */
static inline uint64_t clock_now(void)
{
	return clock_read(CLOCK_MONOTONIC);
}

/* CPU time of the calling thread, ns. */
static inline uint64_t clock_cpu_time(void)
{
	return clock_read(CLOCK_THREAD_CPUTIME_ID);
}

#endif
