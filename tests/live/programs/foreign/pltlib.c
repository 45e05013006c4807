/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Called by plt.c: functions in another object that cost as little as a stub does. */

unsigned int nothing_1(unsigned int x);
unsigned int nothing_2(unsigned int x);

unsigned int nothing_1(unsigned int x)
{
	return x + 3;
}

unsigned int nothing_2(unsigned int x)
{
	return x ^ 5;
}
