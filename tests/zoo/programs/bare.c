// SPDX-License-Identifier: GPL-2.0-or-later
/* Without a C library, for processors whose libraries are not installed. */
#define KEEP __attribute__((noinline))

static unsigned numbers[4000], seed = 1;

KEEP unsigned hanoi(unsigned n)
{
	return n ? hanoi(n - 1) + 1 + hanoi(n - 1) : 0;
}

KEEP void sort_numbers(int low, int high)
{
	unsigned pivot = numbers[(low + high) / 2];
	int i = low, j = high;

	while (i <= j) {
		while (numbers[i] < pivot)
			i++;
		while (numbers[j] > pivot)
			j--;
		if (i <= j) {
			unsigned kept = numbers[i];

			numbers[i++] = numbers[j];
			numbers[j--] = kept;
		}
	}
	if (low < j)
		sort_numbers(low, j);
	if (i < high)
		sort_numbers(i, high);
}

void _start(void)
{
	volatile unsigned sum = 0;

	for (;;) {
		for (int i = 0; i < 4000; i++)
			numbers[i] = (seed = seed * 1103515245 + 12345) >> 8;
		sort_numbers(0, 3999);
		sum += hanoi(14);
	}
}
