/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signal handlers in the middle of the stack: one, two, on a signal stack, in a thread. */

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

#include "frame.h"

static volatile int nested;

static void inner_handler(int number)
{
	(void)number;
	spin();
	STAY;
}

/* The signal arrives after the system call, in this very function. */
static KEEP void send_self(long number)
{
	long result = SYS_tgkill;

	__asm__ volatile("syscall"
			 : "+a"(result)
			 : "D"((long)getpid()), "S"((long)gettid()), "d"(number)
			 : "rcx", "r11", "memory");
	STAY;
}

static void outer_handler(int number)
{
	(void)number;
	if (nested)
		send_self(SIGUSR2);
	spin();
	STAY;
}

static void handle(int number, void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_flags = flags};

	action.sa_handler = handler;
	sigaction(number, &action, NULL);
}

static KEEP void one_signal(void)
{
	handle(SIGUSR1, outer_handler, 0);
	ready();
	send_self(SIGUSR1);
	STAY;
}

static KEEP void two_signals(void)
{
	nested = 1;
	handle(SIGUSR1, outer_handler, 0);
	handle(SIGUSR2, inner_handler, 0);
	ready();
	send_self(SIGUSR1);
	STAY;
}

static void use_stack(char *stack, size_t size)
{
	stack_t other = {.ss_sp = stack, .ss_size = size};

	sigaltstack(&other, NULL);
	handle(SIGUSR1, outer_handler, SA_ONSTACK);
}

/* A signal stack below the main thread's stack. */
static KEEP void low_stack(void)
{
	static char stack[64 << 10];

	use_stack(stack, sizeof(stack));
	ready();
	send_self(SIGUSR1);
	STAY;
}

static void *thread_main(void *stack)
{
	use_stack(stack, 64 << 10);
	ready();
	send_self(SIGUSR1);
	return NULL;
}

/* A thread's handler runs above the thread's own stack, on the main thread's stack. */
static KEEP void high_stack(void)
{
	char stack[64 << 10];
	pthread_t thread;

	if (!pthread_create(&thread, NULL, thread_main, stack))
		pthread_join(thread, NULL);
}

/* A timer's signal at any instruction, those of libc included. */
static KEEP void work(void)
{
	static char from[256], to[256];

	while (!frames_stop)
		memcpy(to, from, (size_t)(to[0] + 100));
}

static void on_timer(int number)
{
	(void)number;
	for (volatile int i = 0; i < 400000; i++)
		STAY;
}

static KEEP void timer(void)
{
	const struct itimerspec every = {{0, 2000000}, {0, 2000000}};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	timer_t id;

	handle(SIGUSR1, on_timer, 0);
	if (timer_create(CLOCK_MONOTONIC, &event, &id) || timer_settime(id, 0, &every, NULL))
		return;
	ready();
	work();
	STAY;
}

FRAMES_MAIN({"one", one_signal}, {"two", two_signals}, {"low", low_stack}, {"high", high_stack},
	    {"timer", timer})
