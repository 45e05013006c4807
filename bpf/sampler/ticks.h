/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_TICKS_H
#define STACKTOP_BPF_SAMPLER_TICKS_H

/*
 * How long the sampling events were active, and how long of that their CPUs were idle or the kernel
 * held them back. Only one thread at a time may use it.
 */

#include <stddef.h>
#include <stdint.h>

/* Since the start, over all events. */
struct ticks_sums {
	uint64_t active_ns;    /* in which an event of a clock was due to tick */
	uint64_t idle_ns;      /* ... and its CPU idle; 0 without /proc/stat */
	uint64_t throttled_ns; /* ... and was held back; 0 where that cannot be told */
	uint64_t throttles;    /* how many times */
};

struct ticks;

/* For up to n events at a time. -ENOMEM. */
int ticks_new(size_t n, struct ticks **out);
/* NULL is fine. To be called before the events are closed. */
void ticks_free(struct ticks *t);
/*
 * Takes part in a perf event that has PERF_FORMAT_TOTAL_TIME_ENABLED | _RUNNING for its read_format
 * and no group, and is not enabled yet; fd stays the caller's. Where no ring can be mapped, beyond
 * kernel.perf_event_mlock_kb, throttling is not seen.
 */
void ticks_add(struct ticks *t, int fd, unsigned int cpu);
/* All events that were added are enabled. */
void ticks_begin(struct ticks *t);
/*
 * The event has ended and is to be closed. Its CPU has no idle time to be read any more: what the
 * event was active since the last sum, and is not in sampled_ns, counts as idle.
 */
void ticks_drop(struct ticks *t, int fd, uint64_t sampled_ns);
/* Reads the rings, which hold half a second of a CPU that is throttled in each tick of 1000 Hz. */
void ticks_follow(struct ticks *t);
/* Follows, and asks each event for its time. */
void ticks_sum(struct ticks *t, struct ticks_sums *sums);

#endif
