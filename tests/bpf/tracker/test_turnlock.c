// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A thread that gives the lock and takes it at once comes after the one that waited. It does so
 * only when it has seen that the other one waits, so no time matters.
 * Covers: bpf/tracker/turnlock.h
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>

#include "bpf/tracker/turnlock.h"

#define ROUNDS 200u

static struct turnlock lock;
static unsigned int served; /* with the lock */

static void *other(void *arg)
{
	for (unsigned int i = 0; i < ROUNDS; i++) {
		turnlock_take(&lock);
		served++;
		turnlock_give(&lock);
	}
	return arg;
}

static void test_turns(void **state)
{
	unsigned int before, passed = 0;
	pthread_t thread;

	(void)state;
	turnlock_init(&lock);
	turnlock_take(&lock);
	assert_false(turnlock_is_wanted(&lock));
	assert_int_equal(pthread_create(&thread, NULL, other, NULL), 0);
	while (served < ROUNDS) {
		while (!turnlock_is_wanted(&lock))
			sched_yield();
		before = served;
		turnlock_give(&lock);
		turnlock_take(&lock);
		passed += served == before;
	}
	turnlock_give(&lock);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(passed, 0);
	assert_false(turnlock_is_wanted(&lock));
	turnlock_destroy(&lock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
