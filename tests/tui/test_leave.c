// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Covers: tui/leave.c
 *
 * The process ends by itself with the status it was told, also when its main thread never comes
 * back. Each end is that of a child.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tui/leave.h"

static int end_of(pid_t child)
{
	int status;

	assert_true(child > 0);
	assert_int_equal(TEMP_FAILURE_RETRY(waitpid(child, &status, 0)), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_stuck(void **state)
{
	pid_t child = fork();

	(void)state;
	if (!child) {
		leave_within(20, 7);
		for (;;)
			pause();
	}
	assert_int_equal(end_of(child), 7);
}

/* One that ends in time is not hurried. */
static void test_in_time(void **state)
{
	pid_t child = fork();

	(void)state;
	if (!child) {
		leave_within(3600 * 1000, 7);
		_exit(8);
	}
	assert_int_equal(end_of(child), 8);
}

static void test_now(void **state)
{
	char text[16] = "";
	int ends[2];
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (!child) {
		dup2(ends[1], STDOUT_FILENO);
		printf("written");
		leave_now(9);
	}
	close(ends[1]);
	assert_int_equal(end_of(child), 9);
	assert_int_equal(read(ends[0], text, sizeof(text) - 1), strlen("written"));
	assert_string_equal(text, "written");
	close(ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stuck),
		cmocka_unit_test(test_in_time),
		cmocka_unit_test(test_now),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
