/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Exceptions thrown all the time, through a frame with an object to destroy. */

#include <cstdio>
#include <unistd.h>

#if defined(__has_attribute) && __has_attribute(noipa)
#define KEEP __attribute__((noipa))
#else
#define KEEP __attribute__((noinline))
#endif
#define STAY __asm__ volatile("" ::: "memory")

extern "C" {
static volatile int frames_stop;

struct guard {
	volatile int *count;
	KEEP ~guard()
	{
		++*count;
	}
};

static KEEP void thrower(int x)
{
	STAY;
	throw x;
}

static KEEP void passer(volatile int *count)
{
	guard g{count};

	thrower(1);
	STAY;
}

static KEEP void catcher(void)
{
	volatile int count = 0;

	while (!frames_stop) {
		try {
			passer(&count);
		} catch (int x) {
			count = count + x;
		}
	}
}
}

int main()
{
	char line[16];
	int n = snprintf(line, sizeof(line), "%d\n", (int)getpid());

	alarm(290);
	if (write(1, line, (size_t)n) != n)
		return 1;
	catcher();
	STAY;
	return 0;
}
