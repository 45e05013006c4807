/* SPDX-License-Identifier: GPL-2.0-or-later */
/* build: -O2 -fomit-frame-pointer -fasynchronous-unwind-tables -nostdlib -static -Wall -Wextra */
/*
 * A busy stack of a single frame, without a C library below it: what a sample costs before there is
 * anything to walk. It runs until it is killed.
 */

void _start(void);

void _start(void)
{
	unsigned int x = 1;

	__asm__ volatile(".cfi_undefined rip");
	for (;;)
		__asm__ volatile("imul $1664525, %0, %0" : "+r"(x));
}
