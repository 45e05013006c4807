/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A 32-bit process without a libc, so that it needs only the compiler's package. */

void _start(void);

static volatile unsigned int sink;

static __attribute__((noinline)) void spin(void)
{
	for (;;)
		sink = sink * 1664525 + 1013904223;
}

void _start(void)
{
	spin();
}
