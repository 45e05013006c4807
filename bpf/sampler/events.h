/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_EVENTS_H
#define STACKTOP_BPF_SAMPLER_EVENTS_H

/*
 * The perf events that run the sampling program, one on each CPU that is online and to be sampled.
 * Only one thread at a time may use them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bpf_program;
struct cpu_times;
struct events;
struct sampler_options;

/* Since the start, over all events. */
struct ticks_sums {
	uint64_t active_ns;    /* time in which a clock event was due to tick */
	uint64_t idle_ns;      /* part of it in which its CPU was idle; 0 without /proc/stat */
	uint64_t throttled_ns; /* part of it in which it was throttled; 0 without a ring */
	uint64_t throttles;    /* how often it was throttled */
	uint64_t counted;      /* how often the event happened; of a clock: ns */
};

/*
 * For options->cpus, or all CPUs. stats_fd: the program's map of struct profiler_stats. All
 * arguments must outlive the events. -ENOMEM.
 */
int events_new(const struct sampler_options *options, struct bpf_program *program, int stats_fd,
	       struct events **out);
/* Whether events_start could open events of these options; fails as that does. */
int events_try(const struct sampler_options *options, char *error, size_t size);
/* NULL is fine. */
void events_free(struct events *e);
/* Opens and enables them; on failure error says why, with a remedy. */
int events_start(struct events *e, char *error, size_t size);
/*
 * Closes the events of CPUs that went offline, and opens events on new CPUs, within two seconds. To
 * be called often; most calls do nothing. -errno: a new CPU cannot be sampled; it is tried again.
 */
int events_watch(struct events *e);
/* The kernel stops each event on its CPU, between two ticks, or lets it go on. */
void events_stop(struct events *e, bool stop);
unsigned int events_count(const struct events *e);
/*
 * Reads the rings; to be called several times a second: they have room for half a second of
 * throttling in each tick at 1000 Hz.
 */
void events_follow(struct events *e);
/* All zeros before the start. */
void events_sum(struct events *e, struct ticks_sums *sums);
/* The sampled CPUs that were online at the last events_sum, in no order; returns how many. */
size_t events_cpu_times(const struct events *e, struct cpu_times *to, size_t max);

#endif
