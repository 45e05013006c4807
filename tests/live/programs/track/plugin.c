/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A chain of calls that needs nothing outside: NAME_one, NAME_two, NAME_spin, until *stop. NAME is
 * what tells one file from another, PAD (bytes of stack) makes the same place in two files have
 * different unwind rules.
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
