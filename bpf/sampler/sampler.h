/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_SAMPLER_SAMPLER_H
#define STACKTOP_BPF_SAMPLER_SAMPLER_H

/*
 * Owns the sampling program: loads it, attaches it to a perf event on each CPU, and reads and
 * writes its maps. Functions are grouped by the thread that may call them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/prog/layout.h"
#include "bpf/prog/runtime_layout.h"
#include "unwind/walk.h"

struct sampler;
struct shardmaps;
struct waits;

struct sampler_memory {		       /* shared with the kernel */
	struct map_entry *map_entries; /* MAP_ENTRIES_MAX */
	uint8_t *touched; /* for each of them; nonzero: a walk has used it. The caller clears it */
	struct bare_place *bare_places; /* BARE_PLACES; the caller clears those that it takes */
	struct entry_check *checks;	/* likewise; to be written before a list refers to it */
	struct wide_rule *wide_rules;	/* WIDE_RULES_MAX */
};

struct sampler_options {
	uint32_t type; /* struct perf_event_attr */
	uint64_t config;
	unsigned int frequency;	  /* Hz */
	unsigned int period;	  /* of the event, in place of the frequency; 0: none */
	const unsigned int *cpus; /* NULL: all that are online, now and later */
	size_t ncpus;		  /* at least one with cpus */
	bool no_kernel;
	bool no_user;
	bool capture; /* sampler_capture will be used */
	unsigned int shards_max;
	unsigned int procs_max; /* 0: by the machine */
	pid_t unfollowed;	/* the process whose waits are left out; 0: none */
};

/* Loads the programs. On failure *out is NULL and error says what is missing, with a remedy. */
int sampler_new(const struct sampler_options *options, struct sampler **out, char *error,
		size_t size);
/* Opens the events and starts sampling. */
int sampler_start(struct sampler *s, char *error, size_t size);
/* Whether this machine has the event; else error says what is wrong. Nothing changes. */
int sampler_try(struct sampler *s, uint32_t type, uint64_t config, char *error, size_t size);
/* The same of one CPU, which is enough to offer it: 0 or -errno. */
int sampler_has(struct sampler *s, uint32_t type, uint64_t config);
/*
 * From now on this event drives the sampling, as in sampler_options. To be called after
 * sampler_stop, by the same thread. Sampling restarts in any case: on failure with the old event,
 * and error says what is wrong.
 */
int sampler_change(struct sampler *s, uint32_t type, uint64_t config, char *error, size_t size);
void sampler_free(struct sampler *s);
/* How many different counts a slice can have, and processes the procs and targets maps. */
unsigned int sampler_counts_max(const struct sampler *s);
unsigned int sampler_procs_max(const struct sampler *s);

/* --- the tracker ---------------------------------------------------------------------------- */

int sampler_set_process(struct sampler *s, pid_t pid, const struct proc_entry *entry);
void sampler_drop_process(struct sampler *s, pid_t pid);
/*
 * What the walk of a process's language frames needs, before sampler_set_process says that it has a
 * runtime in that slot. -E2BIG: there are too many runtimes.
 */
int sampler_set_runtime(struct sampler *s, pid_t pid, unsigned int slot,
			const struct runtime_process *runtime);
void sampler_drop_runtime(struct sampler *s, pid_t pid, unsigned int slot);
/* NULL: takes the entry of the process out. -E2BIG: there are too many. */
int sampler_set_target(struct sampler *s, pid_t pid, const struct target *target);
int sampler_set_filtering(struct sampler *s, enum target_filter filter);
/* Counts each CPU apart from now on (count_key.cpu), or not; for any thread. */
int sampler_set_by_cpu(struct sampler *s, bool on);
/* Kernel code has changed: generation of bpf/sampler/kernelcode.h. */
int sampler_set_kernel_code(struct sampler *s, uint32_t generation);
/*
 * Sends the next walk of the process that ends with the reason (0: any) as a struct capture_record.
 * pid 0: stops that.
 */
int sampler_capture(struct sampler *s, pid_t pid, unsigned int reason);
/* The entry of sampler_set_process, with what samples have written to it. -ENOENT. */
int sampler_process(struct sampler *s, pid_t pid, struct proc_entry *entry);
/* Tables are written to these by one thread at a time. */
struct shardmaps *sampler_shards(struct sampler *s);
const struct sampler_memory *sampler_memory(const struct sampler *s);
/* Only where lists are checked. Replaces the file's entry. -E2BIG: there are too many files. */
int sampler_set_file(struct sampler *s, const struct file_key *key, const struct file_entry *entry);
void sampler_drop_file(struct sampler *s, const struct file_key *key);
/* Do walks check that lists are still valid? */
bool sampler_checks_lists(const struct sampler *s);
/* Returns when all runs of the program that began before the call have ended. */
void sampler_wait(struct sampler *s);

