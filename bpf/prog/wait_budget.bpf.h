/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_PROG_WAIT_BUDGET_BPF_H
#define STACKTOP_BPF_PROG_WAIT_BUDGET_BPF_H

/*
 * Which waits have their stacks taken. Stacks cost much more than stamps, so each CPU has a budget
 * for them. While it is spent, a thread whose waits are short on average has the stacks of only one
 * in so many taken, which then stands for all of these. `limit` rises until that is enough. A wait
 * that turns out longer than the limit stands for itself, with its stacks or without.
 */
#include "bpf/prog/maps.bpf.h"

#define BUDGET_NS  10000000ll /* that can be saved up */
#define TURN_NS	   10000000u
#define PAUSE_NS   1000000000u
#define LIMIT_MIN  1000u
#define LIMIT_MAX  100000000u
#define SCALE_MAX  4096u
#define MEAN_FIRST 1000000u /* ns */
#define MEAN_MAX   4000000000u

/*
 * Gives the CPU its share of the time since the last turn, and finds the limit with which it gets
 * by: it rises by as much as was spent too much, and falls slowly. After a pause it is found anew.
 */
static __always_inline void budget_turn(struct wait_budget *b, __u64 now)
{
	__u64 passed = now - b->at, share = passed / config.wait_share, times;

	b->at = now;
	b->ns += (__s64)share - (__s64)b->spent;
	if (b->ns > BUDGET_NS)
		b->ns = BUDGET_NS;
	if (b->ns < -BUDGET_NS)
		b->ns = -BUDGET_NS;
	if (passed >= PAUSE_NS)
		b->limit = 0;
	else if (b->ns < 0 && b->spent > share) {
		times = b->spent * 4 / (share | 1); /* at most fourfold */
		b->limit = b->limit * (times > 16 ? 16 : times) / 4 + LIMIT_MIN;
	} else if (b->ns >= 0 || b->spent < share / 2) {
		b->limit -= b->limit / 16;
	}
	if (b->limit > LIMIT_MAX)
		b->limit = LIMIT_MAX;
	if (b->limit < LIMIT_MIN)
		b->limit = 0;
	b->spent = 0;
}

/* For how many waits the stacks of this one stand if they are taken, by the mean of those before.
 */
static __always_inline __u32 budget_ask(struct wait_budget *b, struct wait_stats *ws, __u64 mean,
					__u64 now)
{
	__u64 scale = 1;

	if (now - b->at >= TURN_NS) {
		budget_turn(b, now);
		ws->limit = b->limit;
	}
	if (b->limit > mean)
		scale = b->limit / (mean | 1);
	if (scale > SCALE_MAX)
		scale = SCALE_MAX;
	return scale;
}

static __always_inline __u32 *mean_of(struct thread_entry *t, __u32 state)
{
	return &t->mean[state < THREAD_STATES ? state : 0];
}

static __always_inline void mean_add(__u32 *mean, __u64 ns)
{
	*mean = (3ull * *mean + (ns < MEAN_MAX ? ns : MEAN_MAX)) / 4;
}

#endif
