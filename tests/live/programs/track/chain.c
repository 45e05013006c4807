/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * MS [PROGRAM ARG...]: spins in NAME_spin for MS milliseconds, then executes the program or ends.
 * They are of CPU time, so a busy machine takes as many samples. The kernel counts it in ticks of
 * up to 10 ms.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "plugin.c"

static volatile int stop;

static void on_alarm(int signal)
{
	(void)signal;
	stop = 1;
}

int main(int argc, char **argv)
{
	struct itimerval timer = {{0, 0}, {0, 0}};
	long ms = argc > 1 ? atol(argv[1]) : 1000;

	timer.it_value.tv_sec = ms / 1000;
	timer.it_value.tv_usec = ms % 1000 * 1000;
	signal(SIGALRM, on_alarm);
	signal(SIGPROF, on_alarm);
	setitimer(ms < 10 ? ITIMER_REAL : ITIMER_PROF, &timer, NULL);
	JOIN(NAME, _one)(&stop);
	if (argc > 2)
		execv(argv[2], argv + 2);
	return argc > 2;
}
