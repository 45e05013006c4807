// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How much memory the maps lock, against what the kernel says of their sizes, and its limit.
 * Covers: bpf/sampler/sizes.c
 */
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>

#include "bpf/sampler/ksyms.h"
#include "bpf/sampler/sizes.h"
#include "bpf/sampler/sampler.h"
#include "bpf/sampler/shardmaps.h"
#include "tests/support/rights.h"
#include "unwind/row.h"

#define MIB		(1u << 20)
#define SHARDS		16	    /* of the default --memory */
#define LIMIT		(32u * MIB) /* of up to two CPUs; bpf/sampler/sizes.c gives more to more of them */
#define OVERHEAD_FACTOR 4	    /* of a hash's elements of one byte */

/* Values and keys of all maps that are open. */
static uint64_t sum_of_sizes(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct bpf_map_info info;
	uint64_t sum = 0;
	struct dirent *e;
	char link[64];
	__u32 size;

	assert_non_null(dir);
	while ((e = readdir(dir))) {
		memset(&info, 0, sizeof(info));
		size = sizeof(info);
		memset(link, 0, sizeof(link));
		if (readlinkat(dirfd(dir), e->d_name, link, sizeof(link) - 1) < 0 ||
		    strcmp(link, "anon_inode:bpf-map") != 0)
			continue;
		assert_int_equal(bpf_obj_get_info_by_fd(atoi(e->d_name), &info, &size), 0);
		if (info.type == BPF_MAP_TYPE_RINGBUF)
			sum += info.max_entries;
		else if (info.type == BPF_MAP_TYPE_HASH)
			sum += (uint64_t)info.max_entries * (info.key_size + info.value_size);
		else
			sum += (uint64_t)info.max_entries * info.value_size;
	}
	closedir(dir);
	return sum;
}

static struct sampler *open_sampler(void)
{
	const struct sampler_options options = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.frequency = 99,
		.shards_max = SHARDS,
	};
	struct sampler *s;
	char error[256];
	int err = sampler_new(&options, &s, error, sizeof(error));

	if (err == -EPERM || err == -EACCES)
		skip_without("CAP_BPF");
	if (err)
		fail_msg("%s", error);
	return s;
}

static void all_maps_stay_below_the_limit(void **state)
{
	int cpus = libbpf_num_possible_cpus();
	uint64_t none, all;
	struct ksyms *ksyms = NULL;
	struct sampler *s;

	(void)state;
	assert_int_equal(memlock_maps(&none), 0);
	assert_int_equal(none, 0);
	s = open_sampler();
	ksyms_new(&ksyms);
	assert_int_equal(memlock_maps(&all), 0);
	print_message("# %d CPUs: %.1f MiB without tables\n", cpus, (double)all / MIB);
	assert_true(all >= sum_of_sizes());
	assert_true(all < OVERHEAD_FACTOR * sum_of_sizes());
	assert_true(all < (uint64_t)LIMIT / 2 * (cpus > 2 ? cpus : 2));
	if (ksyms)
		ksyms_free(ksyms);
	sampler_free(s);
	assert_int_equal(memlock_maps(&none), 0);
	assert_int_equal(none, 0);
}

static void a_shard_counts_once(void **state)
{
	struct sampler *s = open_sampler();
	uint64_t before, after;

	(void)state;
	assert_int_equal(memlock_maps(&before), 0);
	assert_int_equal(shardmaps_create(sampler_shards(s), 3), 0);
	assert_int_equal(memlock_maps(&after), 0);
	assert_true(after - before >= SHARD_BYTES && after - before < SHARD_BYTES + 65536);
	/* Another descriptor of each map changes nothing. */
	for (int fd = 3, last = 64; fd < last; fd++)
		if (dup(fd) < 0)
			assert_int_equal(errno, EBADF);
	assert_int_equal(memlock_maps(&before), 0);
	assert_int_equal(before, after);
	sampler_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_maps_stay_below_the_limit),
		cmocka_unit_test(a_shard_counts_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
