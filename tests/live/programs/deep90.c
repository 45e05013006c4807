/* SPDX-License-Identifier: GPL-2.0-or-later */
/* build: -O2 -fomit-frame-pointer -fasynchronous-unwind-tables -Wall -Wextra */
/*
 * A workload of known shape: main calls f00, which calls f01, and so on to f89, which burns the
 * CPU. No call is a tail call, nothing is inlined or cloned and there are no frame pointers, so
 * the only true stack of a busy moment is main;f00;f01;...;f89. Frame sizes differ, so that a
 * walk with a wrong offset cannot come out right by accident.
 *
 *	deep90 [SECONDS]	runs for SECONDS (60), prints "done", and ends with 0
 */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#if defined(__has_attribute) && __has_attribute(noipa)
#define KEEP __attribute__((noipa))
#else
#define KEEP __attribute__((noinline))
#endif

static volatile sig_atomic_t stop;
static volatile unsigned int sink;

static void on_alarm(int signal)
{
	(void)signal;
	stop = 1;
}

static KEEP unsigned int f89(unsigned int x)
{
	while (!stop) {
		for (int i = 0; i < 10000; i++)
			x = x * 1664525 + 1013904223;
		sink = x;
	}
	return x;
}

/* The use of the local array after the call keeps both the frame and the call. */
#define STEP(this, below, words)                                                                   \
	static KEEP unsigned int f##this(unsigned int x)                                           \
	{                                                                                          \
		volatile unsigned int local[words];                                                \
		local[x % (words)] = x;                                                            \
		return f##below(x + 1) ^ local[x % (words)];                                       \
	}

#define TEN_LESS_ONE(t)                                                                            \
	STEP(t##8, t##9, 3)                                                                        \
	STEP(t##7, t##8, 40)                                                                       \
	STEP(t##6, t##7, 1)                                                                        \
	STEP(t##5, t##6, 12)                                                                       \
	STEP(t##4, t##5, 200)                                                                      \
	STEP(t##3, t##4, 7)                                                                        \
	STEP(t##2, t##3, 2)                                                                        \
	STEP(t##1, t##2, 33)                                                                       \
	STEP(t##0, t##1, 5)

TEN_LESS_ONE(8)
STEP(79, 80, 11)
TEN_LESS_ONE(7)
STEP(69, 70, 1)
TEN_LESS_ONE(6)
STEP(59, 60, 64)
TEN_LESS_ONE(5)
STEP(49, 50, 9)
TEN_LESS_ONE(4)
STEP(39, 40, 2)
TEN_LESS_ONE(3)
STEP(29, 30, 17)
TEN_LESS_ONE(2)
STEP(19, 20, 4)
TEN_LESS_ONE(1)
STEP(09, 10, 90)
TEN_LESS_ONE(0)

int main(int argc, char **argv)
{
	int seconds = argc > 1 ? atoi(argv[1]) : 60;

	signal(SIGALRM, on_alarm);
	alarm(seconds > 0 ? (unsigned int)seconds : 1);
	sink = f00((unsigned int)argc);
	puts("done");
	return 0;
}
