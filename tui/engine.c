/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The collector: one thread that drains the sampler when a slice ends and commits it. Only it
 * knows both the BPF side and the profile. It takes the profile's lock for as long as interning
 * takes, never while it reads a file or waits for the kernel.
 */
#include "tui/engine.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "bpf/check.h"
#include "bpf/ksyms.h"
#include "bpf/sampler.h"
#include "bpf/tracker.h"
#include "tui/command.h"
#include "tui/event.h"
#include "tui/options.h"
#include "tui/procinfo.h"
#include "tui/profile.h"
#include "tui/resolver.h"
#include "tui/stackcache.h"

#define SHARD_MIB      4u
#define FIRST_SLICE_NS 250000000ull
#define RING_PERIOD_NS 200000000ull /* the ring must not overflow in a long slice */
#define DEAD_MORE_NS   3000000000ull
#define TABLES_WAIT_NS 5000000000ull
#define TABLES_LIVE_NS 100000000ull

struct engine {
	struct profile *profile;
	const struct options *options;
	struct command *command;
	struct sampler *sampler;
	struct tracker *tracker;
	struct ksyms *ksyms;
	struct resolver *resolver;
	struct stackcache *stacks;
	struct procinfo *procs;
	struct tracker_filter filter;
	unsigned int shards_max;

	pthread_t thread;
	bool running;
	int event;		 /* something is to be seen */
	int wake;		 /* of the thread */
	_Atomic uint64_t period; /* ns */
	_Atomic uint64_t slices;
	atomic_bool stop, finish, finished;

