/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A signal handler in the middle of the stack, on a signal stack, and nested: a signal interrupts
 * the first handler, too. The interrupted instruction is the program's own, so no libc function
 * is between, only the trampoline that the libc gave to the kernel, which has CFI in glibc and
 * none in musl.
 *
 *	signal [SECONDS]	spins in spin, below main;broken;TRAMPOLINE;handler;deeper;
 *				again;TRAMPOLINE;nested
 *	signal storm [SECONDS]	sends signals to itself from storm: samples fall where the kernel is
 *				about to enter the handler and where the trampoline calls it again
 */

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __clang__
#define KEEP __attribute__((noinline))
#else
#define KEEP __attribute__((noipa))
#endif

static volatile unsigned int sink;
static char space[65536];

static KEEP unsigned int spin(unsigned int x)
{
	for (;;) {
		for (int i = 0; i < 10000; i++)
			x = x * 1664525 + 1013904223;
		sink = x;
		if (x == 1 && sink == 2)
			return x;
	}
}

static KEEP void nested(int number)
{
	sink = spin((unsigned int)number) + 1;
}

#if defined(__x86_64__)
#define SET_FP(x, insn)                                                                            \
	__asm__ volatile("movl %0, %%ebp; " insn "; nop" : : "r"(x) : "rbp", "memory")
#define TRAP ".byte 0xcc"
#define ILL  "ud2"
#else
#define SET_FP(x, insn) __asm__ volatile("mov w29, %w0; " insn "; nop" : : "r"(x) : "x29", "memory")
#define TRAP		"brk #1"
#define ILL		"udf #0"
#endif

/* A frame pointer is a meaningless number where the signals come: only the saved registers lead on.
 */
static KEEP unsigned int again(unsigned int x)
{
	SET_FP(x * 77, TRAP);
	return sink + x;
}

static KEEP unsigned int deeper(unsigned int x)
{
	volatile unsigned int local[20];

	local[x & 7] = x;
	return again(x) ^ local[x & 7];
}

static KEEP void handler(int number)
{
	sink = deeper((unsigned int)number) + 1;
}

static KEEP unsigned int broken(unsigned int x)
{
	SET_FP(x * 99, ILL);
	return sink + x;
}

static KEEP void seen(int number)
{
	sink = (unsigned int)number;
}

/* The system call is in this function, not in one of libc's that may lack CFI. */
static KEEP void storm(long pid, long tid)
{
	for (;;) {
#if defined(__x86_64__)
		long result = SYS_tgkill;

		__asm__ volatile("syscall"
				 : "+a"(result)
				 : "D"(pid), "S"(tid), "d"((long)SIGUSR1)
				 : "rcx", "r11", "memory");
#else
		register long call __asm__("x8") = SYS_tgkill, result __asm__("x0") = pid;
		register long to __asm__("x1") = tid, number __asm__("x2") = SIGUSR1;

		__asm__ volatile("svc #0"
				 : "+r"(result)
				 : "r"(call), "r"(to), "r"(number)
				 : "memory");
#endif
		if (result)
			return;
	}
}

int main(int argc, char **argv)
{
	struct sigaction first = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	struct sigaction second = {.sa_handler = nested};
	struct sigaction third = {.sa_handler = seen};
	int storms = argc > 1 && !strcmp(argv[1], "storm");
	stack_t other = {.ss_sp = space, .ss_size = sizeof(space)};

	alarm(argc > 1 + storms ? (unsigned int)atoi(argv[1 + storms]) : 60);
	sigaltstack(&other, NULL);
	sigaction(SIGILL, &first, NULL);
	sigaction(SIGTRAP, &second, NULL);
	sigaction(SIGUSR1, &third, NULL);
	if (storms)
		storm(getpid(), syscall(SYS_gettid));
	sink = broken((unsigned int)argc);
	return 0;
}
