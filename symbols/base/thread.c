/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads parse foreign files, and recursion may overflow their stack. The signal handler that
 * restores the terminal then needs a stack of its own (sigaltstack(2)), which each thread has to
 * set up for itself.
 */
#include "symbols/base/thread.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "symbols/base/clock.h"

#define HANDLER_STACK (64 * 1024) /* registers alone take 12 KiB on some CPUs */

struct thread_args {
	void *(*run)(void *arg);
	void *arg;
	char stack[HANDLER_STACK];
};

static void *begin(void *arg)
{
	static const stack_t none = {.ss_flags = SS_DISABLE};
	struct thread_args *start = arg;
	stack_t stack = {.ss_sp = start->stack, .ss_size = sizeof(start->stack)};
	stack_t now;
	bool ours, has_one = !sigaltstack(NULL, &now) && !(now.ss_flags & SS_DISABLE);
	void *result;

	/* A sanitizer's thread already has one, which must stay. */
	ours = !has_one && !sigaltstack(&stack, NULL);
	result = start->run(start->arg);
	if (ours)
		sigaltstack(&none, NULL);
	free(start);
	return result;
}

int thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
	struct thread_args *start = malloc(sizeof(*start));
	sigset_t before;
	int err;

	if (!start)
		return -ENOMEM;
	start->run = run;
	start->arg = arg;
	thread_block_signals(&before);
	err = pthread_create(thread, NULL, begin, start);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		free(start);
	return -err;
}

void thread_block_signals(sigset_t *before)
{
	sigset_t set;

	sigfillset(&set);
	sigdelset(&set, SIGSEGV);
	sigdelset(&set, SIGBUS);
	sigdelset(&set, SIGFPE);
	sigdelset(&set, SIGILL);
	sigdelset(&set, SIGABRT);
	pthread_sigmask(SIG_BLOCK, &set, before);
}

static atomic_bool stuck;

bool thread_join_within(pthread_t thread, unsigned int ms)
{
	struct timespec until = clock_in(CLOCK_REALTIME, ms * 1000000ull);

	if (!pthread_timedjoin_np(thread, NULL, &until))
		return true;
	atomic_store(&stuck, true);
	return false;
}

bool thread_is_stuck(void)
{
	return atomic_load(&stuck);
}

bool thread_must_end(void)
{
	sigset_t set;

	return !sigpending(&set) && (sigismember(&set, SIGINT) || sigismember(&set, SIGTERM) ||
				     sigismember(&set, SIGHUP));
}
