// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See agent_run.h. The options that a run had before stay in memory until its end: the push may
 * still be at work with them.
 */
#include "tui/agent_run.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "symbols/base/clock.h"
#include "symbols/base/thread.h"
#include "tui/agent/listen.h"
#include "tui/agent/metrics.h"
#include "tui/agent/notify.h"
#include "tui/arguments.h"
#include "tui/complain.h"
#include "tui/export/batch.h"
#include "tui/options.h"
#include "tui/profile/board.h"
#include "tui/profile/profile.h"
#include "tui/profile/source.h"
#include "tui/push/push.h"
#include "tui/reports.h"

#define LATE_NS	      (60 * CLOCK_NS_PER_SEC) /* beyond an interval: the collector hangs */
#define LAST_SLICE_NS (30 * CLOCK_NS_PER_SEC) /* after the signal */
#define STATUS_MS     5000		      /* between two looks */
#define STATUS_EVERY  12		      /* looks */

/* One reading of the configuration. */
struct agent_settings {
	struct agent_settings *before;
	struct arguments arguments;
	struct options options;
};

struct agent {
	struct profile *profile;
	struct source *source;
	struct push *push;
	const struct agent_command *command;
	const struct options *options; /* those of the start */
	struct agent_settings *read;   /* the last; NULL: those of the start */
	struct notify notify;
	struct listen *listen;
	int signals;
	bool stopping, over;
	uint64_t end; /* CLOCK_MONOTONIC ns, of a stop: it waits no longer for the last slice */
	unsigned int looks;
	uint64_t serial;	   /* of the last message that was written */
	struct profile_health sum; /* since the start; under the profile's lock */
	/* For the thread that serves metrics. */
	_Atomic uint64_t seen; /* slices */
	_Atomic uint64_t last; /* CLOCK_MONOTONIC ns of the last slice, or of the start */
	_Atomic uint64_t late; /* ns after which there should have been another */
	_Atomic uint64_t reloads, failed_reloads;
};

/* --- metrics: in the thread that serves them ---------------------------------------------------
 */

static void put_push(struct metrics *m, const struct push_state *s)
{
	const struct {
		enum metric_type type;
		const char *name, *help;
		uint64_t value;
	} rows[] = {
		{METRIC_COUNTER, "stacktop_push_intervals_total", "Intervals that were collected.",
		 s->gathered.intervals},
		{METRIC_COUNTER, "stacktop_push_samples_total",
		 "Samples, or waits, of these intervals.", s->gathered.samples},
		{METRIC_COUNTER, "stacktop_push_sent_samples_total", "Samples that were taken.",
		 s->sent.samples},
		{METRIC_COUNTER, "stacktop_push_sent_profiles_total", "Profiles that were taken.",
		 s->sent.profiles},
		{METRIC_COUNTER, "stacktop_push_sent_bytes_total",
		 "Bytes of requests that were taken, compressed.", s->sent.bytes},
		{METRIC_COUNTER, "stacktop_push_requests_total", "Requests that had an answer.",
		 s->sent.requests},
		{METRIC_COUNTER, "stacktop_push_failures_total",
		 "Attempts that failed and were repeated later.", s->sent.failed},
		{METRIC_COUNTER, "stacktop_push_splits_total",
		 "Requests that were too large for the server.", s->sent.split},
		{METRIC_COUNTER, "stacktop_push_refused_samples_total",
		 "Samples lost: the server will never take them.", s->sent.refused},
		{METRIC_COUNTER, "stacktop_push_rejected_profiles_total",
		 "Profiles that the server took and threw away.", s->sent.rejected},
		{METRIC_COUNTER, "stacktop_push_dropped_samples_total",
		 "Samples lost: what waits was full.", s->queue.dropped_samples},
		{METRIC_COUNTER, "stacktop_push_lost_intervals_total",
		 "Intervals lost for want of memory.", s->gathered.lost},
		{METRIC_COUNTER, "stacktop_push_damaged_files_total",
		 "Files of the spool that made no sense: their samples are lost.",
		 s->queue.damaged},
		{METRIC_COUNTER, "stacktop_push_found_intervals_total",
		 "Intervals of an earlier run that were in the spool.", s->queue.found},
		{METRIC_COUNTER, "stacktop_push_missing_slices_total",
		 "Refreshes lost: they were gone before they could be read.", s->gathered.missing},
		{METRIC_GAUGE, "stacktop_push_waiting_intervals", "Intervals that wait.",
		 s->queue.entries},
		{METRIC_GAUGE, "stacktop_push_waiting_bytes", "Their size.", s->queue.bytes},
		{METRIC_GAUGE, "stacktop_push_up", "1: the last attempt to send did not fail.",
		 s->sent.since == 0},
		{METRIC_GAUGE, "stacktop_push_last_success_timestamp_seconds",
		 "When the server last took a profile; 0: never.", s->sent.last / CLOCK_NS_PER_SEC},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		metrics_family(m, rows[i].type, rows[i].name, rows[i].help);
		metrics_count(m, NULL, 0, rows[i].value);
	}
}

