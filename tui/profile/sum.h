/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PROFILE_SUM_H
#define STACKTOP_TUI_PROFILE_SUM_H

/*
 * A sum of slices, without threads and CPUs: the sliding window, the time before it, the totals and
 * what is frozen. For tui/profile only.
 */

#include <stdbool.h>
#include <stdint.h>

#include "tui/profile/celltable.h"

struct profile;
struct slice;

struct sum {
	struct celltable cells;
	size_t zeros; /* cells of no samples, whose ids may be dead */
	bool holds;   /* cells with samples hold references to their process and stacks */
};

/* A zeroed struct is an empty sum that holds no references. */
void sum_free(struct sum *sum);
/* Drops all cells and their references. */
void sum_clear(struct profile *p, struct sum *sum);
/* Room for so many more cells: sum_add of slices of so many cannot fail. -ENOMEM. */
int sum_reserve(const struct profile *p, struct sum *sum, size_t cells);
void sum_add(struct profile *p, struct sum *sum, const struct slice *slice);
/* The slice is part of the sum. */
void sum_take(struct profile *p, struct sum *sum, const struct slice *slice);
/* Copies into an empty sum, without references. -ENOMEM: it stays empty. */
int sum_copy(struct sum *sum, const struct sum *from);
/* Takes references for all cells, or drops them. */
void sum_hold(struct profile *p, struct sum *sum);
void sum_unhold(struct profile *p, struct sum *sum);

/* Takes references to the process and the stacks of a cell, or drops them. */
void profile_refer(struct profile *p, uint32_t proc, uint32_t ustack, uint32_t kstack);
void profile_unrefer(struct profile *p, uint32_t proc, uint32_t ustack, uint32_t kstack);

#endif
