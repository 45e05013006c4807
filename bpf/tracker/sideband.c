// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the side-band rings (perf_event_open(2), "MMAP layout"). The records of all CPUs are copied
 * and sorted by time, since fork, exec and mappings of a process may happen on different CPUs.
 */
#include "bpf/tracker/sideband.h"

#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "bpf/sampler/cpus.h"
#include "symbols/base/grow.h"
#include "symbols/files/kernelclock.h"

#define RING_PAGES  64u
#define BATCH_BYTES (16u << 20) /* limit of one reading */

struct cpu_ring {
	unsigned int cpu;
	int fd;
	struct perf_event_mmap_page *page;
	uint64_t enabled; /* for cpus_event_ended */
	bool full;	  /* it was full, and the kernel may not have reported that yet */
	bool ended;	  /* its CPU went offline; its records are still to be read */
};

struct pending_record { /* a record in the copy */
	uint64_t time;
	size_t at;
	uint32_t order;
};

struct sideband {
	int epoll_fd;
	size_t page_size;
	unsigned int *cpus; /* NULL: all */
	size_t ncpus;
	struct cpu_ring *rings;
	size_t nrings, rings_room;
	char *copy;
	size_t used, room;
	struct pending_record *pending;
	size_t npending, pending_room;
	uint64_t lost;
	bool gap; /* of the last reading */
};

/* sample_id of PERF_SAMPLE_TID | PERF_SAMPLE_TIME, at the end of every record. */
struct sideband_id {
	uint32_t pid, tid;
	uint64_t time;
};

struct record_comm {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[];
};

struct record_task { /* FORK and EXIT */
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};

struct record_mmap2 {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint32_t prot, flags;
	char name[];
};

struct record_ksymbol {
	struct perf_event_header header;
	uint64_t addr;
	uint32_t len;
	uint16_t type, flags;
	char name[];
};

struct record_lost {
	struct perf_event_header header;
	uint64_t id, lost;
};

/* The largest record, that of a mapped file (perf_event_mmap_event of kernel/events/core.c). */
#define RECORD_MOST                                                                                \
	(sizeof(struct record_mmap2) + PATH_MAX + sizeof(struct sideband_id) +                     \
	 sizeof(struct record_lost) + sizeof(struct sideband_id))

static size_t ring_bytes(const struct sideband *s)
{
	return (RING_PAGES + 1) * s->page_size;
}

static void ring_close(const struct sideband *s, struct cpu_ring *r)
{
	if (r->page)
		munmap(r->page, ring_bytes(s));
	if (r->fd >= 0)
		close(r->fd);
}

static int ring_open(struct sideband *s, struct cpu_ring *r, unsigned int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(attr),
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.sample_period = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.ksymbol = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		/* wakeup_events would count only samples, and there are none */
		.watermark = 1,
		.wakeup_watermark = 1,
	};
	struct epoll_event wait = {.events = EPOLLIN};
	void *memory;
	int err;

	*r = (struct cpu_ring){.cpu = cpu};
	r->fd = syscall(__NR_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (r->fd < 0)
		return -errno;
	memory = mmap(NULL, ring_bytes(s), PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	r->page = memory == MAP_FAILED ? NULL : memory;
	if (r->page && !epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, r->fd, &wait))
		return 0;
	err = -errno;
	ring_close(s, r);
	return err;
}

static bool has_ring(const struct sideband *s, unsigned int cpu)
{
	for (size_t i = 0; i < s->nrings; i++)
		if (s->rings[i].cpu == cpu && !s->rings[i].ended)
			return true;
	return false;
}

/*
 * Opens the missing rings and returns how many it has opened. *err: the first error; the other
 * rings are still opened. An offline CPU is an error only with listed and s->cpus set.
 */
static int add_missing(struct sideband *s, bool listed, int *err)
{
	const unsigned int *cpus = s->cpus;
	unsigned int *online = NULL;
	size_t n = s->ncpus;
	int came = 0, one;

	*err = 0;
	if (!cpus) {
		*err = cpus_online(&online, &n);
		cpus = online;
	}
	for (size_t i = 0; i < n; i++) {
		if (has_ring(s, cpus[i]))
			continue;
		one = GROW(s->rings, s->nrings, s->rings_room, SIZE_MAX);
		if (!one)
			one = ring_open(s, &s->rings[s->nrings], cpus[i]);
		s->nrings += !one;
		came += !one;
		if (one && !*err && (one != -ENODEV || (s->cpus && listed)))
			*err = one;
	}
	free(online);
	return came;
}

