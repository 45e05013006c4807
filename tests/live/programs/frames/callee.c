/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The library behind plt.c, linked to it as libcallee.so and opened by it as libopened.so. */

int callee(int x);
int callee_calls(void (*function)(void));
int callee_lazily(int x);

int callee(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

int callee_calls(void (*function)(void))
{
	volatile int local[20];

	local[0] = 1;
	function();
	return local[0];
}

/* Exported, so it goes through this library's own PLT, too. */
int callee_lazily(int x)
{
	return callee(x) + 1;
}
