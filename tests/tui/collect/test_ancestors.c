// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who is above a process, against what the kernel says of the test's own family.
 * Covers: tui/collect/ancestors.c tui/profile/parents.c
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tui/collect/ancestors.h"
#include "tui/profile/parents.h"
#include "tui/profile/profile.h"

#define SECOND 1000000000ull

static struct profile_parent parent_of(struct profile *p, pid_t pid)
{
	const struct profile_parent *found;
	struct profile_parent copy = {0};

	profile_lock(p);
	found = query_parent(p, pid);
	if (found)
		copy = *found;
	profile_unlock(p);
	return copy;
}

/* A child with a name that could end too early, and be a command of the terminal. */
static pid_t child_named(const char *comm)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, comm);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void all_above_are_known(void **state)
{
	struct profile *p = profile_new(10, 1000);
	struct ancestors *a = ancestors_new();
	const pid_t child = child_named("a) R 1 (\033[2J");
	const pid_t pids[] = {child, child, 0, -3};
	struct profile_parent at;
	int levels = 0;

	(void)state;
	assert_int_equal(ancestors_feed(a, p, pids, 4, SECOND), 0);
	at = parent_of(p, child);
	assert_int_equal(at.pid, child);
	assert_int_equal(at.ppid, getpid());
	assert_memory_equal(at.comm, "a) R 1 (", 8);
	assert_null(strchr(at.comm, '\033'));
	at = parent_of(p, getpid());
	assert_int_equal(at.ppid, getppid());
	/* Up to the first process. */
	for (pid_t pid = child; pid > 0 && levels < 100; pid = at.ppid, levels++) {
		at = parent_of(p, pid);
		assert_int_equal(at.pid, pid);
	}
	assert_true(levels >= 2 && levels < 100);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	/* What is gone is forgotten when it is read anew, and so is what nothing needs. */
	assert_int_equal(ancestors_feed(a, p, pids, 4, 2 * SECOND), 0);
	assert_int_equal(parent_of(p, child).pid, child);
	assert_int_equal(ancestors_feed(a, p, pids, 4, 20 * SECOND), 0);
	assert_int_equal(parent_of(p, child).pid, 0);
	assert_int_equal(parent_of(p, getpid()).pid, 0);
	ancestors_free(a);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_above_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