int sideband_new(const unsigned int *cpus, size_t ncpus, struct sideband **out)
{
	struct sideband *s = calloc(1, sizeof(*s));
	int err = -ENOMEM;

	*out = NULL;
	if (!s)
		return -ENOMEM;
	s->page_size = sysconf(_SC_PAGESIZE);
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll_fd < 0)
		goto fail;
	if (cpus) {
		s->cpus = calloc(ncpus, sizeof(*s->cpus));
		if (!s->cpus)
			goto fail;
		memcpy(s->cpus, cpus, ncpus * sizeof(*s->cpus));
		s->ncpus = ncpus;
	}
	add_missing(s, true, &err);
	if (err)
		goto fail;
	*out = s;
	return 0;
fail:
	sideband_free(s);
	return err;
}

void sideband_free(struct sideband *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nrings; i++)
		ring_close(s, &s->rings[i]);
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
	free(s->cpus);
	free(s->rings);
	free(s->copy);
	free(s->pending);
	free(s);
}

int sideband_watch(struct sideband *s)
{
	int changes = 0, err;

	for (size_t i = 0; i < s->nrings; i++) {
		struct cpu_ring *r = &s->rings[i];

		if (r->ended || !cpus_event_ended(r->fd, &r->enabled))
			continue;
		r->ended = true;
		changes++;
	}
	changes += add_missing(s, false, &err);
	return changes ? changes : err;
}

/* Closes rings of ended events, which write no more, once they are empty. */
static void close_ended(struct sideband *s)
{
	size_t i = 0;

	while (i < s->nrings) {
		struct cpu_ring *r = &s->rings[i];

		if (r->ended && r->page->data_head == r->page->data_tail) {
			ring_close(s, r);
			*r = s->rings[--s->nrings];
		} else {
			i++;
		}
	}
}

int sideband_fd(const struct sideband *s)
{
	return s->epoll_fd;
}

static void ring_copy(const char *data, size_t mask, uint64_t at, void *to, size_t size)
{
	size_t from = at & mask, first = mask + 1 - from;

	if (first > size)
		first = size;
	memcpy(to, data + from, first);
	memcpy((char *)to + first, data, size - first);
}

/*
 * The kernel reports lost records only before the next record, which may come much later. So a gap
 * is assumed if there was no room for one more record until the room of those read was released.
 */
static void ring_release(struct sideband *s, struct cpu_ring *r, uint64_t tail)
{
	const uint64_t before = r->page->data_tail;

	__atomic_store_n(&r->page->data_tail, tail, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&r->page->data_head, __ATOMIC_SEQ_CST) - before + RECORD_MOST >=
	    RING_PAGES * s->page_size)
		r->full = s->gap = true;
}

/*
 * Copies the records up to a time. Later ones stay: another ring may have been read before, so that
 * an older record of the same process could follow in the next call.
 */
