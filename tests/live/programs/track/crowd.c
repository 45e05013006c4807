/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * COUNT MAPPINGS: starts COUNT processes, each with MAPPINGS executable mappings of its own, which
 * wait. When all are there, prints the PID of every hundredth. A process spins in crowd_spin after
 * SIGUSR1.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define NAME  crowd
#define PAD   64
#define EVERY 100
#include "plugin.c"

static volatile int never, begun;

static void on_begin(int signal)
{
	(void)signal;
	begun = 1;
}

static void wait_mapped(const char *program, int mappings)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	int fd = open(program, O_RDONLY | O_CLOEXEC), i;
	sigset_t block, old;
	char *place;

	sigemptyset(&block);
	sigaddset(&block, SIGUSR1);
	sigprocmask(SIG_BLOCK, &block, &old);
	signal(SIGUSR1, on_begin);
	place = mmap(NULL, 2 * page * mappings, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < mappings && fd >= 0 && place != MAP_FAILED; i++)
		if (mmap(place + 2 * page * i, page, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
			 fd, (off_t)page) == MAP_FAILED)
			_exit(1);
	close(fd);
	if (write(1, "", 1) != 1)
		_exit(1);
	while (!begun)
		sigsuspend(&old);
	JOIN(NAME, _one)(&never);
}

int main(int argc, char **argv)
{
	const int count = argc > 2 ? atoi(argv[1]) : 0, mappings = argc > 2 ? atoi(argv[2]) : 0;
	int ready[2], i;
	pid_t pid;
	char byte;

	if (pipe(ready))
		return 1;
	for (i = 0; i < count; i++) {
		pid = fork();
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			dup2(ready[1], 1);
			close(ready[0]);
			close(ready[1]);
			wait_mapped("/proc/self/exe", mappings);
			_exit(0);
		}
		if (pid < 0)
			return 1;
		if (read(ready[0], &byte, 1) != 1)
			return 1;
		if (i % EVERY == EVERY / 2)
			printf("%d ", (int)pid);
	}
	printf("\n");
	fflush(stdout);
	pause();
	return 0;
}
