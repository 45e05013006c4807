// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Burns CPU at a million addresses below as many frames as the argument says: hardly any two
 * samples have the same stack, which fills every store of stacks. Ends with its parent.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#if defined(__has_attribute) && __has_attribute(noipa)
#define KEEP __attribute__((noipa))
#else
#define KEEP __attribute__((noinline))
#endif

static KEEP int slide(void)
{
	for (;;)
		asm volatile(".rept 1000000; nop; .endr");
}

KEEP static int deeper(int depth)
{
	int more = depth > 0 ? deeper(depth - 1) : slide();

	asm volatile("" : "+r"(more));
	return more + 1;
}

int main(int argc, char **argv)
{
	pid_t parent = getppid();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		return 1;
	return deeper(argc > 1 ? atoi(argv[1]) : 0);
}
