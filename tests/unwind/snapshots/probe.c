/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The source of the C snapshots: frames of every shape that compilers have a rule for. */
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

typedef long wide __attribute__((vector_size(32)));

NOINLINE int leaf(int a)
{
	return a * 3;
}

NOINLINE int saves(int a, int b, int c)
{
	int x = leaf(a), y = leaf(b), z = leaf(c);

	puts("saves");
	return x + leaf(y) + leaf(z + a) + b + c;
}

/* Arguments on the stack: pushed around the call. */
NOINLINE int many(int a, int b, int c, int d, int e, int f, int g, int h, int i)
{
	return saves(a + g, b + h, c + i) + d + e + f;
}

NOINLINE int large(int a)
{
	char buffer[40000];

	memset(buffer, a, sizeof(buffer));
	return many(a, 2, 3, 4, 5, 6, buffer[7], buffer[8], buffer[a]);
}

NOINLINE int variable(int n)
{
	char array[n], *block = alloca((size_t)n * 2);

	memset(array, n, (size_t)n);
	memset(block, n, (size_t)n);
	return large(array[n / 2] + block[n / 3]);
}

/* A realigned frame (DRAP). */
NOINLINE int aligned(int n, int m)
{
	volatile wide local[2] = {{n, m, n, m}};
	char array[m];

	memset(array, (int)local[0][1], (size_t)m);
	return variable(array[0] + (int)local[1][2] + n);
}

/* Early exits: the state is remembered and restored. */
NOINLINE int exits(int n)
{
	int a = leaf(n);

	if (n == 1)
		return a;
	a += saves(n, a, 2);
	if (a == 7)
		abort();
	return aligned(a, n + 40);
}

int main(int argc, char **argv)
{
	(void)argv;
	return exits(argc);
}
