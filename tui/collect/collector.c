// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The collector: one thread that drains the sampler when a slice ends and commits it. Only its
 * files know both the BPF side and the profile; this one opens and closes the parts, and says what
 * the thread does when.
 */
#include "tui/collect/collector_priv.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "bpf/sampler/kernelinfo.h"
#include "bpf/sampler/ksyms.h"
#include "bpf/sampler/memlock.h"
#include "bpf/sampler/refusal.h"
#include "bpf/sampler/sampler.h"
#include "symbols/base/thread.h"
#include "tui/collect/annotator.h"
#include "tui/collect/child.h"
#include "bpf/sampler/event.h"
#include "tui/options.h"
#include "tui/collect/procinfo.h"
#include "tui/symbolize/resolver.h"
#include "tui/session/session_write.h"
#include "tui/collect/stackcache.h"

#define SHARD_MIB      4u
#define FIRST_SLICE_NS 250000000ull
#define RING_PERIOD_NS 200000000ull /* the ring must not overflow in a long slice */
#define FILES_WAIT_NS  1500000000ull
#define TABLES_WAIT_NS 5000000000ull
#define TABLES_LIVE_NS 100000000ull

void engine_say(void *arg, int level, const char *text)
{
	struct engine *e = arg;

	profile_lock(e->profile);
	profile_message(e->profile, (enum message_level)level, "%s", text);
	profile_unlock(e->profile);
	engine_signal(e->event);
}

/* --- the thread ------------------------------------------------------------------------------ */

/* Waits until then, or until woken. True when the command has ended. */
static bool wait_until(struct engine *e, uint64_t then)
{
	struct pollfd fds[2] = {{.fd = e->wake, .events = POLLIN}, {.fd = -1, .events = POLLIN}};
	uint64_t now = engine_now(), left = then > now ? then - now : 0, woken;
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

/*
 * Each slice has its report, also when those are read slowly: the next slice is longer then, and
 * its samples wait in the maps. False: stop.
 */
static bool wait_for_report(struct engine *e)
{
	struct pollfd fd = {.fd = e->wake, .events = POLLIN};
	uint64_t woken;

	while (e->options->batch && !atomic_load(&e->stop) &&
	       atomic_load(&e->reported) != atomic_load(&e->slices)) {
		if (poll(&fd, 1, RING_PERIOD_NS / 1000000) > 0 &&
		    read(e->wake, &woken, sizeof(woken)) < 0)
			break;
		engine_read_stacks(e);
		resolver_rest(e->resolver);
	}
	return !atomic_load(&e->stop);
}

static void *collector(void *arg)
{
	struct engine *e = arg;
	unsigned int full = 0;
	bool first = !e->options->batch, last = false;
	const struct event *event;

	while (!last && !atomic_load(&e->stop)) {
		uint64_t period = atomic_load(&e->period);
		uint64_t slice = first && period > FIRST_SLICE_NS ? FIRST_SLICE_NS : period;
		uint64_t due = e->slice_start + slice;

		last = wait_until(e, due) || atomic_load(&e->finish);
		if (atomic_load(&e->stop))
			break;
		engine_take_inventory(e);
		engine_watch_cpus(e);
		engine_tell_cpus_apart(e);
		resolver_rest(e->resolver);
		if (e->annotator && annotator_work(e->annotator, engine_now(), false))
			engine_signal(e->event);
		if (resolver_settle(e->resolver, 0)) {
			profile_prepare(e->profile);
			engine_signal(e->event);
		}
		if (!last && engine_now() < due) {
			engine_read_stacks(e);
			engine_inspect(e);
			continue;
		}
		if (!wait_for_report(e))
			break;
		if (!last && slice == period)
			/* A screenshot ends by itself: keys may ask for more. */
			last = ++full == e->options->iterations && !e->options->screenshot;
		first = false;
		event = last ? NULL : engine_next_event(e);
		engine_end_slice(e, last);
		if (event)
			engine_change_event(e, event);
		engine_inspect(e);
	}
	return NULL;
}

/* --- life ------------------------------------------------------------------------------------ */

/* Without it there are only the names that are here. */
static void open_remote(struct engine *e)
{
	int err = remotedebug_new(&e->remote);
	char text[128];

	if (!err) {
		resolver_set_remote(e->resolver, e->remote);
		return;
	}
	snprintf(text, sizeof(text), "--debuginfod: %s", remotedebug_trouble(err));
	engine_say(e, MESSAGE_WARNING, text);
}

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
		.capture = !o->batch,
		.shards_max = e->shards_max,
	};
	char remedy[256];
	int err = sampler_new(&so, &e->sampler, error, size);

	if (err)
		return err;
	err = tracker_new(e->sampler, &e->filter, e->shards_max, engine_say, e, &e->tracker);
	if (err == -EPERM || err == -EACCES) {
		snprintf(error, size, "cannot follow processes: perf_event_open: %s%s",
			 strerror(-err),
			 refusal_of(REFUSAL_PERF_EVENT_OPEN, err, remedy, sizeof(remedy)));
		return err;
	}
	/* A report's names are not corrected later, and no person waits for its end. */
	if (!err && o->batch)
		tracker_patience(e->tracker, FILES_WAIT_NS);
	if (!err)
		err = ksyms_new(&e->ksyms);
	if (!err) {
		ksyms_set_code(e->ksyms, tracker_kernel_code(e->tracker));
		ksyms_set_modules(e->ksyms, sampler_modules(e->sampler));
	}
	if (!err)
		err = resolver_new(e->profile, e->tracker, e->ksyms,
				   o->no_inline ? 0 : (size_t)o->debug_memory << 20, &e->resolver);
	if (!err && o->debuginfod)
		open_remote(e);
	if (!err)
		err = stackcache_new(e->profile, e->sampler, e->resolver, &e->stacks);
	if (!err && !o->batch)
		err = annotator_new(e->profile, e->tracker, e->resolver, e->stacks,
				    (size_t)o->debug_memory << 20, e->remote, &e->annotator);
	if (!err)
		err = procinfo_new(e->profile, e->tracker, &e->procs);
	/* Only to be shown. */
	if (!err && memlock_maps(&e->locked))
		e->locked = 0;
	if (err)
		snprintf(error, size, "cannot prepare the collection: %s%s", strerror(-err),
			 refusal_of(REFUSAL_BPF, err, remedy, sizeof(remedy)));
	return err;
}