	/* of the thread */
	uint64_t slice_start;
	uint64_t self_before;
	struct profiler_stats before;
	uint64_t sideband_before;
	struct profile_cell *cells;
	size_t cells_room;
	int failed; /* the last slice's error, told once */
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static uint64_t self_ns(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return (uint64_t)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000000ull +
	       (uint64_t)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1000ull;
}

/* Of an eventfd: only a full counter can fail, and that is readable, too. */
static void signal_fd(int fd)
{
	uint64_t one = 1;
	ssize_t n = write(fd, &one, sizeof(one));

	(void)n;
}

static void say(void *arg, int level, const char *text)
{
	struct engine *e = arg;

	profile_lock(e->profile);
	profile_message(e->profile, (enum message_level)level, "%s", text);
	profile_unlock(e->profile);
	signal_fd(e->event);
}

/* --- a slice --------------------------------------------------------------------------------- */

static void keep_stack(const struct stack_record *rec, void *arg)
{
	struct engine *e = arg;

	/* Without memory it is forgotten and comes again. */
	stackcache_add(e->stacks, rec);
}

static uint64_t delta(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static int make_cell(struct engine *e, const struct sampler_count *count, uint64_t now,
		     struct profile_cell *cell, struct profile_health *health)
{
	const struct count_key *key = &count->key;
	pid_t pid = (pid_t)key->tgid;
	uint64_t image = procinfo_image(e->procs, pid, count->value.image);
	bool ulost = false, klost = false;
	int64_t id;

	*cell = (struct profile_cell){.tid = key->tid,
				      .ustack = PROFILE_NO_STACK,
				      .kstack = PROFILE_NO_STACK,
				      .count = count->value.count};
	id = procinfo_proc(e->procs, pid, image, count->value.comm, now);
	if (id < 0)
		return (int)id;
	cell->proc = (uint32_t)id;
	if (key->user) {
		id = stackcache_user(e->stacks, pid, image, key->user, &ulost);
		if (id < 0)
			return (int)id;
		cell->ustack = (uint32_t)id;
	}
	if (key->kernel) {
		id = stackcache_kernel(e->stacks, key->kernel, &klost);
		if (id < 0)
			return (int)id;
		cell->kstack = (uint32_t)id;
	}
	health->samples += cell->count;
	if (key->kernel)
		health->kernel_samples += cell->count;
	if (ulost || klost)
		health->loss[LOSS_STACK_RING] += cell->count;
	return 0;
}

/*
 * Samples that hit while the counts are read stand in the counters already. A kernel stack says
 * exactly what hit the kernel; only without such stacks the counters must do.
 */
static void use_stats(struct engine *e, const struct profiler_stats *s, struct profile_health *h)
{
	struct profiler_stats *b = &e->before;

	h->filtered = delta(s->filtered, b->filtered);
	h->user_walks = delta(s->walks, b->walks);
	h->complete_walks = delta(s->complete, b->complete);
	h->loss[LOSS_COUNTS_FULL] = delta(s->counts_full, b->counts_full);
	h->loss[LOSS_BUSY] = delta(s->counts_busy, b->counts_busy);
	h->samples += h->loss[LOSS_COUNTS_FULL] + h->loss[LOSS_BUSY];
	h->user_samples = delta(s->user, b->user);
	if (!e->options->no_kernel || h->user_samples > h->samples)
		h->user_samples = h->samples - h->kernel_samples;
	h->kernel_samples = h->samples - h->user_samples;
	*b = *s;
}

static void read_state(struct engine *e, struct profile_health *h)
{
	struct tracker_state state;
	uint64_t self = self_ns();

	tracker_state(e->tracker, &state);
	h->loss[LOSS_SIDEBAND] = delta(state.lost_records, e->sideband_before);
	e->sideband_before = state.lost_records;
	h->filtering = state.filtering;
	h->nattached = state.nattached;
	h->nprocs = state.nprocs;
	h->shards_used = state.shards_used;
	h->shards_created = state.shards_created;
	h->shards_max = state.shards_max;
	h->words_used = state.words_used;
	h->words_max = state.words_max;
	h->self_ns = delta(self, e->self_before);
	e->self_before = self;
	h->ncpus = sampler_ncpus(e->sampler);
	h->frequency = e->options->frequency;
	snprintf(h->event, sizeof(h->event), "%s", e->options->event->name);
}

static int cells_reserve(struct engine *e, size_t count)
{
	struct profile_cell *cells;

	if (count <= e->cells_room)
		return 0;
	cells = realloc(e->cells, count * sizeof(*cells));
	if (!cells)
		return -ENOMEM;
	e->cells = cells;
	e->cells_room = count;
	return 0;
}

static int collect(struct engine *e)
{
	struct profile_health health = {.time = now_ns(), .counts_max = sampler_counts_max(e->sampler)};
	const struct sampler_count *counts;
	struct profiler_stats stats = e->before;
	size_t ncounts = 0, ncells = 0;
	int err;

	err = sampler_drain(e->sampler, keep_stack, e, &counts, &ncounts);
	/* At once: to name new stacks may take seconds. */
	if (sampler_stats(e->sampler, &stats))
		stats = e->before;
	if (!err)
		err = cells_reserve(e, ncounts);
	for (size_t i = 0; !err && i < ncounts; i++)
		err = make_cell(e, &counts[i], health.time, &e->cells[ncells++], &health);
	if (!err)
		err = procinfo_update(e->procs, health.time);
	health.counts_used = (unsigned int)ncounts;
	health.elapsed = health.time - e->slice_start;
	e->slice_start = health.time;
	use_stats(e, &stats, &health);
	read_state(e, &health);
	health.drain_ns = now_ns() - health.time;
	if (!err) {
		profile_lock(e->profile);
		err = profile_commit(e->profile, e->cells, ncells, &health);
		profile_unlock(e->profile);
	}
	procinfo_age(e->procs);
	stackcache_age(e->stacks, health.time);
	resolver_trim(e->resolver);
	return err;
}

static void collect_and_tell(struct engine *e, bool last)
{
	int err = collect(e);
	char text[128];

	if (err && err != e->failed) {
		snprintf(text, sizeof(text), "a slice was lost: %s", strerror(-err));
		say(e, MESSAGE_ERROR, text);
	}
	e->failed = err;
	atomic_fetch_add(&e->slices, 1);
	if (last)
		atomic_store(&e->finished, true);
	signal_fd(e->event);
}

/* --- the thread ------------------------------------------------------------------------------ */

/* Waits until then, or until woken. True when the command has ended. */
static bool wait_until(struct engine *e, uint64_t then)
{
	struct pollfd fds[2] = {{.fd = e->wake, .events = POLLIN}, {.fd = -1, .events = POLLIN}};
	uint64_t now = now_ns(), left = then > now ? then - now : 0, woken;
	struct timespec wait;

	if (e->command)
		fds[1].fd = command_fd(e->command);
	if (left > RING_PERIOD_NS)
		left = RING_PERIOD_NS;
	wait = (struct timespec){.tv_sec = (time_t)(left / 1000000000ull),
				 .tv_nsec = (long)(left % 1000000000ull)};
	if (ppoll(fds, 2, &wait, NULL) <= 0)
		return false;
	if (fds[0].revents && read(e->wake, &woken, sizeof(woken)) < 0)
		return false;
	return fds[1].revents != 0;
}

static void *collector(void *arg)
{
	struct engine *e = arg;
	unsigned int full = 0;
	bool first = !e->options->batch, last = false;

	while (!last && !atomic_load(&e->stop)) {
		uint64_t period = atomic_load(&e->period);
		uint64_t slice = first && period > FIRST_SLICE_NS ? FIRST_SLICE_NS : period;
		uint64_t due = e->slice_start + slice;

		last = wait_until(e, due) || atomic_load(&e->finish);
		if (atomic_load(&e->stop))
			break;
		if (!last && now_ns() < due) {
			sampler_read_stacks(e->sampler, keep_stack, e);
			continue;
		}
		if (!last && slice == period)
			last = ++full == e->options->iterations;
		first = false;
		collect_and_tell(e, last);
	}
	return NULL;
}

/* --- life ------------------------------------------------------------------------------------ */

static int open_parts(struct engine *e, char *error, size_t size)
{
	const struct options *o = e->options;
	struct sampler_options so = {
		.type = o->event->type,
		.config = o->event->config,
		.frequency = o->frequency,
		.cpus = o->cpus,
		.ncpus = o->ncpus,
		.no_kernel = o->no_kernel,
		.no_user = o->no_user,
		.shards_max = e->shards_max,
	};
	int err = sampler_new(&so, &e->sampler, error, size);

	if (err)
		return err;
	err = tracker_new(e->sampler, &e->filter, e->shards_max, say, e, &e->tracker);
	if (!err)
		err = ksyms_new(&e->ksyms);
	if (!err)
		err = resolver_new(e->profile, e->tracker, e->ksyms, &e->resolver);
	if (!err)
		err = stackcache_new(e->profile, e->sampler, e->resolver, &e->stacks);
	if (!err)
		err = procinfo_new(e->profile, e->tracker, &e->procs);
	if (err)
		snprintf(error, size, "cannot prepare the collection: %s", strerror(-err));
	return err;
}

/*
 * Signals are for the main thread. A timer's signal while a program is loaded would also make the
 * verifier start over.
 */
static void block_signals(sigset_t *before)
{
	sigset_t set;

	sigfillset(&set);
	sigdelset(&set, SIGSEGV);
	sigdelset(&set, SIGBUS);
	sigdelset(&set, SIGFPE);
	sigdelset(&set, SIGILL);
	sigdelset(&set, SIGABRT);
	pthread_sigmask(SIG_BLOCK, &set, before);
}

int engine_new(struct profile *p, const struct options *options, struct command *command,
	       struct engine **out, char *error, size_t size)
{
	struct engine *e = calloc(1, sizeof(*e));
	sigset_t before;
	int err = 0;

	*out = NULL;
	if (!e) {
		snprintf(error, size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	e->profile = p;
	e->options = options;
	e->command = command;
	e->shards_max = options->memory / SHARD_MIB ? options->memory / SHARD_MIB : 1;
	e->filter = (struct tracker_filter){
		.pids = options->pids,
		.npids = options->npids,
		.comm = options->comm ? &options->comm_regex : NULL,
		.user_given = options->user_given,
		.user = options->user,
	};
	e->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	e->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (e->event < 0 || e->wake < 0) {
		err = -errno;
		snprintf(error, size, "eventfd: %s", strerror(errno));
	}
	block_signals(&before);
	if (!err)
		err = open_parts(e, error, size);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err) {
		engine_free(e);
		return err;
	}
	*out = e;
	return 0;
}

/* Samples without tables only say that tables are missing. */
static void wait_for_tables(struct engine *e)
{
	uint64_t end = now_ns() + (e->options->batch ? TABLES_WAIT_NS : TABLES_LIVE_NS);
	struct tracker_state state;

	do {
		tracker_state(e->tracker, &state);
		if (state.idle)
			return;
		nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
	} while (now_ns() < end);
}

static void set_period(struct engine *e, double seconds)
{
	uint64_t ns = (uint64_t)(seconds * 1e9);

	atomic_store(&e->period, ns);
	/* A slice is late when naming the one before took long. */
	tracker_keep_dead(e->tracker, 2 * ns + DEAD_MORE_NS);
}

static int start_parts(struct engine *e, char *error, size_t size)
{
	const char *warning = check_hang_warning();
	int err;

	if (warning)
		say(e, MESSAGE_WARNING, warning);
	set_period(e, e->options->delay);
	err = tracker_start(e->tracker);
	if (!err && e->command)
		err = tracker_follow(e->tracker, command_pid(e->command));
	if (err) {
		snprintf(error, size, "cannot follow processes: %s", strerror(-err));
		return err;
	}
	wait_for_tables(e);
	err = sampler_start(e->sampler, error, size);
	if (err)
		return err;
	e->slice_start = now_ns();
	e->self_before = self_ns();
	if (e->command) {
		err = command_go(e->command);
		if (err) {
			snprintf(error, size, "cannot run '%s': %s", e->options->command[0],
				 strerror(-err));
			return err;
		}
	}
	err = -pthread_create(&e->thread, NULL, collector, e);
	if (err)
		snprintf(error, size, "cannot make a thread: %s", strerror(-err));
	e->running = !err;
	return err;
}

int engine_start(struct engine *e, char *error, size_t size)
{
	sigset_t before;
	int err;

	block_signals(&before);
	err = start_parts(e, error, size);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

void engine_finish(struct engine *e)
{
	atomic_store(&e->finish, true);
	signal_fd(e->wake);
}

void engine_free(struct engine *e)
{
	if (!e)
		return;
	if (e->running) {
		atomic_store(&e->stop, true);
		signal_fd(e->wake);
		pthread_join(e->thread, NULL);
	}
	stackcache_free(e->stacks);
	resolver_free(e->resolver);
	procinfo_free(e->procs);
	if (e->ksyms)
		ksyms_free(e->ksyms);
	if (e->tracker)
		tracker_free(e->tracker);
	if (e->sampler)
		sampler_free(e->sampler);
	if (e->event >= 0)
		close(e->event);
	if (e->wake >= 0)
		close(e->wake);
	free(e->cells);
	free(e);
}

/* --- for screens ----------------------------------------------------------------------------- */

static void set_interval(struct engine *e, const char *arg)
{
	char *end;
	double seconds = strtod(arg, &end);

	if (end == arg || !(seconds >= OPTIONS_DELAY_MIN && seconds <= OPTIONS_DELAY_MAX))
		return;
	set_period(e, seconds);
	signal_fd(e->wake);
}

void engine_post(struct engine *e, enum engine_command command, const char *arg)
{
	static const enum tracker_command commands[] = {
		[ENGINE_ATTACH] = TRACKER_ATTACH,
		[ENGINE_DETACH] = TRACKER_DETACH,
		[ENGINE_DETACH_ALL] = TRACKER_DETACH_ALL,
		[ENGINE_RESET_SHARD] = TRACKER_RESET_SHARD,
		[ENGINE_RESET_SHARDS] = TRACKER_RESET_SHARDS,
	};

	if (command == ENGINE_INTERVAL)
		set_interval(e, arg ? arg : "");
	else if ((size_t)command < sizeof(commands) / sizeof(*commands))
		tracker_post(e->tracker, commands[command], arg ? arg : "");
}

int engine_event_fd(const struct engine *e)
{
	return e->event;
}

bool engine_finished(const struct engine *e)
{
	return atomic_load(&e->finished);
}

uint64_t engine_slices(const struct engine *e)
{
	return atomic_load(&e->slices);
}
