// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Numbers of PID namespaces: what a line of /proc/PID/status says, and that a process in a new
 * namespace is found at the level below that of its parent, by the number that it has there.
 * Covers: bpf/sampler/pidns.c bpf/prog/pidns.bpf.c bpf/prog/pidns.bpf.h
 */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/sampler/pidns.h"
#include "tests/support/rights.h"

#define UNABLE 99

static void test_numbers(void **state)
{
	static const struct {
		const char *line;
		unsigned int count;
		long first;
	} cases[] = {
		{"NSpid:\t1\n", 1, 1},
		{"NSpid:\t4194304\t17\t1\n", 3, 4194304},
		{"NSpid:\t12", 1, 12},
		{"NSpid: 7 \t 8 \n", 2, 7},
		{"NSpid:\n", 0, 0},
		{"NSpid:", 0, 0},
		{"NSpid:\t-1\n", 0, 0},
		{"NSpid:\t0\n", 0, 0},
		{"NSpid:\tx\n", 0, 0},
		{"NSpid:\t99999999999999999999\n", 0, 0},
		{"NStgid:\t5\n", 0, 0},
		{"Name:\tNSpid:\t5\n", 0, 0},
		{"", 0, 0},
	};
	long first;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(pidns_numbers(cases[i].line, &first), cases[i].count);
		if (cases[i].count)
			assert_int_equal(first, cases[i].first);
	}
}

/* Runs fn in a new PID namespace; its result, UNABLE where there can be none. */
static int in_namespace(int (*fn)(const struct pidns *above), const struct pidns *above)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		if (unshare(CLONE_NEWPID | CLONE_NEWNS))
			_exit(UNABLE);
		pid = fork();
		if (!pid)
			_exit(fn(above));
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			_exit(UNABLE);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 98);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void need_namespace(int result)
{
	if (result != UNABLE)
		return;
	need_sys_admin();
	skip_since("no PID namespace here");
}

/* 0, or which of what must be true is not. */
static int look(const struct pidns *above)
{
	struct pidns ns;
	struct stat st;
	char error[256];

	if (pidns_has_proc(error, sizeof(error)))
		return 1;
	if (!strstr(error, "mount"))
		return 2;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("proc", "/proc", "proc", 0, NULL))
		return UNABLE;
	if (!pidns_has_proc(error, sizeof(error)))
		return 3;
	if (pidns_is_initial())
		return 4;
	if (stat("/proc/self/ns/pid", &st) || pidns_read(&ns, error, sizeof(error)))
		return 5;
	if (ns.inode != st.st_ino)
		return 6;
	return ns.level == above->level + 1 ? 0 : 7;
}

static int look_below(const struct pidns *above)
{
	const struct pidns here = {.level = above->level + 1};
	int result = look(above);

	return result ? result : in_namespace(look, &here);
}

static void test_levels(void **state)
{
	struct pidns ns;
	char error[256] = "";
	int result;

	(void)state;
	need_sampling();
	assert_true(pidns_has_proc(error, sizeof(error)));
	assert_int_equal(pidns_read(&ns, error, sizeof(error)), 0);
	assert_int_equal(pidns_is_initial(), ns.level == 0);
	result = in_namespace(look_below, &ns);
	need_namespace(result);
	assert_int_equal(result, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_levels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
