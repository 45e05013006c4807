// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The user-space side of profiler.bpf.c. The collector and the tracker use it, each its own group
 * of functions, builders that of the tracker under its lock; the swap of the stack-count maps,
 * which they share, has a lock.
 */
#include "bpf/sampler/sampler.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/sampler/events.h"
#include "bpf/sampler/kmodules.h"
#include "bpf/sampler/loader.h"
#include "bpf/sampler/shardmaps.h"
#include "bpf/sampler/sizes.h"
#include "bpf/sampler/skipped.h"
#include "bpf/sampler/waits.h"

struct sampler {
	struct sampler_options options;
	struct map_sizes sizes;
	struct profiler_programs programs;
	struct events *events;
	struct sampler_ticks ticks; /* of earlier events */
	struct ring_buffer *ring;
	int stats_fd, control_fd, targets_fd, procs_fd, files_fd, counts_fd;
	int runtimes_fd, runtime_counts_fd;
	int possible_cpus;

	struct sampler_memory memory;
	uint32_t event; /* number of the present one */
	struct seen_set *seen;

	struct shardmaps *shards;
	struct kmodules *modules; /* NULL: changes are not reported */
	struct waits *waits;	  /* NULL: threads are not followed */
	struct skipped *skipped;

	pthread_mutex_t control_lock; /* held from reading to writing the control map */
	pthread_mutex_t swap_lock;
	int inner_fds[2];
	unsigned int inner; /* the index in use */

	struct count_key *keys;
	struct count_value *values;
	struct sampler_count *counts;

	void (*stack_fn)(const struct stack_record *rec, void *arg);
	void *stack_arg;
};

static int on_record(void *arg, void *data, size_t size)
{
	struct sampler *s = arg;
	const struct stack_record *rec = data;

	if (size >= sizeof(*rec) && rec->kernel == STACK_CAPTURED &&
	    (size < sizeof(struct capture_record) || rec->nframes > WALK_FRAMES_MAX))
		return 0;
	if (size >= sizeof(*rec) &&
	    ((rec->kernel == STACK_THREAD && size < sizeof(struct thread_record)) ||
	     (rec->kernel == STACK_WAIT && size < sizeof(struct wait_record))))
		return 0;
	if (size >= sizeof(*rec) && rec->kernel == STACK_METHOD &&
	    (size < sizeof(struct method_record) ||
	     size - sizeof(struct method_record) <
		     ((const struct method_record *)data)->table_size))
		return 0;
	if (size >= sizeof(*rec) && size >= sizeof(*rec) + rec->nframes * sizeof(rec->frames[0]) &&
	    s->stack_fn)
		s->stack_fn(rec, s->stack_arg);
	return 0;
}

static int map_fd(struct sampler *s, const char *name)
{
	return bpf_object__find_map_fd_by_name(s->programs.object, name);
}

static void *map_memory(struct sampler *s, const char *name, size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd(s, name), 0);

	return p == MAP_FAILED ? NULL : p;
}

static int set_counts(struct sampler *s, unsigned int inner)
{
	__u32 zero = 0;

	return bpf_map_update_elem(s->counts_fd, &zero, &s->inner_fds[inner], BPF_ANY) ? -errno : 0;
}

static int open_maps(struct sampler *s)
{
	unsigned int i;

	s->stats_fd = map_fd(s, "stats");
	s->control_fd = map_fd(s, "control");
	s->targets_fd = map_fd(s, "targets");
	s->procs_fd = map_fd(s, "procs");
	s->files_fd = map_fd(s, "files");
	s->counts_fd = map_fd(s, "counts");
	s->runtimes_fd = map_fd(s, "runtimes");
	s->runtime_counts_fd = map_fd(s, "runtime_counts");
	s->memory.map_entries =
		map_memory(s, "map_lists", MAP_ENTRIES_MAX * sizeof(struct map_entry));
	s->memory.touched = map_memory(s, "touched", MAP_ENTRIES_MAX);
	s->memory.bare_places =
		map_memory(s, "bare_places", BARE_PLACES * sizeof(struct bare_place));
	s->memory.checks = map_memory(s, "checks", MAP_ENTRIES_MAX * sizeof(struct entry_check));
	s->memory.wide_rules =
		map_memory(s, "wide_rules", WIDE_RULES_MAX * sizeof(struct wide_rule));
	s->seen = map_memory(s, "seen_stacks", s->sizes.seen_sets * sizeof(struct seen_set));
	if (!s->memory.map_entries || !s->memory.touched || !s->memory.bare_places ||
	    !s->memory.checks || !s->memory.wide_rules || !s->seen)
		return -ENOMEM;
	for (i = 0; i < 2; i++) {
		s->inner_fds[i] =
			bpf_map_create(BPF_MAP_TYPE_HASH, "counts_inner", sizeof(struct count_key),
				       sizeof(struct count_value), s->sizes.counts, NULL);
		if (s->inner_fds[i] < 0)
			return -errno;
	}
	if (shardmaps_new(map_fd(s, "shards"), s->options.shards_max, &s->shards))
		return -ENOMEM;
	s->ring = ring_buffer__new(map_fd(s, "stacks"), on_record, s, NULL);
	if (!s->ring)
		return -errno;
	return set_counts(s, 0);
}

