// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A deep stack of which only one outer return address changes: `left` and `right` have the same
 * frame and call `descend` in turn, which goes down the same way and burns CPU in `burn_left` or
 * `burn_right`. Prints the nanoseconds of CPU time burnt below each, every tenth of a second.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>

#define KEEP	  __attribute__((noinline, noclone))
#define STAY(x)	  __asm__ volatile("" : "+r"(x) : : "memory")
#define DEPTH	  60
#define TURN_NS	  3000000ull
#define TELL_TURN 17

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

#define BURN(name)                                                                                 \
	KEEP static int name(uint64_t until)                                                       \
	{                                                                                          \
		unsigned int n = 0;                                                                \
                                                                                                   \
		while (cpu_ns() < until)                                                           \
			for (unsigned int i = 0; i < 20000; i++)                                   \
				STAY(n);                                                           \
		return (int)n;                                                                     \
	}

BURN(burn_left)
BURN(burn_right)

/* The call is the same for both, so that its return address is, too. */
KEEP static int descend(int depth, int (*burn)(uint64_t), uint64_t until)
{
	int more = depth > 0 ? descend(depth - 1, burn, until) : burn(until);

	STAY(more);
	return more + 1;
}

#define SIDE(name)                                                                                 \
	KEEP static int name(int (*burn)(uint64_t), uint64_t until)                                \
	{                                                                                          \
		int more = descend(DEPTH, burn, until);                                            \
                                                                                                   \
		STAY(more);                                                                        \
		return more + 1;                                                                   \
	}

SIDE(left)
SIDE(right)

int main(void)
{
	int (*const sides[2])(int (*)(uint64_t), uint64_t) = {left, right};
	int (*const burns[2])(uint64_t) = {burn_left, burn_right};
	uint64_t spent[2] = {0}, before;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (unsigned int i = 0;; i++) {
		int (*const side)(int (*)(uint64_t), uint64_t) = sides[i & 1];

		before = cpu_ns();
		side(burns[i & 1], before + (i & 1 ? TURN_NS : 2 * TURN_NS));
		spent[i & 1] += cpu_ns() - before;
		if (i % TELL_TURN == 0) {
			printf("%llu %llu\n", (unsigned long long)spent[0],
			       (unsigned long long)spent[1]);
			fflush(stdout);
		}
	}
}