static const struct engine_ops live_ops;
static void live_free(struct engine *e);

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
	e->base.ops = &live_ops;
	e->profile = p;
	e->options = options;
	e->sampled = options->event;
	e->by_cpu = options->by_cpu;
	e->command = command;
	e->shards_max = options->memory / SHARD_MIB ? options->memory / SHARD_MIB : 1;
	e->filter = (struct tracker_filter){
		.pids = options->pids,
		.npids = options->npids,
		.comm = options->comm ? &options->comm_regex : NULL,
		.user_given = options->user_given,
		.user = options->user,
		.cgroup = options->cgroup,
		.container = options->container,
	};
	e->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	e->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (e->event < 0 || e->wake < 0) {
		err = -errno;
		snprintf(error, size, "eventfd: %s", strerror(errno));
	}
	engine_block_signals(&before);
	if (!err)
		err = open_parts(e, error, size);
	/* Last: an older recording is not given up for nothing. */
	if (!err && options->record)
		err = session_writer_new(options->record, &e->record, error, size);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err) {
		live_free(e);
		return err;
	}
	*out = e;
	return 0;
}

/* Samples without tables only engine_say that tables are missing. */
static void wait_for_tables(struct engine *e)
{
	uint64_t end =
		engine_now() +
		(e->options->batch || e->options->screenshot ? TABLES_WAIT_NS : TABLES_LIVE_NS);
	struct tracker_state state;

	do {
		tracker_state(e->tracker, &state);
		if (state.idle)
			return;
		nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
	} while (engine_now() < end);
}

static int start_parts(struct engine *e, char *error, size_t size)
{
	const char *warning = kernelinfo_hang_warning();
	int err;

	if (warning)
		engine_say(e, MESSAGE_WARNING, warning);
	engine_set_period(e, e->options->delay);
	err = tracker_start(e->tracker);
	if (!err && e->command)
		err = tracker_follow(e->tracker, command_pid(e->command));
	if (err) {
		snprintf(error, size, "cannot follow processes: %s", strerror(-err));
		return err;
	}
	wait_for_tables(e);
	engine_tell_cpus_apart(e);
	err = sampler_start(e->sampler, error, size);
	if (err)
		return err;
	engine_begin_slice(e);
	if (e->command) {
		err = command_go(e->command);
		if (err) {
			snprintf(error, size, "cannot run '%s': %s", e->options->command[0],
				 strerror(-err));
			return err;
		}
	}
	err = thread_start(&e->thread, collector, e);
	if (err)
		snprintf(error, size, "cannot make a thread: %s", strerror(-err));
	e->running = !err;
	return err;
}

int engine_start(struct engine *e, char *error, size_t size)
{
	sigset_t before;
	int err;

	engine_block_signals(&before);
	err = start_parts(e, error, size);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

/* until: CLOCK_REALTIME; NULL: however long it takes. */
static bool live_stop_until(struct engine *e, const struct timespec *until)
{
	int err = 0;

	if (e->running) {
		atomic_store(&e->stop, true);
		engine_signal(e->wake);
		err = until ? pthread_timedjoin_np(e->thread, NULL, until)
			    : pthread_join(e->thread, NULL);
	}
	if (err)
		return false;
	e->running = false;
	if (e->record) {
		e->record_error = session_writer_end(e->record);
		e->record_untold = e->record_error != 0;
		session_writer_free(e->record);
		e->record = NULL;
	}
	return true;
}

static int live_stop(struct engine *e, unsigned int ms, char *error, size_t size)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	if (!live_stop_until(e, &until))
		return -ETIME;
	if (e->record_error && (e->record_untold || !e->options->batch))
		snprintf(error, size, "%s: %s; it holds what was recorded until then",
			 e->options->record, strerror(-e->record_error));
	return e->record_error;
}

static void live_finish(struct engine *e)
{
	atomic_store(&e->finish, true);
	engine_signal(e->wake);
}

static void live_free(struct engine *e)
{
	live_stop_until(e, NULL);
	annotator_free(e->annotator);
	stackcache_free(e->stacks);
	resolver_free(e->resolver);
	remotedebug_free(e->remote);
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
	free(e->captured);
	free(e->cells);
	free(e);
}

static int live_event_fd(const struct engine *e)
{
	return e->event;
}

static bool live_finished(const struct engine *e)
{
	return atomic_load(&e->finished);
}

static uint64_t live_slices(const struct engine *e)
{
	return atomic_load(&e->slices);
}

static const struct engine_ops live_ops = {
	.finish = live_finish,
	.stop = live_stop,
	.free = live_free,
	.slices = live_slices,
	.post = engine_live_post,
	.event_fd = live_event_fd,
	.finished = live_finished,
};
