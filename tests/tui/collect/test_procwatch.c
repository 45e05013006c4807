// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is said of a process whose walk is waited for: it sleeps, it is gone, it is the kernel's.
 * Covers: tui/collect/procwatch.c
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbols/files/procstat.h"
#include "tests/support/feed.h"
#include "tui/collect/procwatch.h"
#include "tui/profile/board.h"

static void a_process_is_watched_to_its_end(void **state)
{
	struct board *board = board_new();
	struct procwatch w = {0};
	struct procstate s = {0};
	struct procstat stat;
	uint64_t now = NS;
	pid_t pid = fork();

	(void)state;
	if (!pid)
		for (;;)
			pause();
	assert_false(procwatch_turn(&w, board, now)); /* nothing is asked for */
	do
		assert_int_equal(procstat_read(pid, &stat), 0);
	while (stat.state != 'S');
	procwatch_begin(&w, pid);
	assert_true(procwatch_turn(&w, board, now += NS));
	assert_true(board_procstate(board, pid, &s));
	assert_int_equal(s.pid, pid);
	assert_int_equal(s.state, 'S');
	assert_false(s.kthread);
	assert_non_null(strstr(s.comm, "test_proc"));
	assert_false(board_procstate(board, pid + 1, &s));
	assert_false(procwatch_turn(&w, board, now + 1)); /* so soon */
	kill(pid, SIGSTOP);
	waitpid(pid, NULL, WUNTRACED);
	assert_true(procwatch_turn(&w, board, now += NS));
	assert_true(board_procstate(board, pid, &s));
	assert_int_equal(s.state, 'T');
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_true(procwatch_turn(&w, board, now += NS));
	assert_true(board_procstate(board, pid, &s));
	assert_int_equal(s.state, 0);
	assert_false(procwatch_turn(&w, board, now += NS)); /* nothing new */
	procwatch_end(&w, pid + 1);
	assert_int_equal(w.pid, pid);
	procwatch_end(&w, pid);
	assert_int_equal(w.pid, 0);
	board_free(board);
}

/* This process, which reads the file itself: "0" stands there, which is no function. */
static void one_that_runs_waits_nowhere(void **state)
{
	struct board *board = board_new();
	struct procwatch w = {0};
	struct procstate s;

	(void)state;
	procwatch_begin(&w, getpid());
	assert_true(procwatch_turn(&w, board, NS));
	assert_true(board_procstate(board, getpid(), &s));
	assert_int_equal(s.state, 'R');
	assert_string_equal(s.where, "");
	board_free(board);
}

static void threads_of_the_kernel_are_told_apart(void **state)
{
	struct board *board = board_new();
	struct procwatch w = {0};
	struct procstate s;

	(void)state;
	procwatch_begin(&w, 2);
	procwatch_turn(&w, board, NS);
	assert_true(board_procstate(board, 2, &s));
	if (strcmp(s.comm, "kthreadd") == 0) /* not within a PID namespace */
		assert_true(s.kthread);
	board_free(board);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_is_watched_to_its_end),
		cmocka_unit_test(one_that_runs_waits_nowhere),
		cmocka_unit_test(threads_of_the_kernel_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
