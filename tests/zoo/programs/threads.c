// SPDX-License-Identifier: GPL-2.0-or-later
/* The same work in the main thread, in threads and on a stack of makecontext. */
#include <pthread.h>
#include <stdlib.h>
#include <ucontext.h>

static ucontext_t back, inner;

__attribute__((noinline)) int order(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) int sort_some(unsigned *seed)
{
	int numbers[2000];

	for (int i = 0; i < 2000; i++)
		numbers[i] = (int)(*seed = *seed * 1103515245 + 12345) >> 8;
	qsort(numbers, 2000, sizeof(*numbers), order);
	return numbers[0];
}

static void *thread_work(void *arg)
{
	volatile int sum = 0;
	unsigned seed = (unsigned)(size_t)arg;

	for (;;)
		sum += sort_some(&seed);
	return NULL;
}

static void context_work(void)
{
	unsigned seed = 3;

	for (;;) {
		sort_some(&seed);
		swapcontext(&inner, &back);
	}
}

int main(void)
{
	static char stack[256 << 10];
	pthread_t thread;
	unsigned seed = 2;

	pthread_create(&thread, NULL, thread_work, (void *)1);
	getcontext(&inner);
	inner.uc_stack.ss_sp = stack;
	inner.uc_stack.ss_size = sizeof(stack);
	makecontext(&inner, context_work, 0);
	for (;;) {
		sort_some(&seed);
		swapcontext(&back, &inner);
	}
}
