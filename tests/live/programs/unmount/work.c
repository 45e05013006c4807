// SPDX-License-Identifier: GPL-2.0-or-later
/* Spins in a library, below a function named after it: main, NAME, NAME##_outer, NAME##_inner. */
#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define OUTER	    JOIN(NAME, _outer)

extern volatile unsigned long turns;
void OUTER(void);

#ifdef LIBRARY
volatile unsigned long turns;

static __attribute__((noinline)) void JOIN(NAME, _inner)(void)
{
	for (int i = 0; i < 1000000; i++)
		turns++;
}

void OUTER(void)
{
	JOIN(NAME, _inner)();
	turns++;
}
#else
static __attribute__((noinline)) void NAME(void)
{
	OUTER();
	__asm__ volatile("" : : : "memory");
}

int main(void)
{
	for (;;)
		NAME();
}
#endif
