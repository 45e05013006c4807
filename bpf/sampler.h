/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_H
#define STACKTOP_BPF_SAMPLER_H

/*
 * The owner of the sampling program: loads it, attaches it to a perf event on each CPU, and
 * reads and writes its maps. Functions are grouped by the thread that may call them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/layout.h"
#include "unwind/walk.h"

struct sampler;

struct sampler_options {
	uint32_t type; /* struct perf_event_attr */
	uint64_t config;
	unsigned int frequency;	  /* Hz */
	const unsigned int *cpus; /* NULL: all online ones */
	size_t ncpus;
	bool no_kernel;
	bool no_user;
	unsigned int shards_max;
};

/* Loads the programs. On failure *out is NULL and error says what is missing and what to do. */
int sampler_new(const struct sampler_options *options, struct sampler **out, char *error,
		size_t size);
/* Opens the events and begins to sample. */
int sampler_start(struct sampler *s, char *error, size_t size);
void sampler_free(struct sampler *s);
unsigned int sampler_ncpus(const struct sampler *s);

/* --- the tracker ---------------------------------------------------------------------------- */

int sampler_set_process(struct sampler *s, pid_t pid, const struct proc_entry *entry);
void sampler_drop_process(struct sampler *s, pid_t pid);
int sampler_set_target(struct sampler *s, pid_t pid, bool on);
int sampler_set_filtering(struct sampler *s, bool on);
/* MAP_ENTRIES_MAX and WIDE_RULES_MAX entries, shared with the kernel. */
struct map_entry *sampler_map_entries(struct sampler *s);
struct wide_rule *sampler_wide_rules(struct sampler *s);
int sampler_shard_create(struct sampler *s, unsigned int i);
void sampler_shard_destroy(struct sampler *s, unsigned int i);
int sampler_shard_write(struct sampler *s, unsigned int i, uint32_t at, const uint32_t *words,
			uint32_t count);
/* Returns when every run of the program that began before the call has ended. */
void sampler_wait(struct sampler *s);

/* --- the collector -------------------------------------------------------------------------- */

struct sampler_count {
	struct count_key key;
	struct count_value value;
};

/* Hands new stacks to fn; the record is valid during the call. */
int sampler_read_stacks(struct sampler *s, void (*fn)(const struct stack_record *rec, void *arg),
			void *arg);
/*
 * Swaps the stack-count map, reads the stacks that are still in the ring (as above) and then the
 * counts of the old map, which it empties. *counts is the sampler's and valid until the next call.
 */
int sampler_drain(struct sampler *s, void (*fn)(const struct stack_record *rec, void *arg),
		  void *arg, const struct sampler_count **counts, size_t *ncounts);
/* The stack is to be sent again at its next sample. */
void sampler_forget(struct sampler *s, uint64_t hash);
/* Sum over the CPUs since the start. */
int sampler_stats(struct sampler *s, struct profiler_stats *sum);

#endif
