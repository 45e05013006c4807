// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Freeing everything finds mistakes, so the program tries to. But threads read files that belong to
 * others, and a file system that is dead never answers: to join such a thread would keep the
 * terminal from the person who has typed q. The kernel frees everything as well.
 */
#include "tui/leave.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "symbols/thread.h"

/* Of the whole process: read by the thread that ends it. */
static struct {
	struct timespec when; /* CLOCK_MONOTONIC */
	int status;
} ending;

static void *end_then(void *arg)
{
	(void)arg;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ending.when, NULL) == EINTR)
		;
	_exit(ending.status);
}

void leave_within(unsigned int ms, int status)
{
	pthread_t thread;

	clock_gettime(CLOCK_MONOTONIC, &ending.when);
	ending.when.tv_sec += ms / 1000;
	ending.when.tv_nsec += (long)(ms % 1000) * 1000000;
	if (ending.when.tv_nsec >= 1000000000) {
		ending.when.tv_sec++;
		ending.when.tv_nsec -= 1000000000;
	}
	ending.status = status;
	if (!thread_start(&thread, end_then, NULL))
		pthread_detach(thread);
}

void leave_now(int status)
{
	/* Not NULL: a thread may hold the lock of any other stream. */
	fflush(stdout);
	fflush(stderr);
	_exit(status);
}
