// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Walks its own stack by again.bpf.c, a few thousand times at each of several depths, and prints
 * `FRAMES ALONG MEDIAN P10` in ns: the median run and the 10th percentile; ALONG is 1 for walks by
 * the rows of the walk before.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/prog/layout.h"
#include "tests/bench/again.h"
#include "tests/unwind/stepreal.h"

#define RUNS 2000

static int program;

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static NOINLINE void measure(unsigned int along)
{
	/* in the order of enum dwarf_reg */
	static const int from[DWARF_COUNT] = {
		REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
		REG_R9,	 REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
	};
	struct again a = {.list_count = list_count, .along = along};
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &a, .ctx_size_in = sizeof(a));
	static uint64_t ns[RUNS];
	ucontext_t here;

	assert_int_equal(getcontext(&here), 0);
	for (int i = 0; i < DWARF_COUNT; i++)
		a.regs[i] = (uint64_t)here.uc_mcontext.gregs[from[i]];
	for (int i = 0; i < RUNS; i++) {
		assert_int_equal(bpf_prog_test_run_opts(program, &options), 0);
		assert_int_equal(a.reason, WALK_BOTTOM);
		ns[i] = a.ns;
	}
	qsort(ns, RUNS, sizeof(ns[0]), by_value);
	printf("%u %u %llu %llu\n", a.nframes, along, (unsigned long long)ns[RUNS / 2],
	       (unsigned long long)ns[RUNS / 10]);
}

static NOINLINE int nest(int n, unsigned int along)
{
	int r = 0;

	if (n > 0)
		r = nest(n - 1, along);
	else
		measure(along);
	KEEP(r);
	return r + 1;
}

static void *map_memory(struct bpf_object *object, const char *name, size_t size)
{
	int fd = bpf_object__find_map_fd_by_name(object, name);
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	return at;
}

/* Copies the tables that setup made on the host to where the program looks for them. */
static void fill_maps(struct bpf_object *object)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	int shards = bpf_object__find_map_fd_by_name(object, "shards");

	for (__u32 i = 0; i < list_count; i++)
		host.entries[i].frame = FRAME_OF(1, 0); /* of a file, whose rows are kept */

	memcpy(map_memory(object, "map_lists", MAP_ENTRIES_MAX * sizeof(*host.entries)),
	       host.entries, list_count * sizeof(*host.entries));
	memcpy(map_memory(object, "wide_rules", WIDE_RULES_MAX * sizeof(*host.wide)), host.wide,
	       WIDE_RULES_MAX * sizeof(*host.wide));
	for (__u32 i = 0, zero = 0; i < HOST_SHARDS; i++) {
		int shard;

		if (!host.shards[i])
			continue;
		shard = bpf_map_create(BPF_MAP_TYPE_ARRAY, "shard", 4, SHARD_BYTES, 1, &options);
		assert_true(shard >= 0);
		assert_int_equal(bpf_map_update_elem(shard, &zero, host.shards[i], 0), 0);
		assert_int_equal(bpf_map_update_elem(shards, &i, &shard, 0), 0);
	}
}

static void run(void **state)
{
	static const int depths[] = {1, 10, 30, 100, 500};
	struct bpf_object *object = bpf_object__open_file(getenv("AGAIN_OBJECT"), NULL);
	struct bpf_program *each;

	(void)state;
	assert_non_null(object);
	bpf_object__for_each_program(each, object)
		bpf_program__set_autoload(each, !strcmp(bpf_program__name(each), "again"));
	bpf_map__set_max_entries(bpf_object__find_map_by_name(object, "trails"),
				 TRAILS * (uint32_t)libbpf_num_possible_cpus());
	bpf_map__set_max_entries(bpf_object__find_map_by_name(object, "rows"),
				 (uint32_t)libbpf_num_possible_cpus() << ROWS_SHIFT);
	assert_int_equal(bpf_object__load(object), 0);
	program = bpf_program__fd(bpf_object__find_program_by_name(object, "again"));
	fill_maps(object);
	for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++)
		for (unsigned int along = 0; along < 2; along++)
			nest(depths[i], along);
	bpf_object__close(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(run, setup, teardown)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