static void put_sampling(struct metrics *m, const struct profile_health *sum)
{
	metrics_family(m, METRIC_COUNTER, "stacktop_samples_total", "Samples taken.");
	metrics_count(m, NULL, 0, sum->samples);
	metrics_family(m, METRIC_COUNTER, "stacktop_lost_samples_total",
		       "Samples that were taken and could not be kept.");
	metrics_count(m, NULL, 0, profile_lost(sum));
	metrics_family(m, METRIC_COUNTER, "stacktop_missed_ticks_total",
		       "Samples never taken: their ticks came late, together, or not at all.");
	metrics_count(m, NULL, 0, sum->loss[LOSS_MISSED] + sum->loss[LOSS_THROTTLED]);
	metrics_family(m, METRIC_COUNTER, "stacktop_user_stacks_total", "User stacks walked.");
	metrics_count(m, NULL, 0, sum->user_walks);
	metrics_family(m, METRIC_COUNTER, "stacktop_complete_user_stacks_total",
		       "Of these, those walked to their outermost frame.");
	metrics_count(m, NULL, 0, sum->complete_walks);
	metrics_family(m, METRIC_GAUGE, "stacktop_processes", "Processes that are known.");
	metrics_count(m, NULL, 0, sum->nprocs);
	metrics_family(m, METRIC_GAUGE, "stacktop_table_bytes", "Unwind tables.");
	metrics_count(m, NULL, 0, sum->words_used * 4);
}

