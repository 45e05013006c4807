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
#include <stdlib.h>
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

/* What the environment says, as far as it is a number that makes sense. */
static void test_environment(void **state)
{
	static const struct {
		const char *text;
		unsigned int ms;
	} cases[] = {{"0", 0},		 {"5000", 5000},
		     {"600000", 600000}, {"600001", 800},
		     {"", 800},		 {"x", 800},
		     {"5x", 800},	 {"-1", 800},
		     {"1e3", 800},	 {"99999999999999999999", 800}};

	(void)state;
	unsetenv("STACKTOP_END_MS");
	assert_int_equal(leave_ms(), 800);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		setenv("STACKTOP_END_MS", cases[i].text, 1);
		assert_int_equal(leave_ms(), cases[i].ms);
	}
	unsetenv("STACKTOP_END_MS");
}

/* What is freed in time leaves no thread behind, and can be told again. */
static void test_done(void **state)
{
	(void)state;
	leave_done();
	for (int i = 0; i < 3; i++) {
		leave_within(3600 * 1000, 7);
		leave_done();
		leave_done();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_environment), cmocka_unit_test(test_done),
		cmocka_unit_test(test_stuck),	    cmocka_unit_test(test_in_time),
		cmocka_unit_test(test_now),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
