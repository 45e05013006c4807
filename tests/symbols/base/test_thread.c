// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Threads that fill their stack: a handler still runs, and tells so by how the process ends.
 * Covers: symbols/base/thread.c
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbols/base/thread.h"

#define HANDLED 7

static void on_fault(int signal)
{
	(void)signal;
	_exit(HANDLED);
}

static volatile bool goes_on = true;

/* What is kept until after the call keeps it from becoming a loop. */
static int __attribute__((noinline)) recurse(volatile char *above)
{
	volatile char here[4096];

	here[0] = (char)(above[0] + 1);
	return goes_on ? recurse(here) + here[0] : 0;
}

static void *fill_stack(void *arg)
{
	volatile char first = 0;

	(void)arg;
	return (void *)(intptr_t)recurse(&first);
}

static void *raise_fault(void *arg)
{
	raise(*(int *)arg);
	return NULL;
}

static void *return_arg(void *arg)
{
	return arg;
}

/* How a process ends in which a thread does that. */
static int end_of(void *(*run)(void *arg), void *arg)
{
	pid_t pid = fork();
	int end;

	assert_true(pid >= 0);
	if (pid == 0) {
		struct sigaction on = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
		struct rlimit none = {0, 0};
		pthread_t thread;

		setrlimit(RLIMIT_CORE, &none);
		sigaction(SIGSEGV, &on, NULL);
		sigaction(SIGABRT, &on, NULL);
		if (thread_start(&thread, run, arg))
			_exit(1);
		pthread_join(thread, NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &end, 0), pid);
	return end;
}

static void a_full_stack_is_handled(void **state)
{
	int end = end_of(fill_stack, NULL);

	(void)state;
	assert_true(WIFEXITED(end));
	assert_int_equal(WEXITSTATUS(end), HANDLED);
}

static void crashes_are_not_blocked(void **state)
{
	int crash = SIGABRT, term = SIGTERM;
	int end = end_of(raise_fault, &crash);

	(void)state;
	assert_true(WIFEXITED(end) && WEXITSTATUS(end) == HANDLED);
	/* What asks waits for the main thread, which has its own idea of it. */
	end = end_of(raise_fault, &term);
	assert_true(WIFEXITED(end) && WEXITSTATUS(end) == 0);
}

static void results_are_handed_up(void **state)
{
	pthread_t threads[20];
	sigset_t before, after;
	void *result;

	(void)state;
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	for (size_t i = 0; i < 20; i++)
		assert_int_equal(thread_start(&threads[i], return_arg, &threads[i]), 0);
	for (size_t i = 0; i < 20; i++) {
		assert_int_equal(pthread_join(threads[i], &result), 0);
		assert_ptr_equal(result, &threads[i]);
	}
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (int signal = 1; signal < SIGRTMIN; signal++)
		assert_int_equal(sigismember(&after, signal), sigismember(&before, signal));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_stack_is_handled),
		cmocka_unit_test(crashes_are_not_blocked),
		cmocka_unit_test(results_are_handed_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
