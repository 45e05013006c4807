/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_BASE_CLOCK_H
#define STACKTOP_SYMBOLS_BASE_CLOCK_H

/* Times of clock_gettime(2) as numbers. */

#include <stdint.h>
#include <time.h>

#define CLOCK_NS_PER_SEC 1000000000ull

static inline uint64_t clock_timespec_ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * CLOCK_NS_PER_SEC + (uint64_t)t->tv_nsec;
}

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return clock_timespec_ns(&now);
}

/* Seconds of CLOCK_MONOTONIC. */
static inline time_t clock_seconds(void)
{
	return (time_t)(clock_ns(CLOCK_MONOTONIC) / CLOCK_NS_PER_SEC);
}

/* So many ns from now on, for what waits until then. */
static inline struct timespec clock_in(clockid_t clock, uint64_t ns)
{
	uint64_t then = clock_ns(clock) + ns;

	return (struct timespec){.tv_sec = (time_t)(then / CLOCK_NS_PER_SEC),
				 .tv_nsec = (long)(then % CLOCK_NS_PER_SEC)};
}

#endif