static int ring_read(struct sideband *s, struct cpu_ring *r, uint64_t until)
{
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = r->page->data_tail;
	const char *data = (const char *)r->page + s->page_size;
	size_t mask = RING_PAGES * s->page_size - 1;
	const struct record_lost *lost;
	struct perf_event_header header;
	struct sideband_id id;
	char *to;

	while (head - tail >= sizeof(header) && s->used < BATCH_BYTES) {
		ring_copy(data, mask, tail, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > head - tail) {
			tail = head; /* nothing behind a broken record can be trusted */
			s->lost++;
			s->gap = true;
			break;
		}
		if (GROW_TO(s->copy, s->used + header.size, s->room, SIZE_MAX) ||
		    GROW(s->pending, s->npending, s->pending_room, SIZE_MAX)) {
			ring_release(s, r, tail);
			return -ENOMEM;
		}
		to = s->copy + s->used;
		ring_copy(data, mask, tail, to, header.size);
		if (header.size < sizeof(header) + sizeof(id)) {
			tail += header.size;
			continue;
		}
		memcpy(&id, to + header.size - sizeof(id), sizeof(id));
		if (id.time > until)
			break;
		tail += header.size;
		if (header.type == PERF_RECORD_LOST) {
			if (header.size >= sizeof(*lost) + sizeof(id)) {
				lost = (const void *)to;
				s->lost += lost->lost;
				s->gap |= !r->full;
				r->full = false;
			}
			continue;
		}
		s->pending[s->npending] = (struct pending_record){id.time, s->used, s->npending};
		s->npending++;
		s->used += (header.size + 7u) & ~7u;
	}
	ring_release(s, r, tail);
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct pending_record *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static bool decode_ksymbol(const struct record_ksymbol *symbol, size_t size,
			   struct sideband_event *e)
{
	if (size <= sizeof(*symbol) || !memchr(symbol->name, '\0', size - sizeof(*symbol)))
		return false;
	e->kind = SIDEBAND_KSYMBOL;
	e->start = symbol->addr;
	e->length = symbol->len;
	e->name = symbol->name;
	e->gone = symbol->flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	return true;
}

/* Turns the record at data into an event; false: it is of no interest. */
static bool decode_record(const char *data, uint64_t time, struct sideband_event *e)
{
	const struct perf_event_header *h = (const void *)data;
	size_t size = h->size - sizeof(struct sideband_id); /* checked by ring_read */
	const struct record_comm *comm = (const void *)data;
	const struct record_task *task = (const void *)data;
	const struct record_mmap2 *map = (const void *)data;

	memset(e, 0, sizeof(*e));
	e->time = time;
	switch (h->type) {
	case PERF_RECORD_COMM:
		if (size <= sizeof(*comm))
			return false;
		e->kind = h->misc & PERF_RECORD_MISC_COMM_EXEC ? SIDEBAND_EXEC : SIDEBAND_COMM;
		e->pid = comm->pid;
		e->tid = comm->tid;
		snprintf(e->comm, sizeof(e->comm), "%.*s",
			 (int)strnlen(comm->comm, size - sizeof(*comm)), comm->comm);
		return true;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		if (size < sizeof(*task))
			return false;
		e->kind = h->type == PERF_RECORD_FORK ? SIDEBAND_FORK : SIDEBAND_EXIT;
		e->pid = task->pid;
		e->tid = task->tid;
		e->ppid = task->ppid;
		e->ptid = task->ptid;
		return true;
	case PERF_RECORD_MMAP2:
		if (size <= sizeof(*map) || !(map->prot & PROT_EXEC) ||
		    !memchr(map->name, '\0', size - sizeof(*map)))
			return false;
		e->kind = SIDEBAND_MMAP;
		e->pid = map->pid;
		e->tid = map->tid;
		e->start = map->addr;
		e->length = map->len;
		e->offset = map->pgoff;
		e->dev_major = map->maj;
		e->dev_minor = map->min;
		e->inode = map->ino;
		e->name = map->name;
		e->write = map->prot & PROT_WRITE;
		return true;
	case PERF_RECORD_KSYMBOL:
		return decode_ksymbol((const void *)data, size, e);
	default:
		return false;
	}
}

int64_t sideband_read(struct sideband *s, void (*fn)(const struct sideband_event *e, void *arg),
		      void *arg)
{
	struct sideband_event event;
	const uint64_t now = kernelclock_now();
	uint64_t lost;
	size_t i;
	int err = 0;

	s->used = s->npending = 0;
	s->gap = false;
	for (i = 0; i < s->nrings && !err; i++)
		err = ring_read(s, &s->rings[i], now);
	/* Records that are still in the rings come too late for their order. */
	if (err) {
		s->lost++;
		s->gap = true;
	}
	if (s->npending)
		qsort(s->pending, s->npending, sizeof(*s->pending), by_time);
	/*
	 * A process outside of the PID namespace of the event has the PID 0, like the idle tasks,
	 * or -1.
	 */
	for (i = 0; i < s->npending; i++)
		if (decode_record(s->copy + s->pending[i].at, s->pending[i].time, &event) &&
		    (event.pid > 0 || event.kind == SIDEBAND_KSYMBOL))
			fn(&event, arg);
	close_ended(s);
	lost = s->lost;
	s->lost = 0;
	return lost;
}

bool sideband_has_gap(const struct sideband *s)
{
	return s->gap;
}
