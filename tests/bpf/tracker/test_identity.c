// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which process it is: what /proc/PID/stat says of the start of processes with names that look like
 * its fields, and that the end of one is seen when another process has its number. The time since
 * boot before and after the fork says when a process can have started.
 * Covers: bpf/tracker/identity.c symbols/files/procstat.c
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/tracker/identity.h"
#include "symbols/files/procstat.h"

static uint64_t ticks(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 100 + (uint64_t)t.tv_nsec / 10000000;
}

/* A child of that name, which it has when this returns. */
static pid_t start(const char *name)
{
	int fds[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, name);
		if (write(fds[1], "", 1) == 1)
			for (;;)
				pause();
		_exit(1);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 1);
	close(fds[0]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_names(void **state)
{
	static const char *const names[] = {
		"plain", ") R 1 1 1 1 1", "(", ")", "a b c", "))) 0 0 0 0 0", "\n) S 1", "%s%n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		uint64_t before = ticks(), after;
		pid_t pid = start(names[i]);
		struct procstat s;

		after = ticks();
		assert_int_equal(procstat_read(pid, &s), 0);
		assert_in_range(s.start, before, after);
		assert_int_equal(s.ppid, getpid());
		assert_string_equal(s.comm, names[i]);
		end(pid);
	}
}

static void test_end(void **state)
{
	pid_t pid = start("ends");
	struct identity id, bare, late;
	struct procstat s;

	(void)state;
	identity_take(&id, pid, true);
	identity_take(&bare, pid, false);
	assert_true(id.fd >= 0);
	assert_int_equal(bare.fd, -1);
	assert_int_equal(bare.start, id.start);
	assert_int_equal(procstat_read(pid, &s), 0);
	assert_int_equal(id.start, s.start);
	assert_false(identity_has_ended(&id));
	assert_false(identity_has_ended(&bare));
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
	/* a zombie still has the number */
	assert_true(identity_has_ended(&id));
	assert_true(identity_has_ended(&bare));
	identity_take(&late, pid, true);
	assert_true(late.ended);
	assert_int_equal(late.start, 0);
	end(pid);
	assert_true(id.ended);
	identity_drop(&id);
	identity_drop(&late);
	identity_take(&late, pid, true);
	assert_true(late.ended);
	identity_drop(&late);
}

/* It has the number, and another start. */
static void test_other(void **state)
{
	struct identity id;
	pid_t pid = start("other");

	(void)state;
	identity_take(&id, pid, false);
	id.start--;
	assert_true(identity_has_ended(&id));
	end(pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
