/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The example of docs/UNWINDING.md: a chain of calls with three kinds of frames. The outer
 * function keeps a frame pointer, since its frame's size is unknown at compile time; the middle
 * one uses RBP for a number of its own, which ends a walk that knows only frame pointers; the
 * inner one, which spins, has no frame at all.
 */
#include <alloca.h>
#include <string.h>

/* Calls stay as written, whatever the compiler knows of the callee. */
#if __has_attribute(noipa)
#define OPAQUE __attribute__((noipa))
#else
#define OPAQUE __attribute__((noinline))
#endif

OPAQUE static unsigned int leaf_without_frame(unsigned int n)
{
	while (n & 0xfffff)
		n = n * 1664525u + 1013904223u;
	return n;
}

OPAQUE static unsigned int uses_rbp_for_a_number(unsigned int a, unsigned int b)
{
	unsigned int sum = leaf_without_frame(a << 20); /* that is a << 20, at once */

	return sum + leaf_without_frame(a ^ b) + a * b;
}

OPAQUE static unsigned int keeps_frame_pointer(unsigned int n)
{
	unsigned char *room = alloca(n % 64 + 16);

	memset(room, (int)n + 2, n % 64 + 16);
	return uses_rbp_for_a_number(n, room[3]) + room[n % 16];
}

int main(void)
{
	volatile unsigned int always = 7; /* so that all walks are alike */

	for (;;)
		keeps_frame_pointer(always);
}
