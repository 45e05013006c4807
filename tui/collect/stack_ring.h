/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_COLLECT_STACK_RING_H
#define STACKTOP_TUI_COLLECT_STACK_RING_H

/*
 * Which raw stacks were sampled how often in the last seconds. The profile keeps only functions; an
 * annotation counts instructions, for which it needs the raw stacks, including those sampled before
 * it was asked for.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define STACK_RING_MAX (1u << 17) /* 5 MiB; then the oldest are forgotten */

struct stack_ring;

struct stack_hit {
	uint64_t time;	 /* end of its slice, CLOCK_MONOTONIC ns */
	uint64_t hash;	 /* of the user stack; 0: there is none */
	uint64_t kernel; /* of the kernel stack; 0: the samples were in user code */
	uint64_t exec;	 /* count_key.exec_id */
	pid_t pid;
	uint32_t count;
};

/* NULL: no memory. */
struct stack_ring *stack_ring_new(void);
void stack_ring_free(struct stack_ring *h);
/* Without memory it is not remembered. Times ascend. */
void stack_ring_add(struct stack_ring *h, const struct stack_hit *hit);
/* Forgets hits before that time. */
void stack_ring_forget(struct stack_ring *h, uint64_t before);
size_t stack_ring_count(const struct stack_ring *h);
/* Hit i, 0 being the oldest. Valid until the next stack_ring_add. */
const struct stack_hit *stack_ring_at(const struct stack_ring *h, size_t i);

#endif
