// SPDX-License-Identifier: GPL-2.0-or-later
/* Handlers of signals that work: on the stack of the thread, and on an alternate stack. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

__attribute__((noinline)) void burn(int rounds)
{
	static volatile unsigned sink;

	for (int i = 0; i < rounds; i++)
		sink = sink * 31 + (unsigned)i;
}

static void handler(int number)
{
	burn(number == SIGALRM ? 2000000 : 1000000);
	__asm__ volatile(""); /* burn is called, not jumped to */
}

__attribute__((noinline)) void interrupted(void)
{
	burn(1000000);
}

int main(void)
{
	static char stack[128 << 10];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction plain = {.sa_handler = handler};
	struct sigaction other = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	struct itimerval timer = {{0, 10000}, {0, 10000}};

	sigaltstack(&alternate, NULL);
	sigaction(SIGALRM, &plain, NULL);
	sigaction(SIGUSR1, &other, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	for (;;) {
		interrupted();
		raise(SIGUSR1);
	}
}
