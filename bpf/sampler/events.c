// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opens, attaches and follows the sampling events. CPUs come and go, so there are as many events as
 * there are CPUs at the moment; the ticks of events that are gone stay in the sums.
 *
 * The sampling program cannot count samples that were never taken, but their number follows from
 * time: a clock event ticks once a period while it is active, and the kernel writes a record into
 * the event's ring when it throttles the event and another one when it releases it.
 *
 * See perf_event_open(2) for the records; both begin with the time, id and stream id.
 */
#include "bpf/sampler/events.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/sampler/clock.h"
#include "bpf/sampler/cpus.h"
#include "bpf/sampler/kernelinfo.h"
#include "bpf/sampler/refusal.h"
#include "bpf/sampler/sampler.h"

#define WATCH_NS   1000000000ull /* a check interrupts every CPU, even idle ones */
#define RING_PAGES 4u

struct cpu_event {
	unsigned int cpu;
	int fd; /* the link's */
	struct bpf_link *link;
	struct perf_event_mmap_page *page; /* NULL: no ring */
	uint64_t enabled;		   /* cpus_event_ended's */
	uint64_t samples;		   /* of its CPU when the ticks were last summed up */
	uint64_t active_ns;
	uint64_t throttled_at; /* 0: it is not throttled */
	uint64_t idle;	       /* of its CPU, in the unit of /proc/stat, since boot */
	uint64_t user, kernel; /* likewise: its CPU's time, as events_cpu_times has it */
	uint64_t all;
	uint64_t counted; /* by the event, so far */
	bool begun;	  /* idle is known */
	bool online;	  /* by the last reading of /proc/stat */
};

struct record_throttle {
	struct perf_event_header header;
	uint64_t time, id, stream_id;
};

struct events {
	const struct sampler_options *options;
	struct bpf_program *program;
	int stats_fd;
	size_t page_size;
	struct ticks_sums sums;
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
	e->page_size = (size_t)sysconf(_SC_PAGESIZE);
	e->possible = possible < 1 ? 1 : (size_t)possible;
	e->room = options->cpus ? options->ncpus : e->possible;
	e->events = calloc(e->room, sizeof(*e->events));
	e->stats = calloc(e->possible, sizeof(*e->stats));
	if (!e->events || !e->stats) {
		events_free(e);
		return -ENOMEM;
	}
	*out = e;
	return 0;
}

static void close_event(struct events *e, struct cpu_event *event)
{
	if (event->page)
		munmap(event->page, (RING_PAGES + 1) * e->page_size);
	bpf_link__destroy(event->link); /* closes it */
}

void events_free(struct events *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->nevents; i++)
		close_event(e, &e->events[i]);
	free(e->events);
	free(e->stats);
	free(e);
}

/* --- ticks ----------------------------------------------------------------------------------- */

static void record_take(struct events *e, struct cpu_event *ev, const struct record_throttle *rec)
{
	if (rec->header.type == PERF_RECORD_THROTTLE) {
		e->sums.throttles++;
		if (!ev->throttled_at)
			ev->throttled_at = rec->time;
	} else if (rec->header.type == PERF_RECORD_UNTHROTTLE) {
		/* An event that is enabled again is released without having been throttled. */
		if (ev->throttled_at && rec->time > ev->throttled_at)
			e->sums.throttled_ns += rec->time - ev->throttled_at;
		ev->throttled_at = 0;
	}
}

