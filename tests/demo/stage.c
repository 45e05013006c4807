/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The programs of docs/demo.session: starts and ends the other programs of the demonstration at
 * their times. A shell script would not do: its sleeps would be processes, too.
 */
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS 60

static const struct act {
	unsigned int from, to; /* seconds */
	const char *argv[4];
} acts[] = {
	{0, SECONDS, {"service", "46", "54"}},
	{1, 18, {"hotloop"}},
	{2, 12, {"shop.py"}},
	{4, 22, {"recursion"}},
	{12, 28, {"kernelbound"}},
	{18, 32, {"jit"}},
	{24, 34, {"convoy"}},
	/* Waits. */
	{33, 42, {"journal"}},
	{34, 41, {"relay"}},
	{34, 41, {"starved"}},
};

#define ACTS (sizeof(acts) / sizeof(acts[0]))

static pid_t start(const struct act *act)
{
	pid_t pid = fork();

	if (pid == 0) {
		/* No program outlives the stage. */
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (freopen("/dev/null", "w", stdout))
			execv(act->argv[0], (char *const *)act->argv);
		perror(act->argv[0]);
		_exit(127);
	}
	return pid;
}

static void end(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	char here[PATH_MAX];
	pid_t pids[ACTS] = {0};

	(void)argc;
	snprintf(here, sizeof(here), "%s", argv[0]);
	if (chdir(dirname(here))) {
		perror(argv[0]);
		return EXIT_FAILURE;
	}
	for (unsigned int second = 0; second <= SECONDS; second++) {
		for (size_t i = 0; i < ACTS; i++) {
			if (acts[i].from == second)
				pids[i] = start(&acts[i]);
			if (acts[i].to == second)
				end(pids[i]);
		}
		if (second < SECONDS)
			sleep(1);
	}
	return EXIT_SUCCESS;
}
