/* SPDX-License-Identifier: GPL-2.0-or-later */
/* build: -O1 -fno-optimize-sibling-calls -fno-inline -Wall -Wextra */
/*
 * A busy process with harmful names. Its comm tries to move the cursor, to end the line and to
 * add a frame. The test makes a copy of the file and overwrites the two functions' names there
 * with bytes that no compiler would accept.
 *
 *	hostile [SECONDS]	runs that long (30) and ends with 0
 */

#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static volatile unsigned int sink;

__attribute__((noipa)) void placeholder_inner_function(void)
{
	for (unsigned int i = 0; i < 100000; i++)
		sink = sink * 1664525 + i;
}

__attribute__((noipa)) void placeholder_outer_function(void)
{
	placeholder_inner_function();
	sink++;
}

int main(int argc, char **argv)
{
	prctl(PR_SET_NAME, "\033[2J;x 9\n\xff\tz", 0, 0, 0);
	alarm(argc > 1 ? (unsigned int)atoi(argv[1]) : 30);
	for (;;)
		placeholder_outer_function();
}