int sampler_new(const struct sampler_options *options, struct sampler **out, char *error,
		size_t size)
{
	struct sampler *s = calloc(1, sizeof(*s));
	struct machine_limits machine;
	int err = -ENOMEM;

	*out = NULL;
	error[0] = '\0';
	libbpf_set_print(NULL);
	if (!s)
		goto fail;
	s->options = *options;
	machine_read(&machine);
	map_sizes_of(&machine, &s->sizes);
	if (options->procs_max)
		s->sizes.procs = options->procs_max;
	s->inner_fds[0] = s->inner_fds[1] = -1;
	pthread_mutex_init(&s->control_lock, NULL);
	pthread_mutex_init(&s->swap_lock, NULL);
	s->possible_cpus = libbpf_num_possible_cpus();
	s->keys = calloc(s->sizes.counts, sizeof(*s->keys));
	s->values = calloc(s->sizes.counts, sizeof(*s->values));
	s->counts = calloc(s->sizes.counts, sizeof(*s->counts));
	if (!s->keys || !s->values || !s->counts || s->possible_cpus < 1)
		goto fail;
	err = programs_load(&s->programs, &s->options, &s->sizes, error, size);
	if (!err)
		err = open_maps(s);
	if (!err)
		err = kmodules_new(&s->modules);
	if (!err && kmodules_attach(s->modules, s->programs.object)) {
		kmodules_free(s->modules);
		s->modules = NULL;
	}
	if (!err)
		err = events_new(&s->options, s->programs.on_sample, s->stats_fd, &s->events);
	if (!err)
		err = skipped_new(&s->programs, &s->skipped);
	if (err)
		goto fail;
	*out = s;
	return 0;
fail:
	if (!error[0])
		snprintf(error, size, "cannot set up the BPF maps: %s", strerror(-err));
	sampler_free(s);
	return err;
}

/* Two threads change the control map, so the lock is held until it is written. */
static int control_read(struct sampler *s, struct profiler_control *control)
{
	__u32 zero = 0;

	pthread_mutex_lock(&s->control_lock);
	return bpf_map_lookup_elem(s->control_fd, &zero, control) ? -errno : 0;
}

static int control_write(struct sampler *s, const struct profiler_control *control, int err)
{
	__u32 zero = 0;

	if (!err && bpf_map_update_elem(s->control_fd, &zero, control, BPF_ANY))
		err = -errno;
	pthread_mutex_unlock(&s->control_lock);
	return err;
}

