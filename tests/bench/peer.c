/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs BPF programs on one CPU in turn, a short while each, and prints the cost of each. Programs
 * are those of peer.bpf.c and, by number, those of other processes, mainly stacktop's: stacktop
 * keeps its maps, the peer attaches its program for one turn.
 *
 *	peer PEER_OBJECT CPU
 *
 * reads a command a line and answers each with a line, or with "error TEXT":
 *
 *	run PROGRAM HERTZ MS	RUNS NS SAMPLES USER WALKS COMPLETE FRAMES AGAIN
 *				cost of the runs; the rest are the differences of the counters that
 *				stacktop's program or user_depth keeps, 0 for others
 *	single PROGRAM HERTZ MS	RUNS SEEN P50 P99 P999 MAX
 *				in nanoseconds of single runs, as far as they were seen singly
 *	is PROGRAM NAME 0	1: that is its name; 0: it is another
 *
 * PROGRAM is a name or #NUMBER. kernel.bpf_stats_enabled has to be on.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/prog/layout.h"

#define MAPS_MAX  64
#define TIMES_MAX 65536u

struct peer {
	struct bpf_object *object;
	int cpu;
};

struct turn {
	struct profiler_stats stats;
	uint64_t runs;
	uint64_t ns;
};

static int fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("error ");
	vprintf(format, args);
	putchar('\n');
	va_end(args);
	return -1;
}

static void wait_ms(unsigned int ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

static int open_event(int cpu, unsigned int hertz)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = hertz,
		.exclude_idle = 1,
		.disabled = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static void *map_memory(const struct bpf_object *object, const char *name, size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
		       bpf_object__find_map_fd_by_name(object, name), 0);

	return p == MAP_FAILED ? NULL : p;
}

/* A new descriptor of the program's map with this name, or -1. */
static int program_map(int program, const char *name)
{
	uint32_t ids[MAPS_MAX], size = sizeof(struct bpf_prog_info);
	struct bpf_prog_info info = {.nr_map_ids = MAPS_MAX, .map_ids = (uintptr_t)ids};

	if (bpf_obj_get_info_by_fd(program, &info, &size))
		return -1;
	for (uint32_t i = 0; i < info.nr_map_ids && i < MAPS_MAX; i++) {
		struct bpf_map_info map = {0};
		uint32_t map_size = sizeof(map);
		int fd = bpf_map_get_fd_by_id(ids[i]);

		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &map, &map_size) &&
		    !strcmp(map.name, name))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

/* The counters of stacktop's program, summed over all CPUs; zeros for other programs. */
static void read_stats(int program, struct profiler_stats *sum)
{
	int fd = program_map(program, "stats"), ncpus = libbpf_num_possible_cpus();
	struct bpf_map_info map = {.value_size = 0};
	uint32_t zero = 0, size = sizeof(map);
	struct profiler_stats *each;

	memset(sum, 0, sizeof(*sum));
	each = fd >= 0 && ncpus > 0 && !bpf_obj_get_info_by_fd(fd, &map, &size) &&
			       map.value_size == sizeof(*each)
		       ? calloc((size_t)ncpus, sizeof(*each))
		       : NULL;
	if (each && !bpf_map_lookup_elem(fd, &zero, each)) {
		for (int i = 0; i < ncpus; i++) {
			sum->samples += each[i].samples;
			sum->user += each[i].user;
			sum->walks += each[i].walks;
			sum->complete += each[i].complete;
			sum->frames += each[i].frames;
			sum->again += each[i].again;
		}
	}
	free(each);
	if (fd >= 0)
		close(fd);
}

static int read_turn(int program, struct turn *t)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(program, &info, &size))
		return -1;
	read_stats(program, &t->stats);
	t->runs = info.run_cnt;
	t->ns = info.run_time_ns;
	return 0;
}

/* Samples with the program for `ms`; the result is in t. */
static int sample(const struct peer *p, int program, unsigned int hertz, unsigned int ms,
		  struct turn *t)
{
	struct turn before, after;
	int event = open_event(p->cpu, hertz);

	if (event < 0)
		return fail("perf_event_open: %s", strerror(errno));
	if (ioctl(event, PERF_EVENT_IOC_SET_BPF, program) || read_turn(program, &before) ||
	    ioctl(event, PERF_EVENT_IOC_ENABLE, 0)) {
		close(event);
		return fail("cannot attach: %s", strerror(errno));
	}
	wait_ms(ms);
	ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
	if (read_turn(program, &after)) {
		close(event);
		return fail("bpf_prog_info: %s", strerror(errno));
	}
	close(event);
	t->runs = after.runs - before.runs;
	t->ns = after.ns - before.ns;
	t->stats.samples = after.stats.samples - before.stats.samples;
	t->stats.user = after.stats.user - before.stats.user;
	t->stats.walks = after.stats.walks - before.stats.walks;
	t->stats.complete = after.stats.complete - before.stats.complete;
	t->stats.frames = after.stats.frames - before.stats.frames;
	t->stats.again = after.stats.again - before.stats.again;
	return 0;
}

