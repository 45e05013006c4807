/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_EVENTS_H
#define STACKTOP_BPF_SAMPLER_EVENTS_H

/*
 * The perf events that run the sampling program, one on each CPU that is online and to be sampled.
 * Only one thread at a time may use them.
 */

#include <stddef.h>

struct bpf_program;
struct events;
struct sampler_options;
struct ticks_sums;

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
/* The kernel stops each event on its CPU, between two ticks. */
void events_stop(struct events *e);
/* Undoes events_stop. */
void events_go_on(struct events *e);
unsigned int events_count(const struct events *e);
/* Reads the rings; to be called several times a second. */
void events_follow(struct events *e);
/* All zeros before the start. */
void events_sum(struct events *e, struct ticks_sums *sums);

#endif
