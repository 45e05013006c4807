// SPDX-License-Identifier: GPL-2.0-or-later
/* Covers: bpf/tracker/tracker.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "bpf/tracker/tracker_priv.h"

#define BEGIN  5000000000ull /* a machine that has just been started */
#define SECOND 1000000000ull

/* Readings without a pause that are asked for at one moment. */
static unsigned int at_once(struct pace *pace, uint64_t now)
{
	unsigned int n = 0;

	do
		n++;
	while (!pace_wait(pace, PACE_NS, true, now) && n < 1000);
	return n;
}

/* So many commands may be started together before one has to wait. */
static void few_come_at_once(void **state)
{
	struct pace pace = {0};

	(void)state;
	assert_int_equal(pace_wait(&pace, PACE_NS, false, BEGIN), 0);
	assert_int_equal(at_once(&pace, BEGIN), PACE_AT_ONCE);
	assert_int_equal(pace_wait(&pace, PACE_NS, false, BEGIN), PACE_NS);
}

/* With records that never end a reading comes each PACE_NS, and no wait is longer than that. */
static void storm_is_paced(void **state)
{
	struct pace pace = {0};
	uint64_t now = BEGIN, wait;
	unsigned int n = 0;

	(void)state;
	while (now < BEGIN + SECOND) {
		n++;
		wait = pace_wait(&pace, PACE_NS, true, now);
		assert_true(wait <= PACE_NS);
		now += wait ? wait : 1000; /* the next record is there a microsecond later */
	}
	assert_in_range(n, SECOND / PACE_NS, SECOND / PACE_NS + PACE_AT_ONCE + 1);
}

/* Readings that are as rare as that are never put off, and neither is one after a while. */
static void rare_is_not_paced(void **state)
{
	struct pace pace = {0};
	uint64_t now = BEGIN;

	(void)state;
	for (unsigned int i = 0; i < 1000; i++, now += PACE_NS)
		assert_int_equal(pace_wait(&pace, PACE_NS, true, now), 0);
	now += SECOND;
	assert_int_equal(at_once(&pace, now), PACE_AT_ONCE);
	assert_int_equal(at_once(&pace, now + SECOND), PACE_AT_ONCE);
}

/* What else wakes the tracker does not shorten the pause: the wait ends at the same moment. */
static void wakes_do_not_count(void **state)
{
	struct pace pace = {0};

	(void)state;
	at_once(&pace, BEGIN);
	assert_int_equal(pace_wait(&pace, PACE_NS, false, BEGIN + PACE_NS / 4), PACE_NS / 4 * 3);
	assert_int_equal(pace_wait(&pace, PACE_NS, false, BEGIN + PACE_NS), 0);
}

/* Of a longer pace nothing is left when a shorter one comes. */
static void pace_may_change(void **state)
{
	struct pace pace = {0};

	(void)state;
	for (unsigned int i = 1; i < PACE_AT_ONCE; i++)
		assert_int_equal(pace_wait(&pace, PACE_FILES_NS, true, BEGIN), 0);
	assert_int_equal(pace_wait(&pace, PACE_FILES_NS, true, BEGIN), PACE_FILES_NS);
	assert_int_equal(pace_wait(&pace, PACE_NS, false, BEGIN), PACE_NS);
	assert_int_equal(pace_wait(&pace, PACE_NS, false, BEGIN + PACE_NS), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_come_at_once),  cmocka_unit_test(storm_is_paced),
		cmocka_unit_test(rare_is_not_paced), cmocka_unit_test(wakes_do_not_count),
		cmocka_unit_test(pace_may_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
