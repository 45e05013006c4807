/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs one program of peer.bpf.c on one CPU and prints what it cost:
 *
 *	peer OBJECT PROGRAM CPU HERTZ SECONDS	prints: runs, nanoseconds, depth of the last stack
 *
 * kernel.bpf_stats_enabled has to be on.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#define FRAMES 127

static int open_event(int cpu, unsigned int hertz)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = hertz,
		.exclude_idle = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static unsigned int depth(const struct bpf_object *object)
{
	struct bpf_map *stacks = bpf_object__find_map_by_name(object, "stacks");
	struct bpf_map *bss = bpf_object__find_map_by_name(object, ".bss");
	uint64_t frames[FRAMES] = {0}, last;
	uint32_t zero = 0, id;
	unsigned int n = 0;

	if (!stacks || !bss || bpf_map_lookup_elem(bpf_map__fd(bss), &zero, &last))
		return 0;
	id = (uint32_t)last;
	if (bpf_map_lookup_elem(bpf_map__fd(stacks), &id, frames))
		return 0;
	while (n < FRAMES && frames[n])
		n++;
	return n;
}

int main(int argc, char **argv)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);
	struct bpf_object *object;
	struct bpf_program *program;
	struct bpf_link *link;
	int event;

	if (argc != 6)
		return 2;
	object = bpf_object__open_file(argv[1], NULL);
	if (!object || bpf_object__load(object))
		return 1;
	program = bpf_object__find_program_by_name(object, argv[2]);
	event = open_event(atoi(argv[3]), (unsigned int)atoi(argv[4]));
	if (!program || event < 0) {
		fprintf(stderr, "peer: %s: %s\n", argv[2], strerror(errno));
		return 1;
	}
	link = bpf_program__attach_perf_event(program, event);
	if (!link)
		return 1;
	sleep((unsigned int)atoi(argv[5]));
	if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
		return 1;
	printf("%llu %llu %u\n", (unsigned long long)info.run_cnt,
	       (unsigned long long)info.run_time_ns, depth(object));
	bpf_link__destroy(link);
	bpf_object__close(object);
	return 0;
}
