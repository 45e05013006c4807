/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_COLLECT_STACK_RING_H
#define STACKTOP_TUI_COLLECT_STACK_RING_H

/*
 * Which raw stacks were sampled how often in the last seconds. The profile keeps only functions; an
 * annotation counts instructions, for which it needs the raw stacks, also those sampled before it
 * was asked for.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define HITS_MAX (1u << 17) /* 5 MiB; beyond, the oldest are forgotten */

struct hits;

struct hit {
	uint64_t time; /* end of its slice, CLOCK_MONOTONIC ns */
	uint64_t hash; /* of the user stack */
	uint64_t exec; /* count_key.exec */
	pid_t pid;
	uint32_t count;
	bool kernel; /* the samples were in the kernel */
};

/* NULL: no memory. */
struct hits *hits_new(void);
void hits_free(struct hits *h);
/* Without memory it is not remembered. Times ascend. */
void hits_add(struct hits *h, const struct hit *hit);
/* Forgets what is older. */
void hits_forget(struct hits *h, uint64_t before);
size_t hits_count(const struct hits *h);
/* From the oldest, 0, on. Valid until the next hits_add. */
const struct hit *hits_at(const struct hits *h, size_t i);

#endif