/* Of this process; the names are those of Prometheus' own clients. */
static void put_process(struct metrics *m)
{
	struct rusage usage;
	char line[128] = "";
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	if (file && fgets(line, sizeof(line), file))
		sscanf(line, "%*u %lu", &pages);
	if (file)
		fclose(file);
	getrusage(RUSAGE_SELF, &usage);
	metrics_family(m, METRIC_COUNTER, "process_cpu_seconds_total",
		       "CPU time of this process, with the kernel's for it.");
	metrics_value(m, NULL, 0,
		      (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
			      (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
	metrics_family(m, METRIC_GAUGE, "process_resident_memory_bytes", "Resident memory.");
	metrics_count(m, NULL, 0, (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE));
}

static int serve_metrics(struct agent *a, char **text, size_t *size)
{
	struct metrics *m = metrics_new();
	struct profile_health sum;
	struct push_state state;

	if (!m)
		return 500;
	push_state(a->push, &state);
	profile_lock(a->profile);
	sum = a->sum;
	profile_unlock(a->profile);
	metrics_family(m, METRIC_GAUGE, "stacktop_up", "1: samples come in.");
	metrics_count(m, NULL, 0, atomic_load(&a->seen) > 0);
	put_sampling(m, &sum);
	put_push(m, &state);
	metrics_family(m, METRIC_COUNTER, "stacktop_reloads_total",
		       "Times that the configuration was read again.");
	metrics_count(m, NULL, 0, atomic_load(&a->reloads));
	metrics_family(m, METRIC_COUNTER, "stacktop_failed_reloads_total",
		       "Of these, those in which it made no sense.");
	metrics_count(m, NULL, 0, atomic_load(&a->failed_reloads));
	put_process(m);
	return metrics_finish(m, text, size) ? 500 : 200;
}

/* A server that is down does not make a sampler ill: it waits, and a new one would as well. */
static int answer(void *arg, const char *path, char **text, size_t *size)
{
	struct agent *a = arg;
	const uint64_t age = clock_ns(CLOCK_MONOTONIC) - atomic_load(&a->last);
	const bool alive = (age < atomic_load(&a->late));
	const bool begun = (atomic_load(&a->seen) > 0);
	const bool well = strcmp(path, "/readyz") == 0 ? alive && begun : alive;
	int n;

	if (strcmp(path, "/metrics") == 0)
		return serve_metrics(a, text, size);
	n = asprintf(text, "%s\n",
		     well    ? "ok"
		     : alive ? "no samples yet"
			     : "no samples come in any more");
	if (n < 0) {
		*text = NULL;
		return 500;
	}
	*size = (size_t)n;
	return well ? 200 : 503;
}

/* --- the configuration ------------------------------------------------------------------------ */

static void settings_free(struct agent_settings *s)
{
	if (!s)
		return;
	options_free(&s->options);
	arguments_free(&s->arguments);
	free(s);
}

/* What is chosen when the sampler is loaded. */
static bool needs_restart(const struct options *a, const struct options *b)
{
	return a->frequency != b->frequency || a->event != b->event || a->measure != b->measure ||
	       a->by_cpu != b->by_cpu || a->npids != b->npids ||
	       (a->npids && memcmp(a->pids, b->pids, a->npids * sizeof(*a->pids)) != 0) ||
	       a->ncpus != b->ncpus ||
	       (a->ncpus && memcmp(a->cpus, b->cpus, a->ncpus * sizeof(*a->cpus)) != 0) ||
	       a->user_given != b->user_given || a->user != b->user ||
	       a->min_block != b->min_block || strcmp(a->comm ?: "", b->comm ?: "") ||
	       strcmp(a->cgroup ?: "", b->cgroup ?: "") ||
	       strcmp(a->container ?: "", b->container ?: "") ||
	       strcmp(a->listen ?: "", b->listen ?: "") ||
	       strcmp(a->push.spool ?: "", b->push.spool ?: "");
}

static uint64_t late_of(const struct options *options)
{
	return (uint64_t)(options->delay * 3e9) + LATE_NS;
}

static struct agent_settings *read_settings(const struct agent *a)
{
	struct agent_settings *s = calloc(1, sizeof(*s));
	char error[512] = "";

	if (!s) {
		complain(strerror(ENOMEM));
		return NULL;
	}
	if (arguments_merge(a->command->argc, a->command->argv, NULL, &s->arguments, error,
			    sizeof(error))) {
		complain(error);
		free(s);
		return NULL;
	}
	if (options_parse(s->arguments.argc, s->arguments.argv, &s->options, stderr) !=
	    OPTIONS_RUN) {
		arguments_blame(&s->arguments);
		settings_free(s);
		return NULL;
	}
	return s;
}

/* What is sent changes at once; the length of a slice goes with that of an interval. */
static void use_settings(struct agent *a, struct agent_settings *s)
{
	struct push_options *push = &s->options.push;
	char seconds[32];

	s->before = a->read;
	a->read = s;
	/* These belong to what is sampled, and to the queue that there is. */
	push->cpu = a->options->push.cpu;
	push->off = a->options->push.off;
	push->spool = a->options->push.spool;
	push->spool_length = a->options->push.spool_length;
	push->spool_bytes = a->options->push.spool_bytes;
	push_change(a->push, push);
	snprintf(seconds, sizeof(seconds), "%g", s->options.delay);
	source_post(a->source, SOURCE_INTERVAL, seconds);
	atomic_store(&a->late, late_of(&s->options));
}

static void reload(struct agent *a)
{
	struct agent_settings *s;
	bool restart;

	notify_reloading(&a->notify);
	s = read_settings(a);
	atomic_fetch_add(&a->reloads, 1);
	if (s) {
		restart = needs_restart(a->options, &s->options);
		use_settings(a, s);
		complain(
			restart ? "the configuration was read again; what is sampled, --listen and "
				  "--spool change with the next start"
				: "the configuration was read again");
	} else {
		atomic_fetch_add(&a->failed_reloads, 1);
		complain("the configuration makes no sense, and stays as it was");
	}
	notify_ready(&a->notify);
}

/* --- the loop --------------------------------------------------------------------------------- */

static void tell_status(struct agent *a)
{
	struct push_state s;

	push_state(a->push, &s);
	if (s.sent.since)
		notify_status(&a->notify, "%zu intervals wait: %s", s.queue.entries,
			      s.sent.trouble);
	else
		notify_status(&a->notify, "%llu samples sent to %s",
			      (unsigned long long)s.sent.samples, push_url(a->push));
}

/* Also if nothing happens. The watchdog hears only of a collector that works. */
static void look(struct agent *a)
{
	if (clock_ns(CLOCK_MONOTONIC) - atomic_load(&a->last) < atomic_load(&a->late) &&
	    notify_watchdog_ms())
		notify_watchdog(&a->notify);
	if (a->looks++ % STATUS_EVERY == 0)
		tell_status(a);
}

static void take_signal(struct agent *a)
{
	struct signalfd_siginfo info;

	if (read(a->signals, &info, sizeof(info)) <= 0)
		return;
	if (info.ssi_signo == SIGHUP && !a->stopping) {
		reload(a);
		return;
	}
	if (!a->stopping)
		notify_stopping(&a->notify);
	/* A second one does not wait for the last slice. */
	a->over = a->stopping;
	a->stopping = true;
	a->end = clock_ns(CLOCK_MONOTONIC) + LAST_SLICE_NS;
	source_finish(a->source);
}

static void take_slices(struct agent *a, uint64_t slices)
{
	struct profile_health health;

	push_take(a->push);
	/* Sums since the start would only grow, and there is no screen for them. */
	profile_lock(a->profile);
	query_health_sum(a->profile, SPAN_TOTAL, &health);
	profile_health_add(&a->sum, &health);
	profile_zero(a->profile);
	profile_unlock(a->profile);
	source_post(a->source, SOURCE_NEXT, NULL);
	atomic_store(&a->seen, slices);
	atomic_store(&a->last, clock_ns(CLOCK_MONOTONIC));
#ifdef __GLIBC__
	/* What a busy moment needed is given back: it may be days until the next. */
	malloc_trim(0);
#endif
}

static int loop(struct agent *a)
{
	struct pollfd fds[2] = {{.fd = a->source->event, .events = POLLIN},
				{.fd = a->signals, .events = POLLIN}};
	const uint64_t watched = notify_watchdog_ms();
	const int ms = watched && watched < STATUS_MS ? (int)watched : STATUS_MS;
	uint64_t n, slices;
	bool finished = false;

	while (!finished) {
		if (poll(fds, 2, ms) < 0 && errno != EINTR)
			return complain(strerror(errno));
		if (fds[0].revents && read(fds[0].fd, &n, sizeof(n)) < 0 && errno != EAGAIN)
			return complain(strerror(errno));
		if (fds[1].revents)
			take_signal(a);
		finished = a->source->finished;
		batch_messages(stderr, a->profile, &a->serial);
		slices = a->source->slices;
		if (slices != atomic_load(&a->seen))
			take_slices(a, slices);
		look(a);
		if (a->stopping && !finished && (a->over || clock_ns(CLOCK_MONOTONIC) > a->end))
			return complain("the last slice did not come in time");
	}
	if (!a->source->failed)
		return EXIT_SUCCESS;
	return complain(a->source->failure);
}

int agent_run(struct profile *profile, struct source *source, struct push *push,
	      const struct options *options, const struct agent_command *command, int signals)
{
	/* Not on the stack: a thread that is left behind may use it until the process ends. */
	static struct agent a;
	char error[512] = "";
	int status, err;

	a.profile = profile;
	a.source = source;
	a.push = push;
	a.command = command;
	a.options = options;
	a.signals = signals;
	err = notify_open(&a.notify);
	if (err)
		complain("NOTIFY_SOCKET: not an address of a service manager");
	atomic_store(&a.last, clock_ns(CLOCK_MONOTONIC));
	atomic_store(&a.late, late_of(options));
	if (options->listen &&
	    listen_start(&a.listen, options->listen, answer, &a, error, sizeof(error))) {
		notify_close(&a.notify);
		reports_end_push(push, profile, &a.serial, 0);
		return complain(error);
	}
	/* The programs are loaded and attached. */
	notify_ready(&a.notify);
	status = loop(&a);
	/* It asks the push for its metrics. */
	if (!listen_stop(a.listen))
		return status;
	if (!reports_end_push(push, profile, &a.serial, PUSH_END_MS) && status == EXIT_SUCCESS)
		status = EXIT_FAILURE;
	/* A thread that is left behind uses what is here: only the end of the process is left. */
	if (thread_is_stuck())
		return status;
	notify_close(&a.notify);
	for (struct agent_settings *s = a.read, *before; s; s = before) {
		before = s->before;
		settings_free(s);
	}
	return status;
}
