// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Clocks in time namespaces that begin before and after the machine did. What the kernel's own
 * clock is says /proc/timer_list, which knows of no namespaces; when a process was started is said
 * by the test, which started it.
 * Covers: symbols/files/kernelclock.c symbols/files/procfile.c
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbols/files/kernelclock.h"
#include "symbols/files/procfile.h"
#include "tests/support/rights.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

enum end { GOOD, BAD, CANNOT };

#define YEAR	  31536000ll
#define UNCHANGED (-1ll)

/* 0: not shown. */
static uint64_t kernels_own(void)
{
	FILE *file = fopen("/proc/timer_list", "re");
	uint64_t now = 0;
	char line[256];

	while (file && !now && fgets(line, sizeof(line), file))
		if (sscanf(line, "now at %" SCNu64 " nsecs", &now) != 1)
			now = 0;
	if (file)
		fclose(file);
	return now;
}

static enum end clock_is_the_kernels(void)
{
	uint64_t before = kernelclock_now(), own = kernels_own(), after = kernelclock_now();

	if (!own)
		return CANNOT;
	if (before <= own && own <= after)
		return GOOD;
	fprintf(stderr, "%" PRIu64 " is not from %" PRIu64 " to %" PRIu64 "\n", own, before, after);
	return BAD;
}

static long long entered; /* seconds that the namespace adds */

static enum end offset_is_known(void)
{
	uint64_t ns;

	if (kernelclock_boottime_offset(&ns) && ns == (uint64_t)entered * 1000000000u)
		return GOOD;
	fprintf(stderr, "%" PRIu64 " ns are not %lld s\n", ns, entered);
	return BAD;
}

static pid_t started;
static time_t started_at;

/* It was just started, on a machine whose clocks may be read late. */
static enum end start_is_known(void)
{
	struct procfile_owner owner;

	if (procfile_owner(started, &owner))
		return BAD;
	if (owner.start > started_at - YEAR && owner.start < started_at + YEAR)
		return GOOD;
	fprintf(stderr, "%" PRId64 " is not about %lld\n", owner.start, (long long)started_at);
	return BAD;
}

static enum end run(enum end (*look)(void))
{
	pid_t parent = getpid(), pid = fork();
	int end;

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(getppid() == parent ? look() : BAD);
	}
	if (pid < 0 || waitpid(pid, &end, 0) != pid || !WIFEXITED(end))
		return BAD;
	return WEXITSTATUS(end);
}

/* The clocks of the children to come stand at so many seconds, or go on as they are. */
static bool enter(long long seconds)
{
	/* They are counted from the first namespace's. */
	const long long offset = seconds - (long long)(kernels_own() / 1000000000);
	char text[128];
	ssize_t n;
	int fd;

	if (unshare(CLONE_NEWTIME))
		return false;
	if (seconds == UNCHANGED)
		return true;
	n = snprintf(text, sizeof(text), "monotonic %lld 600000000\nboottime %lld 0\n", offset,
		     offset);
	fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, (size_t)n) != n)
		return false;
	entered = offset;
	close(fd);
	return true;
}

/* In children, since a process reads its offsets only once. */
static enum end within(long long seconds, bool parent_itself, enum end (*look)(void))
{
	pid_t pid = fork();
	int end;

	if (!pid) {
		if (!enter(seconds))
			_exit(CANNOT);
		_exit(parent_itself ? look() : run(look));
	}
	if (pid < 0 || waitpid(pid, &end, 0) != pid || !WIFEXITED(end))
		return BAD;
	return WEXITSTATUS(end);
}

static void check(enum end end)
{
	if (end == CANNOT) {
		need_sys_admin();
		skip_since("no such clock here");
	}
	assert_int_equal(end, GOOD);
}

static const long long clocks[] = {0, 100000, 50 * YEAR, UNCHANGED};

#define NCLOCKS (sizeof(clocks) / sizeof(clocks[0]))

static void the_clock_here(void **state)
{
	(void)state;
	check(run(clock_is_the_kernels));
}

static void the_clock_of_a_namespace(void **state)
{
	(void)state;
	for (size_t i = 0; i < NCLOCKS; i++)
		check(within(clocks[i], false, clock_is_the_kernels));
}

/* The one that called unshare is not in what it has made. */
static void the_clock_of_whom_its_children_leave(void **state)
{
	(void)state;
	for (size_t i = 0; i < NCLOCKS; i++)
		check(within(clocks[i], true, clock_is_the_kernels));
}

static void what_is_added_to_the_time_since_boot(void **state)
{
	(void)state;
	for (size_t i = 0; i < NCLOCKS; i++)
		if (clocks[i] != UNCHANGED)
			check(within(clocks[i], false, offset_is_known));
}

static void the_start_of_a_process(void **state)
{
	(void)state;
	started_at = time(NULL);
	started = fork();
	assert_true(started >= 0);
	if (!started) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	usleep(1100000); /* then the youngest clock stood at 0 */
	assert_int_equal(run(start_is_known), GOOD);
	for (size_t i = 0; i < NCLOCKS; i++) {
		enum end end = within(clocks[i], false, start_is_known);

		if (end != CANNOT)
			assert_int_equal(end, GOOD);
	}
	kill(started, SIGKILL);
	assert_int_equal(waitpid(started, NULL, 0), started);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_clock_here),
		cmocka_unit_test(the_clock_of_a_namespace),
		cmocka_unit_test(the_clock_of_whom_its_children_leave),
		cmocka_unit_test(what_is_added_to_the_time_since_boot),
		cmocka_unit_test(the_start_of_a_process),
	};

	return cmocka_run_group_tests_name("kernelclock", tests, NULL, NULL);
}
