/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two programs that execute each other: built once with -DNAME=alpha and once with -DNAME=bravo.
 * Both get the same arguments, so that without address randomization their stacks begin at the
 * same address.
 *
 *	alpha|bravo ALPHA MS BRAVO MS TURNS
 *
 * Each turn lasts MS of CPU time. It ends after TURNS, a digit that is counted down in place; 0:
 * never.
 */

#include <err.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define PAD 64
#include "plugin.c"

#define TEXT_(a) #a
#define TEXT(a)	 TEXT_(a)

static volatile int stop;

static void over(int number)
{
	(void)number;
	stop = 1;
}

int main(int argc, char **argv)
{
	int alpha = !strcmp(TEXT(NAME), "alpha"), ms;
	struct itimerval timer = {0};

	if (argc != 6)
		return 2;
	ms = atoi(argv[alpha ? 2 : 4]);
	timer.it_value.tv_sec = ms / 1000;
	timer.it_value.tv_usec = ms % 1000 * 1000;
	signal(SIGPROF, over);
	setitimer(ITIMER_PROF, &timer, NULL);
	JOIN(NAME, _one)(&stop);
	if (argv[5][0] == '1')
		return 0;
	if (argv[5][0] != '0')
		argv[5][0]--;
	execv(argv[alpha ? 3 : 1], argv);
	err(1, "exec");
}
