// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The collector: one thread that drains the sampler at the end of a slice and commits the slice.
 * Only its files and those of tui/symbolize/ know both the BPF side and the profile; this one opens
 * and closes the parts, and runs the thread.
 */
#include "tui/collect/collector.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "bpf/sampler/kernelinfo.h"
#include "bpf/sampler/ksyms.h"
#include "bpf/sampler/sizes.h"
#include "bpf/sampler/refusal.h"
#include "bpf/sampler/sampler.h"
#include "symbols/base/clock.h"
#include "symbols/base/forked.h"
#include "symbols/base/thread.h"
#include "tui/collect/annotator.h"
#include "tui/collect/child.h"
#include "tui/collect/collector_priv.h"
#include "tui/collect/mutes.h"
#include "bpf/sampler/event.h"
#include "tui/collect/procinfo.h"
#include "tui/profile/board.h"
#include "tui/symbolize/resolver.h"
#include "tui/session/session_write.h"
#include "tui/collect/stackcache.h"
#include "tui/collect/threadbook.h"

#define SHARD_MIB      4u
#define FIRST_SLICE_NS 250000000ull
#define FOLLOW_NS      200000000ull /* between looks at CPUs, waits, files */
#define FILES_WAIT_NS  1500000000ull
#define TABLES_WAIT_NS 5000000000ull
#define TABLES_LIVE_NS 100000000ull
#define ASIDE_WAIT_NS  150000000ull
#define ASIDE_NAMED_NS 330000000ull /* with a command or file that may be mistyped */
#define PROMPT_NICE    (-10)	    /* as the tracker: it needs little of a CPU, but at once */
#define TABLES_MORE_NS 500000000ull /* than an interval, before the first of several reports */

