/* SPDX-License-Identifier: GPL-2.0-or-later */
/* build: -O1 -fno-inline -fno-optimize-sibling-calls */
/*
 * A command that ends before its record is read: it runs for some hundred microseconds in a chain
 * of calls. "brief loop" starts one after the other until it is killed.
 */
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define TURNS 300000u

extern char **environ;
static volatile unsigned int sink;

__attribute__((noinline)) static void brief_inner(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		sink += i;
}

__attribute__((noinline)) static void brief_outer(unsigned int n)
{
	brief_inner(n / 2);
	sink++;
	brief_inner(n / 2);
	sink++;
}

int main(int argc, char **argv)
{
	char *again[] = {argv[0], NULL};
	pid_t child;

	if (argc < 2 || strcmp(argv[1], "loop") != 0) {
		brief_outer(TURNS);
		return 0;
	}
	puts("runs");
	fflush(stdout);
	while (!posix_spawn(&child, argv[0], NULL, NULL, again, environ))
		waitpid(child, NULL, 0);
	return 1;
}