static int run(const struct peer *p, int program, unsigned int hertz, unsigned int ms)
{
	struct turn t = {0};

	if (sample(p, program, hertz, ms, &t))
		return -1;
	printf("%llu %llu %llu %llu %llu %llu %llu %llu\n", (unsigned long long)t.runs,
	       (unsigned long long)t.ns, (unsigned long long)t.stats.samples,
	       (unsigned long long)t.stats.user, (unsigned long long)t.stats.walks,
	       (unsigned long long)t.stats.complete, (unsigned long long)t.stats.frames,
	       (unsigned long long)t.stats.again);
	return 0;
}

/* --- single runs ------------------------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int print_times(uint32_t *times, size_t n, unsigned long long runs)
{
	if (!n)
		return fail("no single run was seen");
	qsort(times, n, sizeof(*times), by_value);
	printf("%llu %zu %u %u %u %u\n", runs, n, times[n / 2], times[n * 99 / 100],
	       times[n * 999 / 1000], times[n - 1]);
	return 0;
}

/*
 * Reads the counters several times a period: if they grew by one run, the difference is its time.
 * The program stays unchanged; entry and exit cannot be traced on every kernel.
 */
static int watch(int program, unsigned int hertz, unsigned int ms, uint32_t *times)
{
	struct timespec pause = {.tv_nsec = 1000000000 / 5 / (long)hertz};
	unsigned long long end = (unsigned long long)hertz * ms / 1000, first, looks = 0;
	struct bpf_prog_info last = {0}, now;
	uint32_t size = sizeof(last);
	size_t n = 0;

	if (bpf_obj_get_info_by_fd(program, &last, &size))
		return fail("bpf_prog_info: %s", strerror(errno));
	first = last.run_cnt;
	while (last.run_cnt - first < end && looks++ < end * 20 && n < TIMES_MAX) {
		nanosleep(&pause, NULL);
		memset(&now, 0, sizeof(now));
		size = sizeof(now);
		if (bpf_obj_get_info_by_fd(program, &now, &size))
			return fail("bpf_prog_info: %s", strerror(errno));
		if (now.run_cnt == last.run_cnt + 1)
			times[n++] = (uint32_t)(now.run_time_ns - last.run_time_ns);
		last = now;
	}
	return print_times(times, n, last.run_cnt - first);
}

static int single(const struct peer *p, int program, unsigned int hertz, unsigned int ms)
{
	uint32_t *times = malloc(TIMES_MAX * sizeof(*times));
	int event = open_event(p->cpu, hertz), err;

	if (!times || event < 0 || ioctl(event, PERF_EVENT_IOC_SET_BPF, program) ||
	    ioctl(event, PERF_EVENT_IOC_ENABLE, 0))
		err = fail("cannot attach: %s", strerror(errno));
	else
		err = watch(program, hertz, ms, times);
	if (event >= 0)
		close(event);
	free(times);
	return err;
}

static int is_named(int program, const char *name)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(program, &info, &size))
		return fail("bpf_prog_info: %s", strerror(errno));
	printf("%d\n", !strcmp(info.name, name));
	return 0;
}

/* --- set-up ----------------------------------------------------------------------------------- */

/* Row i begins at i * 16: addresses of 21 bits, like those of libc's text. */
static int fill_search(const struct bpf_object *object)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(object, "search_rows");
	size_t size = map ? bpf_map__value_size(map) : 0;
	uint32_t *rows = map_memory(object, "search_rows", size);

	if (!rows)
		return -1;
	for (uint32_t i = 0; i < size / 8; i++) {
		rows[2 * i] = i * 16;
		rows[2 * i + 1] = i;
	}
	munmap(rows, size);
	return 0;
}

static int load(struct peer *p, const char *path)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_max_stack", "re");
	unsigned int frames = 127;
	struct bpf_map *stacks;

	if (f) {
		if (fscanf(f, "%u", &frames) != 1)
			frames = 127;
		fclose(f);
	}
	p->object = bpf_object__open_file(path, NULL);
	stacks = p->object ? bpf_object__find_map_by_name(p->object, "stacks") : NULL;
	if (!stacks || bpf_map__set_value_size(stacks, frames * 8) || bpf_object__load(p->object) ||
	    fill_search(p->object))
		return -1;
	return 0;
}

static void obey(const struct peer *p, const char *line)
{
	char command[16], name[64], word[64];
	unsigned int hertz, ms;
	struct bpf_program *own;
	int program;

	if (sscanf(line, "%15s %63s %63s %u", command, name, word, &ms) != 4) {
		fail("what?");
		return;
	}
	hertz = (unsigned int)strtoul(word, NULL, 10);
	own = bpf_object__find_program_by_name(p->object, name);
	program = name[0] == '#' ? bpf_prog_get_fd_by_id((uint32_t)strtoul(name + 1, NULL, 10))
		  : own		 ? dup(bpf_program__fd(own))
				 : -1;
	if (program < 0) {
		fail("no program %s", name);
		return;
	}
	if (!strcmp(command, "is"))
		is_named(program, word);
	else if (!strcmp(command, "single"))
		single(p, program, hertz, ms);
	else
		run(p, program, hertz, ms);
	close(program);
}

int main(int argc, char **argv)
{
	struct peer p = {0};
	char line[256];

	if (argc != 3)
		return 2;
	libbpf_set_print(NULL);
	p.cpu = atoi(argv[2]);
	if (load(&p, argv[1])) {
		fprintf(stderr, "peer: cannot load %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof(line), stdin))
		obey(&p, line);
	bpf_object__close(p.object);
	return 0;
}
