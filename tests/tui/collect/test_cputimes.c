// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How busy CPUs were between two readings of their times, also where CPUs come and go, and on this
 * machine.
 * Covers: tui/collect/cputimes.c bpf/sampler/events.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tui/collect/cputimes.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void shares_are_of_the_time_between(void **state)
{
	struct cpu_times before[] = {{1, 100, 10, 1000}, {0, 200, 20, 2000}};
	struct cpu_times now[] = {{0, 250, 45, 2100}, {1, 100, 10, 1100}};
	struct cpu_use use[2];

	(void)state;
	assert_int_equal(cputimes_between(before, 2, now, 2, use), 2);
	assert_int_equal(use[0].cpu, 0);
	assert_int_equal(use[0].user, 500);
	assert_int_equal(use[0].kernel, 250);
	assert_int_equal(use[1].cpu, 1);
	assert_int_equal(use[1].user + use[1].kernel, 0);
}

/* One that came has no beginning, one that went no end. */
static void only_cpus_of_both_ends_are_told(void **state)
{
	struct cpu_times before[] = {{0, 0, 0, 0}, {3, 0, 0, 0}, {5, 0, 0, 0}};
	struct cpu_times now[] = {{7, 10, 0, 10}, {5, 10, 0, 20}, {0, 10, 0, 40}, {4, 9, 9, 99}};
	struct cpu_use use[4];

	(void)state;
	assert_int_equal(cputimes_between(before, COUNT(before), now, COUNT(now), use), 2);
	assert_int_equal(use[0].cpu, 0);
	assert_int_equal(use[0].user, 250);
	assert_int_equal(use[1].cpu, 5);
	assert_int_equal(use[1].user, 500);
	assert_int_equal(cputimes_between(NULL, 0, NULL, 0, use), 0);
}

/* Counters that fall, or do not add up, are no more than all of the time. */
static void nothing_is_more_than_all(void **state)
{
	struct cpu_times before[] = {{0, 100, 100, 1000}, {1, 0, 0, 1000}, {2, 5, 5, 10}};
	struct cpu_times now[] = {{0, 50, 200, 500}, {1, 70, 60, 1100}, {2, 5, 5, 11}};
	struct cpu_use use[3];

	(void)state;
	/* Of the first it is not known how long it was: its time has become less. */
	assert_int_equal(cputimes_between(before, 3, now, 3, use), 2);
	assert_int_equal(use[0].cpu, 1);
	assert_in_range(use[0].user + use[0].kernel, 999, 1000); /* each rounded down */
	assert_int_equal(use[1].cpu, 2);
	assert_int_equal(use[1].user, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_are_of_the_time_between),
		cmocka_unit_test(only_cpus_of_both_ends_are_told),
		cmocka_unit_test(nothing_is_more_than_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
