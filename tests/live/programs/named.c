/* SPDX-License-Identifier: GPL-2.0-or-later */
/* build: -O2 -fno-optimize-sibling-calls -pthread -Wall -Wextra */
/*
 * A thread with a name of its own forks a child, which the kernel calls by that name. The child
 * forks two of its own: one has the same name, the other gives itself another one. Each burns in a
 * function of its own.
 *
 *	named [SECONDS]	for that long, 60 s
 */

#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BURN_NS 60000000ull

static volatile unsigned long sink;

static unsigned long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long long)t.tv_sec * 1000000000 + (unsigned long long)t.tv_nsec;
}

/* Of its own CPU time, so that each has as much. */
static inline __attribute__((always_inline)) void burn(void)
{
	for (clock_t end = clock() + BURN_NS / 1000; clock() < end;)
		for (int i = 0; i < 10000; i++)
			sink += (unsigned long)i;
}

__attribute__((noipa)) static void burn_child(void)
{
	burn();
}

__attribute__((noipa)) static void burn_grandchild(void)
{
	burn();
}

__attribute__((noipa)) static void burn_renamed(void)
{
	burn();
}

__attribute__((noipa)) static void be_child(void)
{
	burn_child();
	if (!fork()) {
		burn_grandchild();
		_exit(0);
	}
	wait(NULL);
	if (!fork()) {
		prctl(PR_SET_NAME, "nm_renamed");
		burn_renamed();
		_exit(0);
	}
	wait(NULL);
	_exit(0);
}

static void *forker(void *seconds)
{
	prctl(PR_SET_NAME, "nm_forker");
	for (unsigned long long end = now() + *(int *)seconds * 1000000000ull; now() < end;) {
		if (!fork())
			be_child();
		wait(NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int seconds = argc > 1 ? atoi(argv[1]) : 60;
	pthread_t thread;

	if (pthread_create(&thread, NULL, forker, &seconds))
		return 1;
	return pthread_join(thread, NULL);
}
