// SPDX-License-Identifier: GPL-2.0-or-later
/* build: -O2 -fno-asynchronous-unwind-tables -fno-unwind-tables -fomit-frame-pointer */
/*
 * Functions without CFI or frame pointers, behind more text without CFI than is read when a table
 * is made.
 */
#include <stdlib.h>

__asm__(".text\n\t.skip 9 << 20, 0xcc");

#define OTHER_THAN_MAIN __attribute__((noinline, noclone, noipa))

volatile unsigned long sink;
unsigned int rounds = 1000;

OTHER_THAN_MAIN void innermost(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		sink += i;
}

OTHER_THAN_MAIN void inner(unsigned int n)
{
	unsigned char some[200];

	for (unsigned int i = 0; i < sizeof(some); i++)
		some[i] = (unsigned char)n;
	innermost(n + some[n % sizeof(some)]);
	sink++;
}

OTHER_THAN_MAIN void outer(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		inner(n);
	sink++;
}

/* Beyond the text that is read, like the others; the linker puts main in front of it. */
OTHER_THAN_MAIN void run(void)
{
	for (;;)
		outer(rounds);
}

int main(void)
{
	run();
	return 0;
}
