/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pingpong MILLISECONDS: two processes on one CPU send each other a byte through pipes. Prints the
 * number of switches and the ns that they took.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static int answer(int from, int to)
{
	char byte;

	while (read(from, &byte, 1) == 1)
		if (write(to, &byte, 1) != 1)
			break;
	return 0;
}

int main(int argc, char **argv)
{
	const long long length = (argc > 1 ? atoll(argv[1]) : 1000) * 1000000;
	long long began, turns = 0;
	int there[2], back[2];
	char byte = 0;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (pipe(there) || pipe(back) || sched_setaffinity(0, sizeof(set), &set))
		return 1;
	switch (fork()) {
	case -1:
		return 1;
	case 0:
		close(there[1]);
		return answer(there[0], back[1]);
	}
	began = now();
	for (; now() < began + length; turns++)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			return 1;
	printf("%lld %lld\n", 2 * turns, now() - began);
	return 0;
}
