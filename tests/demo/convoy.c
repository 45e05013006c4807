/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Part of the demonstration: a lock convoy. Threads take turns at a lock that each holds only for
 * a moment. Each waits for its own turn, so each moment costs a wake-up of all threads and a
 * switch, and that is where the time goes.
 */
#include <pthread.h>
#include <stdio.h>

#define THREADS 6

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
static unsigned long next_ticket, now_serving;
static unsigned long counters[64];

__attribute__((noinline)) static void wait_for_my_turn(void)
{
	unsigned long ticket;

	pthread_mutex_lock(&mutex);
	ticket = next_ticket++;
	while (ticket != now_serving)
		pthread_cond_wait(&turn, &mutex);
	pthread_mutex_unlock(&mutex);
}

__attribute__((noinline)) static void let_the_next_one_in(void)
{
	pthread_mutex_lock(&mutex);
	now_serving++;
	pthread_cond_broadcast(&turn);
	pthread_mutex_unlock(&mutex);
}

__attribute__((noinline)) static void count_under_lock(unsigned int seed)
{
	for (unsigned int i = 0; i < 300; i++)
		counters[(seed + i) % 64] += i;
}

static void *queue_again_and_again(void *arg)
{
	for (unsigned int n = 0;; n++) {
		wait_for_my_turn();
		count_under_lock(n);
		let_the_next_one_in();
	}
	return arg;
}

int main(void)
{
	pthread_t thread;

	for (int i = 1; i < THREADS; i++)
		if (pthread_create(&thread, NULL, queue_again_and_again, NULL))
			perror("thread");
	queue_again_and_again(NULL);
	return 0;
}
