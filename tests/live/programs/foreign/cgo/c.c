// SPDX-License-Identifier: GPL-2.0-or-later
#include "_cgo_export.h"

int c_work(int x);
int c_through(int x);

static volatile unsigned int sink;

static __attribute__((noinline)) unsigned int c_spin(unsigned int x)
{
	for (;;) {
		x = x * 1664525 + 1013904223;
		if (x == 1 && sink == 2)
			return x;
	}
}

int c_work(int x)
{
	return (int)c_spin((unsigned int)x) + 1;
}

static __attribute__((noinline)) int c_again(int x)
{
	return goBack(x) + 1;
}

int c_through(int x)
{
	return c_again(x) + 1;
}
