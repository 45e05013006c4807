/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A self-contained chain of calls: NAME_one, NAME_two, NAME_spin, until *stop. NAME tells one file
 * from another; PAD (bytes of stack) gives the same address in two files different unwind rules.
 */
#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)

__attribute__((noinline)) static void JOIN(NAME, _spin)(volatile int *stop)
{
	volatile char pad[PAD];

	while (!*stop)
		pad[0]++;
}

__attribute__((noinline)) static void JOIN(NAME, _two)(volatile int *stop)
{
	volatile char pad[PAD * 2];

	pad[0] = 0;
	JOIN(NAME, _spin)(stop);
	pad[0]++;
}

__attribute__((noinline)) void JOIN(NAME, _one)(volatile int *stop)
{
	JOIN(NAME, _two)(stop);
	*(volatile char *)stop |= 1;
}
