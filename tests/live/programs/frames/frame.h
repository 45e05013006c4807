/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_LIVE_FRAMES_FRAME_H
#define STACKTOP_TESTS_LIVE_FRAMES_FRAME_H

/*
 * Shared by the programs with only one true stack: functions that stay functions, a leaf that burns
 * the CPU, and the message to the test that from now on only the construct runs.
 */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(__has_attribute) && __has_attribute(noipa)
#define KEEP __attribute__((noipa))
#else
#define KEEP __attribute__((noinline))
#endif

/* After a call: the call is no tail call. */
#define STAY __asm__ volatile("" ::: "memory")

/* Keeps all bytes of a local array: for the compiler, the asm statement may access them. */
#define WHOLE(array) __asm__ volatile("" : : "r"(array) : "memory")

static volatile int frames_stop; /* never set, which the compiler cannot know */

/* Prints the PID for the test. SIGALRM ends the process if the test does not. */
static inline void ready(void)
{
	char line[16];
	int n = snprintf(line, sizeof(line), "%d\n", (int)getpid());

	alarm(290);
	if (write(1, line, (size_t)n) != n)
		_exit(1);
}

__attribute__((unused)) static KEEP void spin(void)
{
	while (!frames_stop)
		STAY;
}

/* A mode of a program: its first argument. */
struct frames_mode {
	const char *name;
	void (*run)(void);
};

/* The mode named by argv[1]; without one, exits with status 2. */
static inline void (*frames_choose(const struct frames_mode *modes, size_t count, int argc,
				   char **argv))(void)
{
	for (size_t i = 0; i < count; i++)
		if (argc > 1 && !strcmp(argv[1], modes[i].name))
			return modes[i].run;
	fprintf(stderr, "%s: no such mode\n", argc > 1 ? argv[1] : "(none)");
	_exit(2);
}

#define FRAMES_MAIN(...)                                                                           \
	int main(int argc, char **argv)                                                            \
	{                                                                                          \
		static const struct frames_mode modes[] = {__VA_ARGS__};                           \
		frames_choose(modes, sizeof(modes) / sizeof(modes[0]), argc, argv)();              \
		STAY;                                                                              \
		return 0;                                                                          \
	}

#endif
