// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opens, attaches and follows the sampling events. CPUs come and go, so there are as many events as
 * there are CPUs at the moment; the ticks of events that are gone stay in the sums.
 */
#include "bpf/sampler/events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/sampler/clock.h"
#include "bpf/sampler/cpus.h"
#include "bpf/sampler/kernelinfo.h"
#include "bpf/sampler/refusal.h"
#include "bpf/sampler/sampler.h"
#include "bpf/sampler/ticks.h"

#define WATCH_NS 1000000000ull /* a check interrupts every CPU, even idle ones */

struct cpu_event {
	unsigned int cpu;
	int fd; /* the link's */
	struct bpf_link *link;
	uint64_t enabled; /* cpus_event_ended's */
	uint64_t samples; /* of its CPU when the ticks were last summed up */
};

struct events {
	const struct sampler_options *options;
	struct bpf_program *program;
	int stats_fd;
	struct ticks *ticks;
	uint64_t watched; /* CLOCK_MONOTONIC ns */
	bool stopped;
	struct profiler_stats *stats; /* one for each possible CPU */
	size_t possible;
	struct cpu_event *events;
	size_t nevents, room;
};

int events_new(const struct sampler_options *options, struct bpf_program *program, int stats_fd,
	       struct events **out)
{
	struct events *e = calloc(1, sizeof(*e));
	int possible = libbpf_num_possible_cpus();

	*out = NULL;
	if (!e)
		return -ENOMEM;
	e->options = options;
	e->program = program;
	e->stats_fd = stats_fd;
	e->possible = possible < 1 ? 1 : (size_t)possible;
	e->room = options->cpus ? options->ncpus : e->possible;
	e->events = calloc(e->room, sizeof(*e->events));
	e->stats = calloc(e->possible, sizeof(*e->stats));
	if (!e->events || !e->stats || ticks_new(e->room, &e->ticks)) {
		events_free(e);
		return -ENOMEM;
	}
	*out = e;
	return 0;
}

void events_free(struct events *e)
{
	if (!e)
		return;
	ticks_free(e->ticks);
	for (size_t i = 0; i < e->nevents; i++)
		bpf_link__destroy(e->events[i].link);
	free(e->events);
	free(e->stats);
	free(e);
}

/* --- one event ------------------------------------------------------------------------------- */

