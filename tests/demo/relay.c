/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Part of the demonstration: two processes pass a byte to and fro through pipes. Each waits for the
 * other, and both for the next round.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#define ROUND	 2
#define PAUSE_US 10000

__attribute__((noinline)) static void wait_for_answer(int from, char *byte)
{
	if (read(from, byte, 1) != 1)
		_exit(EXIT_SUCCESS);
}

__attribute__((noinline)) static void answer_all(int from, int to)
{
	char byte;

	for (;;) {
		wait_for_answer(from, &byte);
		if (write(to, &byte, 1) != 1)
			_exit(EXIT_SUCCESS);
	}
}

int main(void)
{
	int there[2], back[2];
	char byte = 0;

	if (pipe(there) || pipe(back)) {
		perror("pipe");
		return EXIT_FAILURE;
	}
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		answer_all(there[0], back[1]);
	}
	for (int i = 0;; i++) {
		if (write(there[1], &byte, 1) != 1)
			return EXIT_SUCCESS;
		wait_for_answer(back[0], &byte);
		if (i % ROUND == 0)
			usleep(PAUSE_US);
	}
}
