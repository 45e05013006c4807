/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_EVENTS_H
#define STACKTOP_BPF_SAMPLER_EVENTS_H

/*
 * The perf events that run the sampling program, one on each CPU that is to be sampled and online.
 * Only one thread at a time may use them.
 */

#include <stddef.h>

struct bpf_program;
struct events;
struct sampler_options;
struct ticks_sums;

/*
 * Of options->cpus, or all. stats_fd: the program's map of struct profiler_stats. Everything handed
 * in must outlive the events. -ENOMEM.
 */
int events_new(const struct sampler_options *options, struct bpf_program *program, int stats_fd,
	       struct events **out);
/* Whether events_start of these options would open them; a failure as there. */
int events_try(const struct sampler_options *options, char *error, size_t size);
/* NULL is fine. */
void events_free(struct events *e);
/* Opens and enables them; on failure error says why, and what to do. */
int events_start(struct events *e, char *error, size_t size);
/*
 * Gives up the events of CPUs that went offline, and opens those of CPUs that came, within two
 * seconds. To be called often; most calls do nothing. -errno: one that came cannot be sampled,
 * which is tried again.
 */
int events_watch(struct events *e);
/* The kernel stops an event on its own CPU, between two of its ticks. */
void events_stop(struct events *e);
/* Undoes events_stop. */
void events_go_on(struct events *e);
unsigned int events_count(const struct events *e);
/* Sees to the rings; to be called some times a second. */
void events_follow(struct events *e);
/* All zeros before the start. */
void events_sum(struct events *e, struct ticks_sums *sums);

#endif
