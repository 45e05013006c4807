/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_TICKS_H
#define STACKTOP_BPF_SAMPLER_TICKS_H

/*
 * How long the sampling events were active, and how long their CPUs were idle or the events were
 * throttled meanwhile. Only one thread at a time may use it.
 */

#include <stddef.h>
#include <stdint.h>

/* Since the start, over all events. */
struct ticks_sums {
	uint64_t active_ns;    /* time in which a clock event was due to tick */
	uint64_t idle_ns;      /* part of it in which its CPU was idle; 0 without /proc/stat */
	uint64_t throttled_ns; /* part of it in which it was throttled; 0 without a ring */
	uint64_t throttles;    /* how often it was throttled */
};

struct ticks;

/* For up to n events at a time. -ENOMEM. */
int ticks_new(size_t n, struct ticks **out);
/* NULL is fine. To be called before the events are closed. */
void ticks_free(struct ticks *t);
/*
 * Follows a perf event that is not enabled yet, has no group, and has the read_format
 * PERF_FORMAT_TOTAL_TIME_ENABLED | _RUNNING. The caller keeps fd. Throttling is not seen if no ring
 * can be mapped because of kernel.perf_event_mlock_kb.
 */
void ticks_add(struct ticks *t, int fd, unsigned int cpu);
/* All events that were added are enabled. */
void ticks_begin(struct ticks *t);
/*
 * The event has ended and is to be closed. The idle time of its CPU can no longer be read: the time
 * that the event was active since the last sum, minus sampled_ns, counts as idle.
 */
void ticks_drop(struct ticks *t, int fd, uint64_t sampled_ns);
/* Reads the rings, which have room for half a second of throttling in each tick at 1000 Hz. */
void ticks_follow(struct ticks *t);
/* Reads the rings and the time of each event. */
void ticks_sum(struct ticks *t, struct ticks_sums *sums);

#endif
