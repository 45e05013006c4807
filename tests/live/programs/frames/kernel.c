/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks where a thread begins or the kernel is entered: system calls, page faults, the vDSO,
 * vfork; main, pthread_create and clone at the bottom.
 */

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "frame.h"

static KEEP void ask_parent(void)
{
	ready();
	while (!frames_stop)
		getppid();
}

static KEEP void read_zeros(void)
{
	static char buffer[64 << 10];
	int fd = open("/dev/zero", O_RDONLY);

	ready();
	while (!frames_stop)
		if (read(fd, buffer, sizeof(buffer)) < 0)
			return;
}

static KEEP void touch(volatile char *pages)
{
	for (size_t i = 0; i < 256; i++)
		pages[i << 12] = 1;
}

static KEEP void fault_pages(void)
{
	char *pages =
		mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		return;
	ready();
	while (!frames_stop) {
		touch(pages);
		madvise(pages, 1 << 20, MADV_DONTNEED);
	}
}

static KEEP void ask_clock(void)
{
	struct timespec now;

	ready();
	while (!frames_stop)
		clock_gettime(CLOCK_MONOTONIC, &now);
}

static KEEP void in_main(void)
{
	ready();
	spin();
	STAY;
}

static KEEP void *worker(void *arg)
{
	spin();
	STAY;
	return arg;
}

static KEEP void in_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, worker, NULL))
		return;
	ready();
	pthread_join(thread, NULL);
}

static KEEP int cloned(void *arg)
{
	(void)arg;
	spin();
	STAY;
	return 0;
}

static KEEP void in_clone(void)
{
	static char stack[64 << 10] __attribute__((aligned(16)));

	/* A thread of this process, unknown to the threads library. */
	if (clone(cloned, stack + sizeof(stack),
		  CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM,
		  NULL) < 0)
		return;
	ready();
	while (!frames_stop)
		pause();
}

static KEEP void vfork_child(void)
{
	ready();
	spin();
	STAY;
}

static KEEP void in_vfork(void)
{
	pid_t pid = vfork();

	if (!pid) {
		vfork_child();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static KEEP void vfork_often(void)
{
	ready();
	while (!frames_stop) {
		pid_t pid = vfork();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
}

FRAMES_MAIN({"getppid", ask_parent}, {"read", read_zeros}, {"faults", fault_pages},
	    {"vdso", ask_clock}, {"main", in_main}, {"thread", in_thread}, {"clone", in_clone},
	    {"vfork", in_vfork}, {"vforks", vfork_often})
