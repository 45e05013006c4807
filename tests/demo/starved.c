/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Part of the demonstration: a thread that could run and does not get to. Both threads may use one
 * CPU only, and one of them runs when the CPU has nothing else to do.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BUSY_NS	 90000000L
#define PAUSE_NS 10000000L

static volatile unsigned long turns;

static long elapsed_ns(const struct timespec *since)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - since->tv_sec) * 1000000000L + now.tv_nsec - since->tv_nsec;
}

__attribute__((noinline)) static void use_the_cpu(void)
{
	struct timespec begin;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	while (elapsed_ns(&begin) < BUSY_NS)
		turns++;
}

__attribute__((noinline)) static void run_when_idle(void)
{
	const struct sched_param none = {0};

	if (sched_setscheduler(0, SCHED_IDLE, &none))
		perror("sched_setscheduler");
	for (;;)
		turns++;
}

static void *starved(void *arg)
{
	run_when_idle();
	return arg;
}

int main(void)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	pthread_t thread;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(0, sizeof(one), &one) ||
	    pthread_create(&thread, NULL, starved, NULL)) {
		perror("starved");
		return EXIT_FAILURE;
	}
	for (;;) {
		use_the_cpu();
		nanosleep(&pause, NULL);
	}
}