/* --- the collector -------------------------------------------------------------------------- */

struct sampler_count {
	struct count_key key;
	struct count_value value;
};

/*
 * Readable, for poll(2), when the ring of new stacks is a quarter full, until
 * sampler_read_stacks(). Belongs to the sampler.
 */
int sampler_filling_fd(const struct sampler *s);
/* Passes new stacks and captured ones to fn; the record is valid during the call. */
int sampler_read_stacks(struct sampler *s, void (*fn)(const struct stack_record *rec, void *arg),
			void *arg);
/*
 * Takes the threads (waits_take) if they are followed, swaps the stack-count map, reads the stacks
 * that are still in the ring (as above) and then takes the counts out of the old map: all waits
 * that had ended for the threads taken are among them. *counts belongs to the sampler and is valid
 * until the next call; it has what left the map, also on an error.
 */
int sampler_drain(struct sampler *s, void (*fn)(const struct stack_record *rec, void *arg),
		  void *arg, const struct sampler_count **counts, size_t *ncounts);
/* Changes of kernel modules; belongs to the sampler. NULL: the kernel does not report them. */
struct kmodules *sampler_modules(struct sampler *s);
/*
 * The names of the programs of runtimes that the kernel refuses, so that processes have no frames
 * of these languages. Returns the length, 0: there are none.
 */
size_t sampler_refused(const struct sampler *s, char *to, size_t size);
/* Does the kernel refuse that of this runtime? */
bool sampler_refuses(const struct sampler *s, unsigned int runtime);
/* The stack will be sent again at its next sample. */
void sampler_forget(struct sampler *s, uint64_t hash);
/*
 * Follows CPUs that come and go, and BPF programs of others (bpf/sampler/skipped.h); to be called
 * several times a second. -errno: a new CPU cannot be sampled; it is tried again.
 */
int sampler_watch(struct sampler *s);
/* As skipped_take and skipped_names. */
int sampler_take_skipped(struct sampler *s);
void sampler_others(char *to, size_t size);
/*
 * Follows threads through their waits from now on (bpf/sampler/waits.h), if it does not already.
 * least: ns, shorter waits are only summed up; wake: ns of a wait from which on its waker is asked
 * for. On failure error says why.
 */
int sampler_follow_waits(struct sampler *s, uint64_t least, uint64_t wake, char *error,
			 size_t size);
/* No longer. */
void sampler_leave_waits(struct sampler *s);
/* NULL: it does not. */
struct waits *sampler_waits(struct sampler *s);
/* Number of CPUs that are sampled at the moment. */
unsigned int sampler_ncpus(const struct sampler *s);
/* Sum over the CPUs since the start. */
int sampler_stats(struct sampler *s, struct profiler_stats *sum);
int sampler_runtime_stats(struct sampler *s, struct runtime_stats *sum);
/* Run time and number of runs of the program while kernel.bpf_stats_enabled was 1. */
int sampler_run_time(struct sampler *s, uint64_t *ns, uint64_t *runs);
/*
 * Stops sampling. Each sample taken until then is in the counts of the next drain or in a counter
 * of sampler_stats.
 */
void sampler_stop(struct sampler *s);

/* Since the start, on all CPUs. */
struct sampler_ticks {
	uint64_t due;	    /* by the clock; 0: the event is no clock */
	uint64_t idle;	    /* ticks of idle CPUs, by their idle time */
	uint64_t throttled; /* ticks lost by throttling, by its time */
	uint64_t throttles; /* how often throttling began */
	uint64_t counted;   /* no ticks: how often the event happened; 0 of a clock */
};

/* Ticks that were due and are in no counter came late, together, or not at all. */
void sampler_ticks(struct sampler *s, struct sampler_ticks *ticks);

/* CPU time since boot by /proc/stat, in its unit. */
struct cpu_times {
	unsigned int cpu;
	uint64_t user;	 /* of all priorities */
	uint64_t kernel; /* with interrupts */
	uint64_t all;	 /* idle and stolen time, too */
};

/* Of the sampled CPUs that are online, at the last sampler_ticks; returns how many, at most max. */
size_t sampler_cpu_times(const struct sampler *s, struct cpu_times *to, size_t max);

#endif
