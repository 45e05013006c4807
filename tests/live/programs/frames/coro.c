/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks that change while the program runs: makecontext's coroutines and switches made by hand;
 * and functions with the sampled address at their first or last instruction.
 */

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "frame.h"

/* switch.S: call function on the stack that ends at top; the old stack pointer is in rbp/rbx. */
void switch_rbp(void (*function)(void), char *top);
void switch_rbx(void (*function)(void), char *top);
/* switch.S: ends in a call, with a function of another frame size right behind it. */
void last_call(void (*function)(void));
/* switch.S: faults in the first instruction; ends in a system call. */
void first_faults(void);
void last_syscall(void);

static char low[256 << 10] __attribute__((aligned(16)));

static KEEP void body(void)
{
	spin();
	STAY;
}

#ifdef __GLIBC__ /* musl has no makecontext */
static ucontext_t home, away;

static void coroutine(void)
{
	body();
	STAY;
}

static void yielder(void)
{
	while (!frames_stop)
		swapcontext(&away, &home);
}

static void make(void (*function)(void))
{
	getcontext(&away);
	away.uc_stack.ss_sp = low;
	away.uc_stack.ss_size = sizeof(low);
	away.uc_link = &home;
	makecontext(&away, function, 0);
}

static KEEP void in_coroutine(void)
{
	make(coroutine);
	ready();
	swapcontext(&home, &away);
	STAY;
}

static KEEP void swap_often(void)
{
	make(yielder);
	ready();
	while (!frames_stop)
		swapcontext(&home, &away);
}

#define COROUTINES                                                                                 \
	{"coroutine", in_coroutine},                                                               \
	{                                                                                          \
		"swap", swap_often                                                                 \
	}
#else
#define COROUTINES
#endif

static KEEP void to_rbp(void)
{
	ready();
	switch_rbp(body, low + sizeof(low));
	STAY;
}

static KEEP void to_rbx(void)
{
	ready();
	switch_rbx(body, low + sizeof(low));
	STAY;
}

static char *high;

static KEEP void upward(void)
{
	switch_rbp(body, high);
	STAY;
}

/* First to a low stack, from there to a higher one: the callee's frames lie above the caller's. */
static KEEP void to_high(void)
{
	char *stack =
		mmap(NULL, 256 << 10, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (stack == MAP_FAILED || stack < low)
		return;
	high = stack + (256 << 10);
	ready();
	switch_rbp(upward, low + sizeof(low));
	STAY;
}

static KEEP void to_last_call(void)
{
	ready();
	last_call(spin);
	STAY;
}

static void on_fault(int number)
{
	(void)number;
	spin();
	STAY;
}

static KEEP void to_first_faults(void)
{
	signal(SIGILL, on_fault);
	ready();
	first_faults();
	STAY;
}

static KEEP void to_last_syscall(void)
{
	ready();
	last_syscall();
	STAY;
}

FRAMES_MAIN({"rbp", to_rbp}, {"rbx", to_rbx}, {"high", to_high}, {"last", to_last_call},
	    {"first", to_first_faults}, {"syscall", to_last_syscall}, COROUTINES)
