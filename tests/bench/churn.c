// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * churn RATE SECONDS PROGRAM: starts a program RATE times a second (0: as often as possible),
 * without waiting for its end, and prints `STARTED CPU_NS WALL_NS`: the CPU time includes that of
 * the started programs. If it cannot keep pace it starts fewer.
 */
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS	    1000000000ull
#define OUTSTANDING 8 /* processes at a time: a storm, not a crowd */

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NS + ts.tv_nsec;
}

static uint64_t cpu_ns(int who)
{
	struct rusage use;

	getrusage(who, &use);
	return (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * NS +
	       (use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1000ull;
}

static void start(const char *program)
{
	pid_t pid = vfork();

	if (pid < 0)
		err(1, "vfork");
	if (!pid) {
		execl(program, program, (char *)NULL);
		_exit(127);
	}
}

static void sleep_until(uint64_t time)
{
	const struct timespec ts = {(time_t)(time / NS), (long)(time % NS)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

int main(int argc, char **argv)
{
	uint64_t began, end, due, step, started = 0;
	unsigned int outstanding = 0;
	double rate;

	if (argc != 4)
		errx(2, "usage: churn RATE SECONDS PROGRAM");
	rate = strtod(argv[1], NULL);
	step = rate > 0 ? (uint64_t)((double)NS / rate) : 0;
	began = due = now();
	end = began + (uint64_t)(strtod(argv[2], NULL) * (double)NS);
	while (now() < end) {
		start(argv[3]);
		started++;
		outstanding++;
		while (outstanding &&
		       waitpid(-1, NULL, outstanding < OUTSTANDING ? WNOHANG : 0) > 0)
			outstanding--;
		due += step;
		if (due > now())
			sleep_until(due);
		else
			due = now(); /* missed starts are not made up for */
	}
	while (outstanding && waitpid(-1, NULL, 0) > 0)
		outstanding--;
	printf("%llu %llu %llu\n", (unsigned long long)started,
	       (unsigned long long)(cpu_ns(RUSAGE_SELF) + cpu_ns(RUSAGE_CHILDREN)),
	       (unsigned long long)(now() - began));
	return 0;
}
