/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A loop that does little but pass through PLT stubs, to functions of pltlib.c that do nothing:
 * many samples are in a stub, which has no CFI if lld made it. Each function is called once
 * before, so that lazy binding is done.
 *
 *	plt [SECONDS]		main;outer;loop[;STUB or nothing_N]
 */

#include <stdlib.h>
#include <unistd.h>

#ifdef __clang__
#define KEEP __attribute__((noinline))
#else
#define KEEP __attribute__((noipa))
#endif

unsigned int nothing_1(unsigned int x);
unsigned int nothing_2(unsigned int x);

static volatile unsigned int sink;

static KEEP unsigned int loop(unsigned int x)
{
	for (;;) {
		for (int i = 0; i < 10000; i++)
			x = nothing_1(nothing_2(x)) + 1;
		sink = x;
		if (x == 1 && sink == 2)
			return x;
	}
}

static KEEP unsigned int outer(unsigned int x)
{
	volatile unsigned int local[9];

	local[x & 7] = x;
	return loop(x) ^ local[x & 7];
}

int main(int argc, char **argv)
{
	alarm(argc > 1 ? (unsigned int)atoi(argv[1]) : 60);
	sink = outer((unsigned int)argc);
	return 0;
}
