// SPDX-License-Identifier: GPL-2.0-or-later
int h_one(int x);

static volatile unsigned int sink;

static __attribute__((noinline)) unsigned int h_two(unsigned int x)
{
	for (;;) {
		x = x * 1664525 + 1013904223;
		if (x == 1 && sink == 2)
			return x;
	}
}

int h_one(int x)
{
	return (int)h_two((unsigned int)x) + 1;
}
