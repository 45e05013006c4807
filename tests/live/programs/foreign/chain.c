/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Six frames of known names, one of them called by libc's bsearch, so that the walk leaves the
 * program's own text and comes back. Built as static, musl, stripped and by other linkers; the
 * chain is the same each time.
 *
 *	chain [SECONDS]		spins for SECONDS (60) in spin, below
 *				main;one;two;bsearch;three;four
 *
 * With -DDIRECT, two calls three itself. With -DLIAR, three does not call four: the test must
 * reject it.
 */

#include <alloca.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __clang__
#define KEEP __attribute__((noinline))
#else
#define KEEP __attribute__((noipa))
#endif

static volatile unsigned int sink;

static KEEP unsigned int spin(unsigned int x)
{
	for (;;) {
		for (int i = 0; i < 10000; i++)
			x = x * 1664525 + 1013904223;
		sink = x;
		if (x == 1 && sink == 2) /* never, but the compiler cannot know */
			return x;
	}
}

#ifdef LIAR
#define four spin
#else
static KEEP unsigned int four(unsigned int x)
{
	volatile unsigned int local[10500]; /* above 40 KiB, beyond a row's offset */

	local[x & 7] = x;
	return spin(x) ^ local[x & 7];
}
#endif

static KEEP int three(const void *key, const void *element)
{
	volatile unsigned int local[5] = {*(const unsigned char *)key,
					  *(const unsigned char *)element};

	return (int)(four(local[0]) ^ local[1]) & 1;
}

#ifndef DIRECT
/* Through a pointer, since headers may bring an inline bsearch. */
static void *(*volatile search)(const void *, const void *, size_t, size_t,
				int (*)(const void *, const void *)) = bsearch;
#endif

static KEEP unsigned int two(unsigned int x)
{
	volatile char *space =
		alloca(x * 40 + 100); /* the frame's size is known at run time only */

	space[x] = (char)x;
#ifdef DIRECT
	return three("key", "element") ? sink : (unsigned int)space[x];
#else
	return search("key", "element", 7, 1, three) ? sink : (unsigned int)space[x];
#endif
}

static KEEP unsigned int one(unsigned int x)
{
	volatile unsigned int local[33];

	local[x & 7] = x;
	return two(x) ^ local[x & 7];
}

int main(int argc, char **argv)
{
	alarm(argc > 1 ? (unsigned int)atoi(argv[1]) : 60);
	sink = one((unsigned int)argc);
	return 0;
}
