/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_SAMPLER_H
#define STACKTOP_BPF_SAMPLER_SAMPLER_H

/*
 * The owner of the sampling program: loads it, attaches it to a perf event on each CPU, and
 * reads and writes its maps. Functions are grouped by the thread that may call them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/prog/layout.h"
#include "unwind/walk.h"

struct kmodules;
struct sampler;

struct sampler_options {
	uint32_t type; /* struct perf_event_attr */
	uint64_t config;
	unsigned int frequency;	  /* Hz */
	const unsigned int *cpus; /* NULL: all that are online, now and later */
	size_t ncpus;		  /* at least one, if there is a list */
	bool no_kernel;
	bool no_user;
	bool capture; /* sampler_capture may be called */
	unsigned int shards_max;
	unsigned int procs_max; /* 0: by the machine */
};

/* Loads the programs. On failure *out is NULL and error says what is missing and what to do. */
int sampler_new(const struct sampler_options *options, struct sampler **out, char *error,
		size_t size);
/* Opens the events and begins to sample. */
int sampler_start(struct sampler *s, char *error, size_t size);
/* Whether this machine has the event; else error says what is the matter. Nothing changes. */
int sampler_try(struct sampler *s, uint32_t type, uint64_t config, char *error, size_t size);
/*
 * From now on this event drives the sampling, as in sampler_options. To be called after
 * sampler_stop and by the thread that calls it; sampling goes on either way: on failure by the
 * event before, and error says what is the matter.
 */
int sampler_change(struct sampler *s, uint32_t type, uint64_t config, char *error, size_t size);
void sampler_free(struct sampler *s);
/* How many different counts a slice can hold, and processes that can be walked (or chosen). */
unsigned int sampler_counts_max(const struct sampler *s);
unsigned int sampler_procs_max(const struct sampler *s);

/* --- the tracker ---------------------------------------------------------------------------- */

int sampler_set_process(struct sampler *s, pid_t pid, const struct proc_entry *entry);
void sampler_drop_process(struct sampler *s, pid_t pid);
/*
 * start: of struct procstat; samples of another process that gets the number are left out. 0: they
 * are not.
 */
int sampler_set_target(struct sampler *s, pid_t pid, uint64_t start, bool on);
int sampler_set_filtering(struct sampler *s, bool on);
/* Whether counts of different CPUs are apart from now on (count_key.cpu); for any thread. */
int sampler_set_by_cpu(struct sampler *s, bool on);
/* Which kernel code is where has changed: generation of bpf/sampler/kernelcode.h. */
int sampler_set_kernel_code(struct sampler *s, uint32_t generation);
/*
 * The next walk of the process that ends for the reason (0: any) comes as a record of its own, a
 * struct capture_record. pid 0: no longer.
 */
int sampler_capture(struct sampler *s, pid_t pid, unsigned int reason);
/* What sampler_set_process has set. -ENOENT. */
int sampler_process(struct sampler *s, pid_t pid, struct proc_entry *entry);
/* The words of a shard to read, to be given to munmap with SHARD_BYTES; NULL: it is not there. */
const uint32_t *sampler_shard_map(struct sampler *s, unsigned int i);
/* MAP_ENTRIES_MAX and WIDE_RULES_MAX entries, shared with the kernel. */
struct map_entry *sampler_map_entries(struct sampler *s);
struct wide_rule *sampler_wide_rules(struct sampler *s);
/* A byte for each of the map entries: not zero, a walk came upon it. To be cleared by the caller.
 */
uint8_t *sampler_touched(struct sampler *s);
/* Does a walk see whether what a list tells is still true? */
/* Only where lists are checked; a file that is there is replaced. -E2BIG: there are too many. */
int sampler_set_file(struct sampler *s, const struct file_key *key, const struct file_entry *entry);
void sampler_drop_file(struct sampler *s, const struct file_key *key);
bool sampler_checks_lists(const struct sampler *s);
/* What belongs to each of the map entries; written before a list leads there. */
struct entry_check *sampler_checks(struct sampler *s);
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

/* Hands new stacks to fn, and captured ones; the record is valid during the call. */
int sampler_read_stacks(struct sampler *s, void (*fn)(const struct stack_record *rec, void *arg),
			void *arg);
/*
 * Swaps the stack-count map, reads the stacks that are still in the ring (as above) and then the
 * counts of the old map, which it empties. *counts is the sampler's and valid until the next call.
 * On an error, too, they are what left the map.
 */
int sampler_drain(struct sampler *s, void (*fn)(const struct stack_record *rec, void *arg),
		  void *arg, const struct sampler_count **counts, size_t *ncounts);
/* What came and went of the kernel's modules; the sampler's. NULL: the kernel does not tell. */
struct kmodules *sampler_modules(struct sampler *s);
/* The stack is to be sent again at its next sample. */
void sampler_forget(struct sampler *s, uint64_t hash);
/*
 * Follows CPUs that come and go; to be called some times a second. -errno: one that came cannot be
 * sampled, which is tried again.
 */
int sampler_watch(struct sampler *s);
/* That are sampled at the moment. */
unsigned int sampler_ncpus(const struct sampler *s);
/* Sum over the CPUs since the start. */
int sampler_stats(struct sampler *s, struct profiler_stats *sum);
/* Time that the program ran for and how often, as long as kernel.bpf_stats_enabled was 1. */
int sampler_run_time(struct sampler *s, uint64_t *ns, uint64_t *runs);
/*
 * Takes no more samples. Of what was taken until then each one stands in the next drain's counts
 * or in a counter of sampler_stats, and nothing is under way.
 */
void sampler_stop(struct sampler *s);

/* Since the start, on all CPUs. */
struct sampler_ticks {
	uint64_t due;	    /* by the clock; 0: the event is not a clock */
	uint64_t idle;	    /* of CPUs that ran nothing, by their time */
	uint64_t throttled; /* samples that the kernel's throttling cost, by its time */
	uint64_t throttles; /* times that it began */
};

/* Of the ticks that were due, those that are in no counter came late, together, or not at all. */
void sampler_ticks(struct sampler *s, struct sampler_ticks *ticks);

#endif
