// SPDX-License-Identifier: GPL-2.0-or-later
/* Is at a new address nearly each time it runs. */
#include <unistd.h>

static __attribute__((noinline)) void long_way(void)
{
	__asm__ volatile(".rept 4000000\n\tnop\n\t.endr");
}

int main(void)
{
	for (;;) {
		long_way();
		usleep(50000); /* leaves the CPU to other programs */
	}
}
