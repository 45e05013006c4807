// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sampling program cannot count samples that were never taken, but their number follows from
 * time: a clock event ticks once a period while it is active, and the kernel writes a record into
 * the event's ring when it throttles the event and another one when it releases it.
 *
 * See perf_event_open(2) for the records; both begin with the time, id and stream id.
 */
#include "bpf/sampler/ticks.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RING_PAGES 4u

struct tick_event {
	int fd;
	unsigned int cpu;
	struct perf_event_mmap_page *page; /* NULL: no ring */
	uint64_t active_ns;
	uint64_t throttled_at; /* 0: it is not throttled */
	uint64_t idle;	       /* of its CPU, in the unit of /proc/stat, since boot */
	bool begun;	       /* idle is known */
	bool online;	       /* by the last reading of /proc/stat */
};

struct ticks {
	size_t page_size;
	struct ticks_sums sums;
	size_t nevents, room;
	struct tick_event events[];
};

struct record_throttle {
	struct perf_event_header header;
	uint64_t time, id, stream_id;
};

int ticks_new(size_t n, struct ticks **out)
{
	*out = calloc(1, sizeof(**out) + n * sizeof((*out)->events[0]));
	if (!*out)
		return -ENOMEM;
	(*out)->page_size = (size_t)sysconf(_SC_PAGESIZE);
	(*out)->room = n;
	return 0;
}

static size_t ring_bytes(const struct ticks *t)
{
	return (RING_PAGES + 1) * t->page_size;
}

void ticks_free(struct ticks *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nevents; i++)
		if (t->events[i].page)
			munmap(t->events[i].page, ring_bytes(t));
	free(t);
}

void ticks_add(struct ticks *t, int fd, unsigned int cpu)
{
	void *page;

	if (t->nevents == t->room)
		return;
	page = mmap(NULL, ring_bytes(t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	t->events[t->nevents++] =
		(struct tick_event){.fd = fd, .cpu = cpu, .page = page == MAP_FAILED ? NULL : page};
}

static void record_take(struct ticks *t, struct tick_event *e, const struct record_throttle *rec)
{
	if (rec->header.type == PERF_RECORD_THROTTLE) {
		t->sums.throttles++;
		if (!e->throttled_at)
			e->throttled_at = rec->time;
	} else if (rec->header.type == PERF_RECORD_UNTHROTTLE) {
		/* An event that is enabled again is released without having been throttled. */
		if (e->throttled_at && rec->time > e->throttled_at)
			t->sums.throttled_ns += rec->time - e->throttled_at;
		e->throttled_at = 0;
	}
}

/* Sizes of records are multiples of eight bytes, so the ring's end cuts no header. */
static void ring_follow(struct ticks *t, struct tick_event *e)
{
	uint64_t head = __atomic_load_n(&e->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = e->page->data_tail;
	const char *data = (const char *)e->page + t->page_size;
	size_t size = RING_PAGES * t->page_size;
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
			record_take(t, e, &rec);
		}
		tail += rec.header.size;
	}
	__atomic_store_n(&e->page->data_tail, tail, __ATOMIC_RELEASE);
}

void ticks_follow(struct ticks *t)
{
	for (size_t i = 0; i < t->nevents; i++)
		if (t->events[i].page)
			ring_follow(t, &t->events[i]);
}

/* Adds the CPU's idle time since the last reading, or since its event began. */
static void idle_take(struct ticks *t, unsigned int cpu, uint64_t idle)
{
	static const uint64_t ns_per_sec = 1000000000ull;
	const uint64_t unit = ns_per_sec / (uint64_t)sysconf(_SC_CLK_TCK);

	for (size_t i = 0; i < t->nevents; i++) {
		struct tick_event *e = &t->events[i];

		if (e->cpu != cpu)
			continue;
		e->online = true;
		if (e->begun && idle > e->idle)
			t->sums.idle_ns += (idle - e->idle) * unit;
		if (!e->begun || idle > e->idle)
			e->idle = idle;
		e->begun = true;
	}
}

/*
 * The ticks of idle CPUs cannot be counted: the event excludes them, and a virtual machine's timer
 * may not even run. proc_stat(5): `cpuN user nice system idle iowait ...`, a line for each online
 * CPU. False: it cannot be read.
 */
static bool idle_read(struct ticks *t)
{
	FILE *file = fopen("/proc/stat", "re");
	uint64_t idle, iowait;
	char line[512];
	unsigned int cpu;
	bool any = false;

	for (size_t i = 0; i < t->nevents; i++)
		t->events[i].online = false;
	while (file && fgets(line, sizeof(line), file) && !strncmp(line, "cpu", 3))
		if (line[3] != ' ' && /* the sum of all CPUs */
		    sscanf(line, "cpu%u %*u %*u %*u %" SCNu64 " %" SCNu64, &cpu, &idle, &iowait) ==
			    3) {
			idle_take(t, cpu, idle + iowait);
			any = true;
		}
	if (file)
		fclose(file);
	return any;
}

void ticks_begin(struct ticks *t)
{
	idle_read(t);
}

/* 0 for an event in error. */
static uint64_t active_take(struct ticks *t, struct tick_event *e)
{
	struct {
		uint64_t count, enabled, running;
	} now;
	uint64_t more;

	if (read(e->fd, &now, sizeof(now)) != (ssize_t)sizeof(now) || now.running < e->active_ns)
		return 0;
	more = now.running - e->active_ns;
	t->sums.active_ns += more;
	e->active_ns = now.running;
	return more;
}

void ticks_drop(struct ticks *t, int fd, uint64_t sampled_ns)
{
	struct tick_event *e = t->events, *end = t->events + t->nevents;
	uint64_t active;

	while (e < end && e->fd != fd)
		e++;
	if (e == end)
		return;
	active = active_take(t, e);
	if (active > sampled_ns)
		t->sums.idle_ns += active - sampled_ns;
	if (e->page) {
		ring_follow(t, e);
		munmap(e->page, ring_bytes(t));
	}
	t->nevents--;
	*e = end[-1];
}

void ticks_sum(struct ticks *t, struct ticks_sums *sums)
{
	bool known;

	ticks_follow(t);
	known = idle_read(t);
	/* ticks_drop adds the time of offline CPUs. */
	for (size_t i = 0; i < t->nevents; i++)
		if (t->events[i].online || !known)
			active_take(t, &t->events[i]);
	*sums = t->sums;
}
