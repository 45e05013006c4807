/* SPDX-License-Identifier: GPL-2.0-or-later */
/* build: -O1 -fno-inline -fno-optimize-sibling-calls */
/*
 * crowd N: maps N pieces of itself as code, below its libraries, prints their number, and sorts in
 * the C library for ever. Fewer than N are mapped if the machine allows no more.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define BASE ((char *)0x7d0000000000)

static volatile unsigned int sink;

static int compare_numbers(const void *a, const void *b)
{
	const int *x = a, *y = b;

	for (unsigned int i = 0; i < 200; i++)
		sink += i;
	return (*x > *y) - (*x < *y);
}

static void sort_numbers(void)
{
	int numbers[256];

	for (int i = 0; i < 256; i++)
		numbers[i] = i * 7919 % 256;
	qsort(numbers, 256, sizeof(numbers[0]), compare_numbers);
	sink += (unsigned int)numbers[0];
}

int main(int argc, char **argv)
{
	long want = argc > 1 ? atol(argv[1]) : 0, n;
	int fd = open("/proc/self/exe", O_RDONLY);

	for (n = 0; n < want; n++)
		if (mmap(BASE + n * 8192, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd,
			 0) == MAP_FAILED)
			break;
	printf("%ld\n", n);
	fflush(stdout);
	for (;;)
		sort_numbers();
	return 0;
}
