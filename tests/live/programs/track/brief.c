/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ends at once, after a little work, so that a thousand a second can be started. */
int main(void)
{
	for (volatile int i = 0; i < 20000; i++)
		;
	return 0;
}