static int open_event(const struct sampler_options *o, unsigned int cpu)
{
	struct perf_event_attr attr = {
		.type = o->type,
		.config = o->config,
		.size = sizeof(attr),
		.freq = 1,
		.sample_freq = o->frequency,
		.exclude_idle = 1, /* the kernel would throttle it on a CPU whose tick is off */
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1,
	};
	int fd = syscall(__NR_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* what: the step that failed. */
static int add_event(struct events *e, unsigned int cpu, const char **what)
{
	struct cpu_event *event = &e->events[e->nevents];
	struct bpf_link *link;
	int fd, err;

	*what = "open";
	if (e->nevents == e->room)
		return -ENOSPC;
	fd = open_event(e->options, cpu);
	if (fd < 0)
		return fd;
	*what = "attach to";
	ticks_add(e->ticks, fd, cpu);
	link = bpf_program__attach_perf_event(e->program, fd);
	if (!link) {
		err = -errno;
		ticks_drop(e->ticks, fd, 0);
		close(fd);
		return err;
	}
	*event = (struct cpu_event){.cpu = cpu, .fd = fd, .link = link};
	e->nevents++;
	return 0;
}

static int try_one(struct events *e, unsigned int cpu, const char **what)
{
	int fd = open_event(e->options, cpu);

	*what = "open";
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static uint64_t samples_of(const struct events *e, unsigned int cpu)
{
	return cpu < e->possible ? e->stats[cpu].samples : 0;
}

static void read_stats(struct events *e)
{
	__u32 zero = 0;

	/* On an error the old values stay. */
	bpf_map_lookup_elem(e->stats_fd, &zero, e->stats);
}

static void note_samples(struct events *e, size_t first)
{
	read_stats(e);
	for (size_t i = first; i < e->nevents; i++)
		e->events[i].samples = samples_of(e, e->events[i].cpu);
}

static void drop_event(struct events *e, struct cpu_event *event)
{
	const uint64_t period = 1000000000ull / e->options->frequency;

	read_stats(e);
	ticks_drop(e->ticks, event->fd, (samples_of(e, event->cpu) - event->samples) * period);
	bpf_link__destroy(event->link); /* closes it */
	*event = e->events[--e->nevents];
}

static bool has_event(const struct events *e, unsigned int cpu)
{
	for (size_t i = 0; i < e->nevents; i++)
		if (e->events[i].cpu == cpu)
			return true;
	return false;
}

/* --- all of them ----------------------------------------------------------------------------- */

static const char *event_remedy(int err, char *text, size_t size)
{
	long rate, percent;

	switch (-err) {
	case ENOENT:
	case EOPNOTSUPP:
		return "; this machine has no such counter (virtual machines often have none), use "
		       "-e cpu-clock";
	case EINVAL:
		if (!kernelinfo_rate_limits(&rate, &percent))
			return "; is -F above kernel.perf_event_max_sample_rate?";
		snprintf(text, size,
			 "; -F must not be above kernel.perf_event_max_sample_rate, which is %ld",
			 rate);
		return text;
	case ENODEV:
		return "; is the CPU online?";
	default:
		return refusal_of(REFUSAL_PERF_EVENT_OPEN, err, text, size);
	}
}

/*
 * Calls `one` for each CPU that has no event yet. An offline CPU is an error only if the options
 * name it and error is not NULL, which is at the start.
 */
static int each_missing(struct events *e,
			int (*one)(struct events *e, unsigned int cpu, const char **what),
			char *error, size_t size)
{
	const struct sampler_options *o = e->options;
	unsigned int *online = NULL;
	const unsigned int *cpus = o->cpus;
	size_t i, n = o->ncpus;
	const char *what;
	char remedy[256];
	int err = 0, first = 0;

	if (!cpus) {
		err = cpus_online(&online, &n);
		if (err && error)
			snprintf(error, size, "cannot list the CPUs: %s", strerror(-err));
		cpus = online;
	}
	for (i = 0; i < n && !(error && first); i++) {
		err = has_event(e, cpus[i]) ? 0 : one(e, cpus[i], &what);
		if (err == -ENODEV && (!error || !o->cpus))
			continue;
		if (err && error)
			snprintf(error, size, "cannot %s the event on CPU %u: %s%s", what, cpus[i],
				 strerror(-err), event_remedy(err, remedy, sizeof(remedy)));
		first = first ? first : err;
	}
	free(online);
	return n ? first : err;
}

int events_try(const struct sampler_options *options, char *error, size_t size)
{
	struct events none = {.options = options};

	return each_missing(&none, try_one, error, size);
}

int events_start(struct events *e, char *error, size_t size)
{
	int err = each_missing(e, add_event, error, size);

	note_samples(e, 0);
	if (!err)
		ticks_begin(e->ticks);
	e->watched = clock_now();
	return err;
}

int events_watch(struct events *e)
{
	size_t i = 0, before;
	int err;

	if (e->stopped || clock_now() - e->watched < WATCH_NS)
		return 0;
	e->watched = clock_now();
	while (i < e->nevents) {
		if (cpus_event_ended(e->events[i].fd, &e->events[i].enabled))
			drop_event(e, &e->events[i]);
		else
			i++;
	}
	before = e->nevents;
	err = each_missing(e, add_event, NULL, 0);
	if (e->nevents > before) {
		note_samples(e, before);
		ticks_begin(e->ticks);
	}
	return err;
}

void events_stop(struct events *e)
{
	for (size_t i = 0; i < e->nevents; i++)
		ioctl(e->events[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	e->stopped = true;
}

void events_go_on(struct events *e)
{
	for (size_t i = 0; i < e->nevents; i++)
		ioctl(e->events[i].fd, PERF_EVENT_IOC_ENABLE, 0);
	e->stopped = false;
}

unsigned int events_count(const struct events *e)
{
	return (unsigned int)e->nevents;
}

void events_follow(struct events *e)
{
	ticks_follow(e->ticks);
}

void events_sum(struct events *e, struct ticks_sums *sums)
{
	note_samples(e, 0);
	ticks_sum(e->ticks, sums);
}
