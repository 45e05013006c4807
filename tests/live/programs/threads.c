/* SPDX-License-Identifier: GPL-2.0-or-later */
/* build: -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -Wall -Wextra */
/*
 * A process of many threads, each burning the CPU some calls deep.
 *
 *	threads [THREADS [SECONDS]]	200 threads for 60 s
 */

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile sig_atomic_t stop;

static void on_alarm(int signal)
{
	(void)signal;
	stop = 1;
}

__attribute__((noipa)) static unsigned int burn(unsigned int x)
{
	while (!stop)
		x = x * 1664525 + 1013904223;
	return x;
}

__attribute__((noipa)) static unsigned int descend(unsigned int depth, unsigned int x)
{
	volatile unsigned int local[7] = {x};

	return (depth ? descend(depth - 1, x + 1) : burn(x)) ^ local[x % 7];
}

static void *run(void *arg)
{
	unsigned int number = *(const unsigned int *)arg;

	*(unsigned int *)arg = descend(number % 30, number);
	return NULL;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 200;
	pthread_t *threads = calloc((size_t)count, sizeof(*threads));
	unsigned int *numbers = calloc((size_t)count, sizeof(*numbers));
	int started = 0;

	if (!threads || !numbers)
		return 1;
	signal(SIGALRM, on_alarm);
	alarm(argc > 2 ? (unsigned int)atoi(argv[2]) : 60);
	for (; started < count; started++) {
		numbers[started] = (unsigned int)started;
		if (pthread_create(&threads[started], NULL, run, &numbers[started]))
			break;
	}
	printf("%d threads\n", started);
	fflush(stdout);
	for (int i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	free(numbers);
	return started == count ? 0 : 1;
}
