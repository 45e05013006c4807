/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes threads or processes in a loop, at the end of a chain of calls: most of the time goes into
 * the system call that returns twice.
 */

#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>

#include "frame.h"

static KEEP void *thread_main(void *arg)
{
	STAY;
	return arg;
}

static KEEP int clone_main(void *arg)
{
	(void)arg;
	_exit(0);
}

static KEEP void one_thread(void)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, thread_main, NULL))
		pthread_join(thread, NULL);
	STAY;
}

static KEEP void one_spawn(void)
{
	static char *const arguments[] = {(char *)"/bin/true", NULL};
	pid_t pid;

	if (!posix_spawn(&pid, arguments[0], NULL, NULL, arguments, NULL))
		waitpid(pid, NULL, 0);
	STAY;
}

static KEEP void one_fork(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	STAY;
}

static KEEP void one_vfork(void)
{
	pid_t pid = vfork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	STAY;
}

/* With memory of its own, as fork, and on another stack. */
static KEEP void one_clone(void)
{
	static char stack[64 << 10] __attribute__((aligned(16)));
	pid_t pid = clone(clone_main, stack + sizeof(stack), SIGCHLD, NULL);

	waitpid(pid, NULL, 0);
	STAY;
}

#define LOOP(name, one)                                                                            \
	static KEEP void name##_inner(void)                                                        \
	{                                                                                          \
		while (!frames_stop)                                                               \
			one();                                                                     \
		STAY;                                                                              \
	}                                                                                          \
	static KEEP void name(void)                                                                \
	{                                                                                          \
		ready();                                                                           \
		name##_inner();                                                                    \
		STAY;                                                                              \
	}

LOOP(threads, one_thread)
LOOP(spawns, one_spawn)
LOOP(forks, one_fork)
LOOP(vforks, one_vfork)
LOOP(clones, one_clone)

FRAMES_MAIN({"threads", threads}, {"spawns", spawns}, {"forks", forks}, {"vforks", vforks},
	    {"clones", clones})
