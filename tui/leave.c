// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Freeing everything finds mistakes, so the program tries to. But threads read files of others, and
 * a dead file system never answers: to join such a thread would block the terminal after q was
 * typed. The kernel frees everything as well.
 */
#include "tui/leave.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "symbols/base/clock.h"
#include "symbols/base/thread.h"

#define LEAVE_MS      800
#define LEAVE_MS_MOST 600000ul

/* Of the whole process. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t thread;
	bool runs, done;
	struct timespec when; /* CLOCK_MONOTONIC */
	int status;
} ending = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *end_then(void *arg)
{
	int err = 0;

	(void)arg;
	pthread_mutex_lock(&ending.lock);
	while (!ending.done && err != ETIMEDOUT)
		err = pthread_cond_timedwait(&ending.wake, &ending.lock, &ending.when);
	if (!ending.done)
		_exit(ending.status);
	pthread_mutex_unlock(&ending.lock);
	return NULL;
}

unsigned int leave_ms(void)
{
	const char *text = getenv("STACKTOP_END_MS");
	char *end = NULL;
	unsigned long ms = text ? strtoul(text, &end, 10) : 0;

	return text && end != text && !*end && ms <= LEAVE_MS_MOST ? (unsigned int)ms : LEAVE_MS;
}

void leave_within(unsigned int ms, int status)
{
	pthread_condattr_t attr;

	ending.when = clock_in(CLOCK_MONOTONIC, ms * 1000000ull);
	ending.status = status;
	ending.done = false;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&ending.wake, &attr);
	pthread_condattr_destroy(&attr);
	ending.runs = !thread_start(&ending.thread, end_then, NULL);
}

void leave_done(void)
{
	if (!ending.runs)
		return;
	pthread_mutex_lock(&ending.lock);
	ending.done = true;
	pthread_cond_signal(&ending.wake);
	pthread_mutex_unlock(&ending.lock);
	pthread_join(ending.thread, NULL);
	pthread_cond_destroy(&ending.wake);
	ending.runs = false;
}

void leave_now(int status)
{
	/* Not NULL: a thread may hold the lock of any other stream. */
	fflush(stdout);
	fflush(stderr);
	_exit(status);
}
