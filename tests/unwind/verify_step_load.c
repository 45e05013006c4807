// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program for verify_step to run: each kind of frame, and each way to leave one. It needs the
 * flags in verify_step.mk: no frame pointers, lazy binding, and no sanitizer.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/unwind/stepreal.h"

static jmp_buf away;
static sigjmp_buf out_of_handler;
static volatile int handled;
static ucontext_t here, there;

static NOINLINE void on_signal(int sig)
{
	handled += sig;
	if (sig == SIGUSR1)
		raise(SIGUSR2); /* already on the alternate stack */
}

static NOINLINE void on_leave(int sig)
{
	handled += sig;
	siglongjmp(out_of_handler, 1);
}

static NOINLINE void act_signals(void)
{
	struct timespec now;
	char text[64];

	raise(SIGUSR1);
	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(text, sizeof(text), "%ld %g", (long)now.tv_sec, 0.25 * (double)now.tv_nsec);
	handled += (int)strtod(text, NULL);
	if (!sigsetjmp(out_of_handler, 1))
		raise(SIGHUP);
}

static NOINLINE void act_jump(void)
{
	longjmp(away, 1);
}

static NOINLINE void coroutine(void)
{
	for (int i = 0; i < 3; i++) {
		act = act_signals;
		handled += descend(5);
		swapcontext(&there, &here);
	}
}

static NOINLINE void run_coroutine(void)
{
	static char stack[256 << 10];

	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	there.uc_link = &here;
	makecontext(&there, coroutine, 0);
	for (int i = 0; i < 4; i++)
		swapcontext(&here, &there);
}

static NOINLINE void run_processes(void)
{
	int status;

	if (!vfork())
		_exit(0);
	wait(&status);
	handled += system("exit 3");
}

static NOINLINE void run_library(void)
{
	void *library = dlopen("libm.so.6", RTLD_LAZY);
	double (*f)(double) = library ? (double (*)(double))dlsym(library, "cos") : NULL;

	if (f)
		handled += (int)f(0.5);
	if (library)
		dlclose(library);
	handled += dlsym(RTLD_DEFAULT, "no_such_function") != NULL;
}

static NOINLINE void run_timer(void)
{
	const struct itimerval often = {{0, 20000}, {0, 20000}}, never = {{0, 0}, {0, 0}};
	int before = handled;

	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 3000 && handled < before + 4 * SIGALRM; i++)
		handled += (i % 8 ? link_alloca(LINKS) : link_realigned(LINKS)) & 0;
	setitimer(ITIMER_REAL, &never, NULL);
}

static void act_nothing(void)
{
}

int main(void)
{
	static char altstack[64 << 10];
	stack_t alt = {.ss_sp = altstack, .ss_size = sizeof(altstack)};
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};

	sigaltstack(&alt, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	sa.sa_flags = 0;
	sigaction(SIGUSR2, &sa, NULL);
	sigaction(SIGALRM, &sa, NULL);
	sa.sa_handler = on_leave;
	sa.sa_flags = SA_ONSTACK;
	sigaction(SIGHUP, &sa, NULL);

	act = act_signals;
	handled += descend(0);
	act = act_jump;
	if (!setjmp(away))
		descend(0);
	run_coroutine();
	act = act_nothing;
	run_timer();
	run_processes();
	run_library();
	printf("%d\n", handled);
	return 0;
}
