// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sum of what stacktop may take, and the limits of control groups that it is made by.
 * Covers: symbols/base/memory.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "symbols/base/memory.h"
#include "tests/support/scratch.h"
#include "tests/support/shell.h"

#define MIB (1ull << 20)

static char folder[SCRATCH];

static uint64_t sum_of(const struct memory_plan *plan)
{
	uint64_t sum = plan->itself;

	for (unsigned int i = 0; i < MEMORY_PARTS; i++)
		sum += plan->part[i];
	return sum;
}

/* Of a run without a screen: files may be as large as elsewhere. */
static void test_shrink(void **state)
{
	const struct memory_given none = {0};
	struct memory_plan whole, less;

	(void)state;
	memory_plan(&whole, 0, 20 * MIB, &none);
	less = whole;
	memory_plan_shrink(&less);
	assert_int_equal(less.sum, sum_of(&less));
	assert_true(less.sum < whole.sum);
	assert_in_range(less.part[MEMORY_STACKS], whole.part[MEMORY_STACKS] / 3,
			whole.part[MEMORY_STACKS] / 3 + 3);
	assert_int_equal(less.part[MEMORY_BUILD], whole.part[MEMORY_BUILD]);
	assert_int_equal(less.part[MEMORY_READ], whole.part[MEMORY_READ]);
	assert_int_equal(less.part[MEMORY_DEBUG], whole.part[MEMORY_DEBUG]);
}

static void test_sum(void **state)
{
	static const uint64_t sizes[] = {512, 600, 1000, 1500, 2000};
	const struct memory_given none = {0};
	struct memory_plan most, plan, before = {0};

	(void)state;
	memory_plan(&most, (64ull << 10) * MIB, 20 * MIB, &none);
	assert_int_equal(most.sum, sum_of(&most));
	assert_int_equal(most.part[MEMORY_TABLES], 64 * MIB); /* what the manual says of options */
	assert_int_equal(most.part[MEMORY_DEBUG], 256 * MIB);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		/* A group of so many MiB, less what memory_available leaves. */
		uint64_t available = sizes[i] * MIB / 16 * 15;

		memory_plan(&plan, available, 20 * MIB, &none);
		assert_int_equal(plan.sum, sum_of(&plan));
		assert_true(plan.sum + 20 * MIB <= available);
		for (unsigned int p = 0; p < MEMORY_PARTS; p++) {
			assert_in_range(plan.part[p], MIB, most.part[p]);
			assert_true(plan.part[p] >= before.part[p]);
		}
		/* All of it is of use, but for what was rounded. */
		assert_true(plan.sum == most.sum ||
			    plan.sum + (20 + MEMORY_PARTS) * MIB >= available);
		before = plan;
	}
	/* Less than the least of all: that, and who compares sees it. */
	memory_plan(&plan, 100 * MIB, 20 * MIB, &none);
	assert_true(plan.sum > 100 * MIB);
	assert_true(plan.sum <= 480 * MIB);
	/* A browser: 12 MiB of CFI, of which an eighth is taken for the sections. */
	assert_true(plan.part[MEMORY_BUILD] / 8 >= 12 * MIB);
}

static void test_given(void **state)
{
	const struct memory_given given = {.tables = 128 * MIB, .debug = 16 * MIB};
	const struct memory_given large = {.debug = 10000 * MIB};
	struct memory_plan plan;

	(void)state;
	memory_plan(&plan, 800 * MIB, 20 * MIB, &given);
	assert_int_equal(plan.part[MEMORY_TABLES], 128 * MIB);
	assert_int_equal(plan.part[MEMORY_DEBUG], 16 * MIB);
	assert_true(sum_of(&plan) + 20 * MIB <= 800 * MIB);
	memory_plan(&plan, 800 * MIB, 20 * MIB, &large); /* what is asked for is had */
	assert_int_equal(plan.part[MEMORY_DEBUG], 10000 * MIB);
	assert_true(plan.sum > 10000 * MIB);
}

