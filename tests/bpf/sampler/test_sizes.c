// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How large maps are made, by the kernel's own word (fdinfo), and on machines that are not here.
 * Covers: bpf/sampler/sizes.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "bpf/sampler/sampler.h"
#include "bpf/sampler/sizes.h"
#include "tests/support/rights.h"

#define MIB (1ull << 20)
#define GIB (1ull << 30)

static bool is_power(uint32_t n)
{
	return n && !(n & (n - 1));
}

static struct map_sizes sizes_on(unsigned int cpus, uint64_t memory, uint64_t pid_max)
{
	const struct machine_limits m = {cpus, memory, pid_max};
	struct map_sizes sizes;

	map_sizes_of(&m, &sizes);
	assert_true(is_power(sizes.ring) && is_power(sizes.seen_sets));
	assert_true(sizes.ring % 65536 == 0); /* whole pages of any machine */
	assert_in_range(sizes.procs, 4096, 65536);
	return sizes;
}

static void test_machines(void **state)
{
	const struct map_sizes two = sizes_on(2, 8 * GIB, 32768);
	struct map_sizes now, before = two;

	(void)state;
	/* A slice of one second at 4,000 Hz without two samples alike, on each CPU. */
	for (unsigned int cpus = 1; cpus <= 16; cpus *= 2) {
		now = sizes_on(cpus, 64 * GIB, 4194304);
		assert_true(now.counts >= cpus * 4000);
		assert_true(now.ring >= cpus * MIB);
		assert_true(now.seen_sets >= cpus * 4096);
	}
	for (unsigned int cpus = 2; cpus < 3000; cpus += 7) {
		now = sizes_on(cpus, 1024 * GIB, 32768);
		assert_true(now.counts >= before.counts && now.ring >= before.ring &&
			    now.seen_sets >= before.seen_sets);
		before = now;
	}
	assert_true(before.counts <= 131072 && before.ring <= 32 * MIB);
	/* Many CPUs with little memory are as few, and so is a machine that tells nothing. */
	now = sizes_on(64, GIB, 32768);
	assert_int_equal(now.counts, two.counts);
	assert_int_equal(now.ring, two.ring);
	now = sizes_on(1, 0, 0);
	assert_int_equal(now.counts, two.counts);
	assert_int_equal(now.procs, 4096);
	/* As many processes as there are numbers for. */
	assert_int_equal(sizes_on(2, 64 * GIB, 32768).procs, 32768);
	assert_int_equal(sizes_on(2, 64 * GIB, 4194304).procs, 65536);
	assert_int_equal(sizes_on(2, GIB, 4194304).procs, 8192);
}

struct seen {
	unsigned int counts, rings, procs, knowns;
};

static void look(const char *number, const struct map_sizes *want, struct seen *seen)
{
	unsigned int type = 0, key = 0, value = 0, entries = 0;
	char path[64], line[128];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%.16s", number);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "map_type: %u", &type);
		sscanf(line, "key_size: %u", &key);
		sscanf(line, "value_size: %u", &value);
		sscanf(line, "max_entries: %u", &entries);
	}
	if (f)
		fclose(f);
	seen->counts += type == BPF_MAP_TYPE_HASH && key == sizeof(struct count_key) &&
			entries == want->counts;
	seen->procs += type == BPF_MAP_TYPE_HASH && key == 4 && entries == want->procs;
	seen->rings += type == BPF_MAP_TYPE_RINGBUF && entries == want->ring;
	seen->knowns += type == BPF_MAP_TYPE_ARRAY && value == sizeof(struct seen_set) &&
			entries == want->seen_sets;
}

static void test_this_machine(void **state)
{
	const struct sampler_options options = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.frequency = 99,
		.shards_max = 1,
	};
	struct map_sizes want;
	struct machine_limits machine;
	struct seen seen = {0};
	struct sampler *s;
	struct dirent *e;
	char error[256];
	uint64_t bytes;
	DIR *dir;
	int err;

	(void)state;
	err = sampler_new(&options, &s, error, sizeof(error));
	if (err == -EPERM || err == -EACCES)
		skip_without("CAP_BPF");
	if (err)
		fail_msg("%s", error);
	machine_read(&machine);
	assert_true(machine.cpus > 0 && machine.memory > 64 * MIB && machine.pid_max >= 301);
	map_sizes_of(&machine, &want);
	assert_int_equal(sampler_counts_max(s), want.counts);
	dir = opendir("/proc/self/fdinfo");
	assert_non_null(dir);
	while ((e = readdir(dir)))
		look(e->d_name, &want, &seen);
	closedir(dir);
	/* of targets, and of processes; there is an inner map of counts to swap with */
	assert_int_equal(seen.procs, 2);
	assert_in_range(seen.counts, 2, 2);
	assert_int_equal(seen.rings, 1);
	assert_int_equal(seen.knowns, 1);
	assert_int_equal(memlock_maps(&bytes), 0);
	print_message("%.1f MiB on %u CPUs\n", (double)bytes / MIB, machine.cpus);
	assert_in_range(bytes, MIB, machine.cpus <= 2 ? 32 * MIB : 256 * MIB);
	sampler_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_machines),
		cmocka_unit_test(test_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
