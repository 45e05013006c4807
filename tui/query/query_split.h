/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_QUERY_QUERY_SPLIT_H
#define STACKTOP_TUI_QUERY_QUERY_SPLIT_H

/*
 * The cells of a question, split by the functions that their stacks go on with, as far as asked
 * for: below the root are all cells, below a child of it those that go through its function, and
 * so on. A range is some of the cells, which stand one after another. For query_part.c only.
 */

#include <stdbool.h>
#include <stdint.h>

struct profile;
struct query;
struct query_found;
struct split;
struct verdicts;

struct split_group { /* the cells of a range that go on with one function, or have one root */
	uint32_t func;
	uint32_t first, count; /* its range */
	uint64_t self;	       /* of cells that end with the function */
	uint64_t total;
	uint64_t before; /* total of the baseline */
};

/* The cells of the question, and of the baseline where that is compared; *root has all of them. The
 * lock is held until the split is freed. -ENOMEM. */
int split_new(const struct profile *p, const struct query *q, bool callers, struct split **split,
	      struct split_group *root);
void split_free(struct split *split);
/* Splits a range that is a group's, once, by the functions that come next: *groups is valid until
 * the next call. -ENOMEM. */
int split_range(struct split *split, uint32_t first, uint32_t count,
		const struct split_group **groups, uint32_t *ngroups);
/* What passes in the group, whose range was not split yet: its function, and those below. -ENOMEM.
 */
int split_found(const struct split *split, const struct split_group *group,
		const struct verdicts *funcs, struct query_found *found);

#endif