static void test_use(void **state)
{
	const struct memory_given none = {0};
	struct memory_plan plan;

	(void)state;
	assert_null(memory_used());
	assert_int_equal(memory_limit(MEMORY_STACKS), 256 * MIB);
	memory_plan(&plan, 480 * MIB, 20 * MIB, &none);
	memory_use(&plan);
	assert_int_equal(memory_limit(MEMORY_STACKS), plan.part[MEMORY_STACKS]);
	assert_true(memory_limit(MEMORY_STACKS) < 256 * MIB);
	assert_int_equal(memory_used()->sum, plan.sum);
}

static uint64_t limit_of(const char *groups)
{
	char self[SCRATCH + 16];

	snprintf(self, sizeof(self), "%s/self", folder);
	must("cd %s && printf '%s' >self", folder, groups);
	return memory_of_cgroup(folder, self);
}

static void test_version_2(void **state)
{
	(void)state;
	must("cd %s && mkdir -p a/b/c && echo max >a/b/c/memory.max && echo 300000000 >a/b/memory.max "
	     "&& echo 400000000 >a/memory.max",
	     folder);
	assert_int_equal(limit_of("0::/a/b/c\\n"), 300000000);
	assert_int_equal(limit_of("0::/a\\n"), 400000000);
	assert_int_equal(limit_of("0::/\\n"), UINT64_MAX); /* the root has no such file */
	assert_int_equal(limit_of("0::/not/there\\n"), UINT64_MAX);
	/* In a namespace of its own the root is the group's. */
	must("echo 500000000 >%s/memory.max", folder);
	assert_int_equal(limit_of("0::/\\n"), 500000000);
	assert_int_equal(limit_of("0::/a/b/c\\n"), 300000000);
	must("rm %s/memory.max", folder);
}

static void test_version_1(void **state)
{
	(void)state;
	must("cd %s && mkdir -p memory/x/y cpu/x && echo 9223372036854771712 "
	     ">memory/memory.limit_in_bytes && echo 250000000 >memory/x/memory.limit_in_bytes && "
	     "echo 9223372036854771712 >memory/x/y/memory.limit_in_bytes && "
	     "echo 1 >cpu/x/memory.limit_in_bytes",
	     folder);
	assert_int_equal(limit_of("2:cpu,cpuacct:/x\\n4:memory:/x/y\\n0::/\\n"), 250000000);
	assert_int_equal(limit_of("4:hugetlb,memory:/x\\n"), 250000000);
	assert_int_equal(limit_of("4:memory:/\\n"), UINT64_MAX);
	assert_int_equal(limit_of("4:memory2,amemory:/x\\n"), UINT64_MAX);
	assert_int_equal(limit_of("4:memory:/x/y\\n0::/a\\n"), 250000000); /* 400 above */
}

static void test_nonsense(void **state)
{
	(void)state;
	assert_int_equal(limit_of(""), UINT64_MAX);
	assert_int_equal(limit_of("::::\\n"), UINT64_MAX);
	assert_int_equal(limit_of("memory\\n\\n4:memory\\n"), UINT64_MAX);
	must("cd %s && mkdir -p odd && echo x >odd/memory.max", folder);
	assert_int_equal(limit_of("0::/odd\\n"), UINT64_MAX);
	assert_int_equal(memory_of_cgroup(folder, "/not/there"), UINT64_MAX);
	assert_true(memory_available() > MIB);
}

static int make_folder(void **state)
{
	(void)state;
	scratch_folder(folder, "memory");
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	must("rm -r %s", folder);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sum),	  cmocka_unit_test(test_shrink),
		cmocka_unit_test(test_given),	  cmocka_unit_test(test_use),
		cmocka_unit_test(test_version_2), cmocka_unit_test(test_version_1),
		cmocka_unit_test(test_nonsense),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