void collector_say(struct collector *c, enum message_level level, const char *format, ...)
{
	char text[BOARD_TEXT_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	board_message(profile_board(c->profile), level, "%s", text);
	source_signal(c->source.event);
}

static void tracker_says(void *arg, int level, const char *text)
{
	collector_say(arg, (enum message_level)level, "%s", text);
}

/* Says what is waited for before the first slice. */
static void awaits(struct collector *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void awaits(struct collector *c, const char *format, ...)
{
	char text[BOARD_TEXT_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (board_set_awaited(profile_board(c->profile), text))
		source_signal(c->source.event);
}

/* Thousands of processes take a while. */
static void tell_reading(struct collector *c)
{
	struct tracker_state state;

	tracker_state(c->tracker, &state);
	if (state.started)
		awaits(c, "Unwind tables are built, the hottest first.");
	else
		awaits(c, "Processes are read: %u so far.", state.nprocs);
}

/* --- the thread ------------------------------------------------------------------------------ */

/* Waits until then, until woken or until the ring fills up. True if the command has ended. */
static bool wait_until(struct collector *c, uint64_t then)
{
	struct pollfd fds[3] = {{.fd = c->wake, .events = POLLIN},
				{.fd = -1, .events = POLLIN},
				{.fd = sampler_filling_fd(c->sampler), .events = POLLIN}};
	uint64_t now = source_now(), left = then > now ? then - now : 0, woken;
	struct timespec wait;

	if (c->command)
		fds[1].fd = child_fd(c->command);
	if (left > FOLLOW_NS)
		left = FOLLOW_NS;
	wait = (struct timespec){.tv_sec = (time_t)(left / 1000000000ull),
				 .tv_nsec = (long)(left % 1000000000ull)};
	if (ppoll(fds, 3, &wait, NULL) <= 0)
		return false;
	if (fds[0].revents && read(c->wake, &woken, sizeof(woken)) < 0)
		return false;
	return fds[1].revents != 0;
}

/*
 * Each slice has its report, even if reports are read slowly: the next slice is longer then, and
 * its samples wait in the maps. False: stop.
 */
static bool wait_for_report(struct collector *c)
{
	struct pollfd fds[2] = {{.fd = c->wake, .events = POLLIN},
				{.fd = sampler_filling_fd(c->sampler), .events = POLLIN}};
	uint64_t woken;

	while (c->options->batch && !atomic_load(&c->stop) &&
	       atomic_load(&c->reported) != atomic_load(&c->source.slices)) {
		if (poll(fds, 2, FOLLOW_NS / 1000000) > 0 && fds[0].revents &&
		    read(c->wake, &woken, sizeof(woken)) < 0)
			break;
		collector_read_stacks(c);
		resolver_rest(c->resolver);
	}
	return !atomic_load(&c->stop);
}

static void *collect(void *arg)
{
	struct collector *c = arg;
	unsigned int full = 0;
	bool first = !c->options->batch, last = false;
	const struct event *event;

	if (collector_is_prompt(c))
		setpriority(PRIO_PROCESS, (id_t)gettid(), PROMPT_NICE);
	while (!last && !atomic_load(&c->stop)) {
		uint64_t period = atomic_load(&c->period);
		uint64_t slice = first && period > FIRST_SLICE_NS ? FIRST_SLICE_NS : period;
		uint64_t due = c->slice_start + slice;

		last = wait_until(c, due) || atomic_load(&c->finish);
		if (atomic_load(&c->stop))
			break;
		collector_take_inventory(c);
		collector_watch_cpus(c);
		collector_tell_cpus_apart(c);
		collector_follow_waits(c);
		resolver_rest(c->resolver);
		if (c->annotator && annotator_work(c->annotator, source_now(), false))
			source_signal(c->source.event);
		if (resolver_settle(c->resolver, 0))
			source_signal(c->source.event);
		if (!last && source_now() < due) {
			if (!atomic_load(&c->source.slices))
				tell_reading(c);
			collector_read_stacks(c);
			collector_inspect(c);
			continue;
		}
		if (!wait_for_report(c))
			break;
		if (!last && slice == period)
			/* A screenshot ends by itself, but keys may ask for more. */
			last = ++full == c->options->iterations && !c->options->screenshot;
		first = false;
		event = last ? NULL : collector_next_event(c);
		collector_end_slice(c, last);
		collector_try_events(c);
		if (event)
			collector_change_event(c, event);
		collector_inspect(c);
	}
	return NULL;
}

/* --- life ------------------------------------------------------------------------------------ */

/* Without it there are only local names. */
static void open_remote(struct collector *c)
{
	int err = remotedebug_new(&c->remote);

	if (err)
		collector_say(c, MESSAGE_WARNING, "--debuginfod: %s", remotedebug_trouble(err));
	else
		resolver_set_remote(c->resolver, c->remote);
}

static int open_parts(struct collector *c, char *error, size_t size)
{
	const struct collector_options *o = c->options;
	struct sampler_options so = {
		.type = o->event->type,
		.config = o->event->config,
		.frequency = o->frequency,
		.cpus = o->cpus,
		.ncpus = o->ncpus,
		.no_kernel = o->no_kernel,
		.no_user = o->no_user,
		.capture = !o->batch,
		.shards_max = c->shards_max,
		.unfollowed = getpid(),
	};
	char remedy[256];
	int err = sampler_new(&so, &c->sampler, error, size);

	if (err)
		return err;
	if (sampler_refused(c->sampler, remedy, sizeof(remedy)))
		collector_say(c, MESSAGE_WARNING,
			      "this kernel refuses %s: no frames of that language", remedy);
	err = tracker_new(c->sampler, &c->filter, c->shards_max, tracker_says, c, &c->tracker);
	if (err == -EPERM || err == -EACCES) {
		snprintf(error, size, "cannot follow processes: perf_event_open: %s%s",
			 strerror(-err),
			 refusal_of(REFUSAL_PERF_EVENT_OPEN, err, remedy, sizeof(remedy)));
		return err;
	}
	if (!err && o->calm)
		tracker_calm(c->tracker);
	/* The names of a last report are not corrected later, and no user waits for its end. */
	if (!err && o->batch)
		tracker_patience(c->tracker, collector_is_prompt(c)
						     ? collector_bounded(c, FILES_WAIT_NS)
						     : FILES_WAIT_NS);
	if (!err)
		err = ksyms_new(&c->ksyms);
	if (!err) {
		ksyms_set_code(c->ksyms, tracker_kernel_code(c->tracker));
		ksyms_set_modules(c->ksyms, sampler_modules(c->sampler));
	}
	if (!err)
		err = resolver_new(c->profile, c->tracker, c->ksyms,
				   o->no_inline ? 0 : (size_t)o->debug_memory << 20, &c->resolver);
	if (!err && o->debuginfod)
		open_remote(c);
	if (!err)
		err = stackcache_new(c->profile, c->sampler, c->resolver, &c->stacks);
	if (!err && !o->batch)
		err = annotator_new(c->profile, c->tracker, c->resolver, c->stacks,
				    (size_t)o->debug_memory << 20, c->remote, &c->annotator);
	if (!err)
		err = procinfo_new(c->profile, c->tracker, &c->procs);
	if (!err)
		err = threadbook_new(c->profile, c->stacks, c->procs, &c->threads);
	if (!err)
		err = mutes_new(c->tracker, c->stacks, c->procs, &c->mutes);
	/* Only for display. */
	if (!err && memlock_maps(&c->locked))
		c->locked = 0;
	if (err)
		snprintf(error, size, "cannot prepare the collection: %s%s", strerror(-err),
			 refusal_of(REFUSAL_BPF, err, remedy, sizeof(remedy)));
	return err;
}

static int open_all(struct collector *c, char *error, size_t size)
{
	const char *path = c->options->record;
	int err;

	awaits(c, "The kernel checks the programs that take the samples.");
	err = open_parts(c, error, size);
	if (err || !path)
		return err;
	/* Last: an older recording is not overwritten for nothing. */
	awaits(c, "Waiting for %s, which does not answer.", path);
	if (c->options->aside && !forked_await(path, &c->stop)) {
		snprintf(error, size, "%s: %s", path, strerror(ECANCELED));
		return -ECANCELED;
	}
	err = session_writer_new(path, &c->record, error, size);
	atomic_store(&c->source.records, c->record != NULL);
	return err;
}

static const struct source_ops live_ops;
static void live_free(struct source *source);

int collector_new(struct profile *p, const struct collector_options *options, struct child *command,
		  struct collector **out, char *error, size_t size)
{
	struct collector *c = calloc(1, sizeof(*c));
	sigset_t before;
	int err = 0;

	*out = NULL;
	if (!c) {
		snprintf(error, size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	c->source.ops = &live_ops;
	c->profile = p;
	c->options = options;
	c->sampled = options->event;
	c->by_cpu = options->by_cpu;
	c->waits = options->waits;
	c->command = command;
	c->shards_max = options->tables / SHARD_MIB ? options->tables / SHARD_MIB : 1;
	c->filter = (struct tracker_filter){
		.pids = options->pids,
		.npids = options->npids,
		.comm = options->comm,
		.user_given = options->user_given,
		.user = options->user,
		.cgroup = options->cgroup,
		.container = options->container,
	};
	c->source.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	c->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->source.event < 0 || c->wake < 0) {
		err = -errno;
		snprintf(error, size, "eventfd: %s", strerror(errno));
	}
	pthread_mutex_init(&c->early.lock, NULL);
	thread_block_signals(&before);
	if (!err && !options->aside)
		err = open_all(c, error, size);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err) {
		live_free(&c->source);
		return err;
	}
	*out = c;
	return 0;
}

/* Samples without tables would only show that tables are missing. */
static void wait_for_tables(struct collector *c)
{
	const struct collector_options *o = c->options;
	uint64_t wait = o->batch || o->screenshot ? TABLES_WAIT_NS : TABLES_LIVE_NS, end;
	struct tracker_state state;

	if (collector_is_prompt(c))
		wait = collector_bounded(c, TABLES_WAIT_NS - TABLES_MORE_NS) + TABLES_MORE_NS;
	end = source_now() + wait;
	do {
		tracker_state(c->tracker, &state);
		if (state.idle)
			return;
		tell_reading(c);
		nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
	} while (source_now() < end && !atomic_load(&c->stop));
}

static int start_parts(struct collector *c, char *error, size_t size)
{
	const char *warning = kernelinfo_hang_warning();
	int err;

	if (warning)
		collector_say(c, MESSAGE_WARNING, "%s", warning);
	collector_set_period(c, c->options->delay);
	err = tracker_start(c->tracker);
	if (!err && c->command)
		child_wait(c->command);
	if (!err && c->command)
		err = tracker_follow(c->tracker, child_pid(c->command));
	if (err) {
		snprintf(error, size, "cannot follow processes: %s", strerror(-err));
		return err;
	}
	wait_for_tables(c);
	collector_tell_cpus_apart(c);
	collector_follow_waits(c);
	err = sampler_start(c->sampler, error, size);
	if (err)
		return err;
	collector_begin_slice(c);
	if (c->command) {
		err = child_go(c->command);
		if (err) {
			snprintf(error, size, "cannot run '%s': %s", c->options->program,
				 strerror(-err));
			return err;
		}
	}
	collector_post_early(c);
	return 0;
}

static void *begin_and_collect(void *arg)
{
	struct collector *c = arg;
	struct source *s = &c->source;
	int err = open_all(c, s->failure, sizeof(s->failure));

	if (!err)
		err = start_parts(c, s->failure, sizeof(s->failure));
	if (err)
		source_fail(s, err);
	atomic_store(&c->began, true);
	return err ? NULL : collect(c);
}

static int start_thread(struct collector *c, void *(*run)(void *), char *error, size_t size)
{
	int err = thread_start(&c->thread, run, c);

	if (err)
		snprintf(error, size, "cannot make a thread: %s", strerror(-err));
	c->running = !err;
	return err;
}

/* Most failures come at once: then no screen is taken only to be given back. */
static int start_aside(struct collector *c, char *error, size_t size)
{
	bool named = c->command || c->options->record;
	uint64_t end = source_now() + (named ? ASIDE_NAMED_NS : ASIDE_WAIT_NS);
	int err = start_thread(c, begin_and_collect, error, size);

	if (err)
		return err;
	while (!atomic_load(&c->began) && source_now() < end)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	err = atomic_load(&c->source.failed);
	if (err)
		snprintf(error, size, "%s", c->source.failure);
	return err;
}

int collector_start(struct collector *c, char *error, size_t size)
{
	sigset_t before;
	int err;

	if (c->options->aside)
		return start_aside(c, error, size);
	thread_block_signals(&before);
	err = start_parts(c, error, size);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err ? err : start_thread(c, collect, error, size);
}

/* until: CLOCK_REALTIME; NULL: no limit. */
static bool live_stop_until(struct collector *c, const struct timespec *until)
{
	int err = 0;

	if (c->running) {
		atomic_store(&c->stop, true);
		source_signal(c->wake);
		err = until ? pthread_timedjoin_np(c->thread, NULL, until)
			    : pthread_join(c->thread, NULL);
	}
	if (err)
		return false;
	c->running = false;
	if (c->record) {
		c->record_error = session_writer_end(c->record);
		c->record_untold = c->record_error != 0;
		session_writer_free(c->record);
		c->record = NULL;
	}
	return true;
}

struct source *collector_source(struct collector *c)
{
	return &c->source;
}

/* --- what a source does ---------------------------------------------------------------------- */

static int live_stop(struct source *source, unsigned int ms, char *error, size_t size)
{
	struct collector *c = collector_of(source);
	/* Nothing has begun that would have to be completed; the kernel's check takes its time. */
	bool loads = c->options->aside && !c->options->record && !atomic_load(&c->began);
	struct timespec until = clock_in(CLOCK_REALTIME, loads ? 0 : ms * 1000000ull);

	if (!live_stop_until(c, &until))
		return -ETIME;
	if (c->record_error && (c->record_untold || !c->options->batch))
		snprintf(error, size, "%s: %s; it holds what was recorded until then",
			 c->options->record, strerror(-c->record_error));
	return c->record_error;
}

static void live_finish(struct source *source)
{
	struct collector *c = collector_of(source);

	atomic_store(&c->finish, true);
	source_signal(c->wake);
}

static void live_free(struct source *source)
{
	struct collector *c = collector_of(source);

	live_stop_until(c, NULL);
	annotator_free(c->annotator);
	mutes_free(c->mutes);
	threadbook_free(c->threads);
	stackcache_free(c->stacks);
	resolver_free(c->resolver);
	remotedebug_free(c->remote);
	procinfo_free(c->procs);
	if (c->ksyms)
		ksyms_free(c->ksyms);
	if (c->tracker)
		tracker_free(c->tracker);
	if (c->sampler)
		sampler_free(c->sampler);
	if (c->source.event >= 0)
		close(c->source.event);
	if (c->wake >= 0)
		close(c->wake);
	pthread_mutex_destroy(&c->early.lock);
	free(c->captured);
	free(c->proofs);
	free(c->cells);
	free(c);
}

static const struct source_ops live_ops = {
	.finish = live_finish,
	.halt = live_stop,
	.free = live_free,
	.post = collector_post,
};