/* All other events count what happens. */
static bool is_clock(const struct sampler_options *o)
{
	return o->type == PERF_TYPE_SOFTWARE &&
	       (o->config == PERF_COUNT_SW_CPU_CLOCK || o->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* Samples of another event than a clock weigh what it has counted. */
static int set_event(struct sampler *s)
{
	struct profiler_control control;
	int err = control_read(s, &control);

	s->event++;
	control.event = is_clock(&s->options) ? 0 : s->event;
	return control_write(s, &control, err);
}

int sampler_start(struct sampler *s, char *error, size_t size)
{
	int err = set_event(s);

	if (err)
		snprintf(error, size, "cannot set the event: %s", strerror(-err));
	if (!err && is_clock(&s->options))
		(void)skipped_watch(s->skipped); /* sampler_take_skipped tells the error */
	return err ? err : events_start(s->events, error, size);
}

int sampler_watch(struct sampler *s)
{
	int err = events_watch(s->events), waits = s->waits ? waits_watch(s->waits) : 0;

	if (is_clock(&s->options))
		(void)skipped_watch(s->skipped);
	return err ? err : waits;
}

int sampler_take_skipped(struct sampler *s)
{
	return is_clock(&s->options) ? skipped_take(s->skipped) : -EALREADY;
}

void sampler_others(char *to, size_t size)
{
	skipped_names(to, size);
}

int sampler_follow_waits(struct sampler *s, uint64_t least, uint64_t wake, char *error, size_t size)
{
	struct profiler_control control;
	int err = control_read(s, &control);

	control.least_wait = least;
	control.least_wake = wake;
	err = control_write(s, &control, err);
	if (err)
		snprintf(error, size, "cannot follow waits of threads: %s", strerror(-err));
	if (err || s->waits)
		return err;
	return waits_new(s->programs.object, &s->programs.config, &s->options, s->sizes.threads,
			 &s->waits, error, size);
}

void sampler_leave_waits(struct sampler *s)
{
	waits_free(s->waits);
	s->waits = NULL;
}

struct waits *sampler_waits(struct sampler *s)
{
	return s->waits;
}

void sampler_stop(struct sampler *s)
{
	events_stop(s->events, true);
}

int sampler_try(struct sampler *s, uint32_t type, uint64_t config, char *error, size_t size)
{
	struct sampler_options options = s->options;

	options.type = type;
	options.config = config;
	return events_try(&options, error, size);
}

int sampler_has(struct sampler *s, uint32_t type, uint64_t config)
{
	struct sampler_options options = s->options;
	int at = sched_getcpu();
	unsigned int cpu = at < 0 ? 0 : (unsigned int)at;
	char error[256]; /* with one, a device that is missing is not taken for a CPU that is */

	options.type = type;
	options.config = config;
	if (!options.cpus) {
		options.cpus = &cpu;
		options.ncpus = 1;
	}
	options.ncpus = 1;
	return events_try(&options, error, sizeof(error));
}

int sampler_change(struct sampler *s, uint32_t type, uint64_t config, char *error, size_t size)
{
	const struct sampler_options before = s->options;
	struct sampler_ticks ticks;
	struct events *events;
	int err;

	sampler_ticks(s, &ticks);
	s->options.type = type;
	s->options.config = config;
	err = events_new(&s->options, s->programs.on_sample, s->stats_fd, &events);
	if (err)
		snprintf(error, size, "cannot change the event: %s", strerror(-err));
	else if (!(err = set_event(s)))
		err = events_start(events, error, size);
	if (err) {
		events_free(events);
		s->options = before;
		(void)set_event(s);
		events_stop(s->events, false);
		return err;
	}
	events_free(s->events);
	s->events = events;
	s->ticks = ticks;
	return 0;
}

static void unmap(void *memory, size_t size)
{
	if (memory)
		munmap(memory, size);
}

void sampler_free(struct sampler *s)
{
	unsigned int i;

	if (!s)
		return;
	sampler_leave_waits(s);
	events_free(s->events);
	skipped_free(s->skipped);
	ring_buffer__free(s->ring);
	kmodules_free(s->modules);
	unmap(s->memory.map_entries, MAP_ENTRIES_MAX * sizeof(struct map_entry));
	unmap(s->memory.touched, MAP_ENTRIES_MAX);
	unmap(s->memory.bare_places, BARE_PLACES * sizeof(struct bare_place));
	unmap(s->memory.checks, MAP_ENTRIES_MAX * sizeof(struct entry_check));
	unmap(s->memory.wide_rules, WIDE_RULES_MAX * sizeof(struct wide_rule));
	unmap(s->seen, s->sizes.seen_sets * sizeof(struct seen_set));
	shardmaps_free(s->shards);
	for (i = 0; i < 2; i++)
		if (s->inner_fds[i] >= 0)
			close(s->inner_fds[i]);
	programs_free(&s->programs);
	pthread_mutex_destroy(&s->control_lock);
	pthread_mutex_destroy(&s->swap_lock);
	free(s->keys);
	free(s->values);
	free(s->counts);
	free(s);
}

size_t sampler_refused(const struct sampler *s, char *to, size_t size)
{
	size_t at = 0;

	to[0] = '\0';
	for (unsigned int i = 0; i < RUNTIME_COUNT && at < size; i++) {
		const char *name = programs_refused(&s->programs, (enum runtime)i);

		if (name)
			at += (size_t)snprintf(to + at, size - at, "%s%s", at ? ", " : "", name);
	}
	return at;
}

bool sampler_refuses(const struct sampler *s, unsigned int runtime)
{
	return programs_refused(&s->programs, (enum runtime)runtime) != NULL;
}

struct kmodules *sampler_modules(struct sampler *s)
{
	return s->modules;
}

unsigned int sampler_ncpus(const struct sampler *s)
{
	return events_count(s->events);
}

unsigned int sampler_counts_max(const struct sampler *s)
{
	return s->sizes.counts;
}

unsigned int sampler_procs_max(const struct sampler *s)
{
	return s->sizes.procs;
}

int sampler_set_process(struct sampler *s, pid_t pid, const struct proc_entry *entry)
{
	__u32 key = pid;

	return bpf_map_update_elem(s->procs_fd, &key, entry, BPF_ANY) ? -errno : 0;
}

void sampler_drop_process(struct sampler *s, pid_t pid)
{
	__u32 key = pid;

	bpf_map_delete_elem(s->procs_fd, &key);
}

int sampler_set_runtime(struct sampler *s, pid_t pid, unsigned int slot,
			const struct runtime_process *runtime)
{
	__u32 key = RUNTIME_KEY(pid, slot);

	return bpf_map_update_elem(s->runtimes_fd, &key, runtime, BPF_ANY) ? -errno : 0;
}

void sampler_drop_runtime(struct sampler *s, pid_t pid, unsigned int slot)
{
	__u32 key = RUNTIME_KEY(pid, slot);

	bpf_map_delete_elem(s->runtimes_fd, &key);
}

int sampler_set_file(struct sampler *s, const struct file_key *key, const struct file_entry *entry)
{
	return bpf_map_update_elem(s->files_fd, key, entry, BPF_ANY) ? -errno : 0;
}

void sampler_drop_file(struct sampler *s, const struct file_key *key)
{
	bpf_map_delete_elem(s->files_fd, key);
}

int sampler_set_target(struct sampler *s, pid_t pid, const struct target *target)
{
	struct target value;
	__u32 key = pid;

	if (!target) {
		bpf_map_delete_elem(s->targets_fd, &key);
		return 0;
	}
	value = *target;
	if (!s->programs.knows_starts)
		value.start = 0;
	return bpf_map_update_elem(s->targets_fd, &key, &value, BPF_ANY) ? -errno : 0;
}

int sampler_set_filtering(struct sampler *s, enum target_filter filter)
{
	struct profiler_control control;
	int err = control_read(s, &control);

	control.filtering = filter;
	return control_write(s, &control, err);
}

int sampler_set_kernel_code(struct sampler *s, uint32_t generation)
{
	struct profiler_control control;
	int err = control_read(s, &control);

	control.kernel_code = generation;
	return control_write(s, &control, err);
}

int sampler_set_by_cpu(struct sampler *s, bool on)
{
	struct profiler_control control;
	int err = control_read(s, &control);

	control.by_cpu = on;
	return control_write(s, &control, err);
}

int sampler_capture(struct sampler *s, pid_t pid, unsigned int reason)
{
	struct profiler_control control;
	int err = control_read(s, &control);

	control.capture = pid;
	control.capture_reason = reason;
	return control_write(s, &control, err);
}

int sampler_process(struct sampler *s, pid_t pid, struct proc_entry *entry)
{
	__u32 key = pid;

	return bpf_map_lookup_elem(s->procs_fd, &key, entry) ? -errno : 0;
}

const struct sampler_memory *sampler_memory(const struct sampler *s)
{
	return &s->memory;
}

bool sampler_checks_lists(const struct sampler *s)
{
	return s->programs.checks_lists;
}

struct shardmaps *sampler_shards(struct sampler *s)
{
	return s->shards;
}

/* An update of a map in a map returns only when no program can see the old one any more. */
void sampler_wait(struct sampler *s)
{
	pthread_mutex_lock(&s->swap_lock);
	set_counts(s, s->inner);
	pthread_mutex_unlock(&s->swap_lock);
}

int sampler_filling_fd(const struct sampler *s)
{
	return ring_buffer__epoll_fd(s->ring);
}

int sampler_read_stacks(struct sampler *s, void (*fn)(const struct stack_record *rec, void *arg),
			void *arg)
{
	struct epoll_event wakeup;
	int n;

	s->stack_fn = fn;
	s->stack_arg = arg;
	events_follow(s->events);
	n = ring_buffer__consume(s->ring);
	/* Takes the empty ring off epoll's list, on which the next stack would make it readable. */
	(void)epoll_wait(sampler_filling_fd(s), &wakeup, 1, 0);
	return n < 0 ? n : 0;
}

int sampler_drain(struct sampler *s, void (*fn)(const struct stack_record *rec, void *arg),
		  void *arg, const struct sampler_count **counts, size_t *ncounts)
{
	__u32 n, i, batch = 0;
	int old, err;

	*counts = s->counts;
	*ncounts = 0;
	if (s->waits)
		(void)waits_take(s->waits); /* the rest has its time in a later slice */
	pthread_mutex_lock(&s->swap_lock);
	old = s->inner;
	err = set_counts(s, !old);
	if (!err)
		s->inner = !old;
	pthread_mutex_unlock(&s->swap_lock);
	if (err)
		return err;
	err = sampler_read_stacks(s, fn, arg);
	n = s->sizes.counts;
	if (bpf_map_lookup_and_delete_batch(s->inner_fds[old], NULL, &batch, s->keys, s->values, &n,
					    NULL) &&
	    errno != ENOENT) {
		err = -errno;
		if (err == -EFAULT) /* n is not set then */
			n = 0;
	}
	for (i = 0; i < n; i++) {
		s->counts[i].key = s->keys[i];
		s->counts[i].value = s->values[i];
	}
	*ncounts = n;
	return err;
}

void sampler_forget(struct sampler *s, uint64_t hash)
{
	struct seen_set *set = &s->seen[hash & (s->sizes.seen_sets - 1)];
	unsigned int i;

	for (i = 0; i < SEEN_WAYS; i++)
		if (__atomic_load_n(&set->hash[i], __ATOMIC_RELAXED) == hash)
			__atomic_store_n(&set->hash[i], 0, __ATOMIC_RELAXED);
}

/* The sum of a struct of counters over all CPUs. */
static int sum_counters(const struct sampler *s, int map, void *sum, size_t size)
{
	__u64 *each = calloc(s->possible_cpus, size), *to = sum;
	const size_t n = size / sizeof(*each);
	__u32 zero = 0;

	if (!each)
		return -ENOMEM;
	memset(sum, 0, size);
	if (bpf_map_lookup_elem(map, &zero, each)) {
		free(each);
		return -errno;
	}
	for (size_t i = 0; i < n * s->possible_cpus; i++)
		to[i % n] += each[i];
	free(each);
	return 0;
}

int sampler_stats(struct sampler *s, struct profiler_stats *sum)
{
	return sum_counters(s, s->stats_fd, sum, sizeof(*sum));
}

int sampler_runtime_stats(struct sampler *s, struct runtime_stats *sum)
{
	return sum_counters(s, s->runtime_counts_fd, sum, sizeof(*sum));
}

int sampler_run_time(struct sampler *s, uint64_t *ns, uint64_t *runs)
{
	struct bpf_prog_info info = {0};
	__u32 size = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_program__fd(s->programs.on_sample), &info, &size))
		return -errno;
	*ns = info.run_time_ns;
	*runs = info.run_cnt;
	return 0;
}

size_t sampler_cpu_times(const struct sampler *s, struct cpu_times *to, size_t max)
{
	return events_cpu_times(s->events, to, max);
}

void sampler_ticks(struct sampler *s, struct sampler_ticks *ticks)
{
	const uint64_t period = 1000000000ull / s->options.frequency; /* as the kernel has it */
	const bool clock = is_clock(&s->options);
	struct ticks_sums sums;

	events_sum(s->events, &sums);
	*ticks = s->ticks;
	ticks->due += clock ? sums.active_ns / period : 0;
	ticks->idle += sums.idle_ns / period;
	ticks->throttled += sums.throttled_ns / period;
	ticks->throttles += sums.throttles;
	ticks->counted += clock ? 0 : sums.counted;
}