/* Sizes of records are multiples of eight bytes, so the ring's end cuts no header. */
static void ring_follow(struct events *e, struct cpu_event *ev)
{
	uint64_t head = __atomic_load_n(&ev->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ev->page->data_tail;
	const char *data = (const char *)ev->page + e->page_size;
	size_t size = RING_PAGES * e->page_size;
	struct record_throttle rec;

	while (head - tail >= sizeof(rec.header)) {
		memcpy(&rec.header, data + tail % size, sizeof(rec.header));
		if (rec.header.size < sizeof(rec.header) || rec.header.size > head - tail ||
		    rec.header.size % 8) {
			tail = head; /* nothing behind a broken record can be trusted */
			break;
		}
		if (rec.header.size >= sizeof(rec)) {
			memcpy(&rec.time, data + (tail + sizeof(rec.header)) % size,
			       sizeof(rec.time));
			record_take(e, ev, &rec);
		}
		tail += rec.header.size;
	}
	__atomic_store_n(&ev->page->data_tail, tail, __ATOMIC_RELEASE);
}

/* Adds the CPU's idle time since the last reading, or since its event began. */
static void idle_take(struct events *e, unsigned int cpu, uint64_t idle,
		      const struct cpu_times *times)
{
	static const uint64_t ns_per_sec = 1000000000ull;
	const uint64_t unit = ns_per_sec / (uint64_t)sysconf(_SC_CLK_TCK);

	for (size_t i = 0; i < e->nevents; i++) {
		struct cpu_event *ev = &e->events[i];

		if (ev->cpu != cpu)
			continue;
		ev->online = true;
		ev->user = times->user;
		ev->kernel = times->kernel;
		ev->all = times->all;
		if (ev->begun && idle > ev->idle)
			e->sums.idle_ns += (idle - ev->idle) * unit;
		if (!ev->begun || idle > ev->idle)
			ev->idle = idle;
		ev->begun = true;
	}
}

/* proc_stat(5): `cpuN user nice system idle iowait irq softirq steal ...`; false: another line. */
static bool stat_line(const char *line, struct cpu_times *times, uint64_t *idle)
{
	uint64_t nice, system, waited, irq = 0, softirq = 0, steal = 0;

	if (sscanf(line,
		   "cpu%u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %" SCNu64,
		   &times->cpu, &times->user, &nice, &system, idle, &waited, &irq, &softirq,
		   &steal) < 6)
		return false;
	*idle += waited;
	times->user += nice;
	times->kernel = system + irq + softirq;
	times->all = times->user + times->kernel + *idle + steal;
	return true;
}

/*
 * The ticks of idle CPUs cannot be counted: the event excludes them, and a virtual machine's timer
 * may not even run. /proc/stat has a line for each online CPU. False: it cannot be read.
 */
static bool idle_read(struct events *e)
{
	FILE *file = fopen("/proc/stat", "re");
	struct cpu_times times;
	uint64_t idle;
	char line[512];
	bool any = false;

	for (size_t i = 0; i < e->nevents; i++)
		e->events[i].online = false;
	while (file && fgets(line, sizeof(line), file) && !strncmp(line, "cpu", 3))
		if (line[3] != ' ' && /* the sum of all CPUs */
		    stat_line(line, &times, &idle)) {
			idle_take(e, times.cpu, idle, &times);
			any = true;
		}
	if (file)
		fclose(file);
	return any;
}

/* 0 for an event in error. */
static uint64_t active_take(struct events *e, struct cpu_event *ev)
{
	struct {
		uint64_t count, enabled, running;
	} now;
	uint64_t more;

	if (read(ev->fd, &now, sizeof(now)) != (ssize_t)sizeof(now) || now.running < ev->active_ns)
		return 0;
	more = now.running - ev->active_ns;
	e->sums.active_ns += more;
	if (now.count > ev->counted) {
		e->sums.counted += now.count - ev->counted;
		ev->counted = now.count;
	}
	ev->active_ns = now.running;
	return more;
}

/* --- one event ------------------------------------------------------------------------------- */

static int open_event(const struct sampler_options *o, unsigned int cpu)
{
	struct perf_event_attr attr = {
		.type = o->type,
		.config = o->config,
		.size = sizeof(attr),
		.freq = !o->period,
		.sample_freq = o->period ? o->period : o->frequency, /* a union with the period */
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
	void *page;
	int fd, err;

	*what = "open";
	if (e->nevents == e->room)
		return -ENOSPC;
	fd = open_event(e->options, cpu);
	if (fd < 0)
		return fd;
	*what = "attach to";
	*event = (struct cpu_event){.cpu = cpu, .fd = fd};
	/* Throttling is not seen where kernel.perf_event_mlock_kb leaves no room for a ring. */
	page = mmap(NULL, (RING_PAGES + 1) * e->page_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    0);
	event->page = page == MAP_FAILED ? NULL : page;
	event->link = bpf_program__attach_perf_event(e->program, fd); /* enables it */
	if (!event->link) {
		err = -errno;
		close_event(e, event);
		close(fd);
		return err;
	}
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

/*
 * The idle time of an ended event's CPU can no longer be read: the time that it was active since
 * the last sum, minus that of its samples, counts as idle.
 */
static void drop_event(struct events *e, struct cpu_event *event)
{
	const uint64_t period = 1000000000ull / e->options->frequency;
	uint64_t active, sampled;

	read_stats(e);
	sampled = (samples_of(e, event->cpu) - event->samples) * period;
	active = active_take(e, event);
	if (active > sampled)
		e->sums.idle_ns += active - sampled;
	if (event->page)
		ring_follow(e, event);
	close_event(e, event);
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
		idle_read(e);
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
		idle_read(e);
	}
	return err;
}

void events_stop(struct events *e, bool stop)
{
	for (size_t i = 0; i < e->nevents; i++)
		ioctl(e->events[i].fd, stop ? PERF_EVENT_IOC_DISABLE : PERF_EVENT_IOC_ENABLE, 0);
	e->stopped = stop;
}

unsigned int events_count(const struct events *e)
{
	return (unsigned int)e->nevents;
}

void events_follow(struct events *e)
{
	for (size_t i = 0; i < e->nevents; i++)
		if (e->events[i].page)
			ring_follow(e, &e->events[i]);
}

size_t events_cpu_times(const struct events *e, struct cpu_times *to, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < e->nevents && n < max; i++) {
		const struct cpu_event *ev = &e->events[i];

		if (ev->online)
			to[n++] = (struct cpu_times){ev->cpu, ev->user, ev->kernel, ev->all};
	}
	return n;
}

void events_sum(struct events *e, struct ticks_sums *sums)
{
	bool known;

	note_samples(e, 0);
	events_follow(e);
	known = idle_read(e);
	/* drop_event adds the time of offline CPUs. */
	for (size_t i = 0; i < e->nevents; i++)
		if (e->events[i].online || !known)
			active_take(e, &e->events[i]);
	*sums = e->sums;
}
