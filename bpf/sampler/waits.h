/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_WAITS_H
#define STACKTOP_BPF_SAMPLER_WAITS_H

/*
 * Follows threads through their waits (bpf/prog/waits.bpf.c): loads the programs beside those of a
 * sampler, with the same maps, when the time of threads is first asked for. Waits are counted in
 * the sampler's counts (COUNT_WAIT), and long ones and ends of threads come through its ring
 * (STACK_WAIT, STACK_THREAD). Used by one thread at a time.
 */

#include <stddef.h>
#include <stdint.h>

#include "bpf/prog/layout.h"

struct bpf_object;
struct sampler_options;
struct waits;

/*
 * Loads and attaches. profiler: a loaded object, whose config this is; options: those of its
 * sampler; all must outlive the waits. threads: how many can be followed. On failure *out is NULL
 * and error says why.
 */
int waits_new(struct bpf_object *profiler, const struct profiler_config *config,
	      const struct sampler_options *options, uint32_t threads, struct waits **out,
	      char *error, size_t size);
/* Detaches first. NULL is fine. */
void waits_free(struct waits *w);
/* Follows CPUs that come and go, as events_watch. */
int waits_watch(struct waits *w);
/* Copies all threads that are followed, as they are now. -errno: not all were read. */
int waits_take(struct waits *w);
/* Passes the threads taken last, each whole. */
void waits_threads(struct waits *w,
		   void (*fn)(uint64_t key, const struct thread_entry *t, void *arg), void *arg);
/* Sum over the CPUs since the beginning; of the limit the largest. */
int waits_stats(const struct waits *w, struct wait_stats *sum);
/* Four bits for each system call: the enum thread_time of its waits, or CALL_BY_FILE. */
void waits_calls(__u64 calls[CALLS_MAX / 16]);

#endif
