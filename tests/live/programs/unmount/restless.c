// SPDX-License-Identifier: GPL-2.0-or-later
/* Whenever it runs, it is nearly always at an address where it never was. */
#include <unistd.h>

static __attribute__((noinline)) void long_way(void)
{
	__asm__ volatile(".rept 4000000\n\tnop\n\t.endr");
}

int main(void)
{
	for (;;) {
		long_way();
		usleep(5000); /* others want the CPU, too */
	}
}
