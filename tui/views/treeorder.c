// SPDX-License-Identifier: GPL-2.0-or-later
/* Siblings are lists, so this is a merge sort of lists: it needs no memory, and one pass if they
 * are in order. */
#include "tui/views/treeorder.h"

#include <string.h>

#include "tui/views/calltree.h"
#include "tui/views/treerows.h"
#include "tui/util/share.h"

#define RUNS 32 /* run i has 2^i nodes */

static double change(const struct calltree *calls, uint32_t node)
{
	double before = calltree_before(calls, node);

	return before < 0 ? 0 : calltree_share(calls, calls->tree.nodes[node].total) - before;
}

static int by_column(const struct calltree *calls, enum treeorder_by by, uint32_t a, uint32_t b)
{
	const struct tree_node *x = &calls->tree.nodes[a], *y = &calls->tree.nodes[b];

	switch (by) {
	case TREEORDER_SELF:
		return most_first((double)x->self, (double)y->self);
	case TREEORDER_CHANGE:
		return most_first(change(calls, a), change(calls, b));
	case TREEORDER_NAME:
		return strcmp(calltree_func(calls, a)->name, calltree_func(calls, b)->name);
	case TREEORDER_MODULE:
		return strcmp(calltree_func(calls, a)->module, calltree_func(calls, b)->module);
	default:
		return most_first((double)x->total, (double)y->total);
	}
}

/* <= 0: a stands before b. */
static int compare(const struct calltree *calls, uint32_t a, uint32_t b)
{
	const struct tree_node *x = &calls->tree.nodes[a], *y = &calls->tree.nodes[b];
	int small = treerows_small(calls, a) - treerows_small(calls, b);
	int result = small ? small : by_column(calls, calls->order.by, a, b);

	if (!small && calls->order.inverted)
		result = -result;
	if (!result)
		result = most_first((double)x->total, (double)y->total);
	return result ? result : (x->path > y->path) - (x->path < y->path);
}

static uint32_t merge(struct calltree *calls, uint32_t a, uint32_t b)
{
	struct tree_node *nodes = calls->tree.nodes;
	uint32_t first = 0, *to = &first;

	while (a && b) {
		uint32_t *least = compare(calls, a, b) <= 0 ? &a : &b;

		*to = *least;
		to = &nodes[*least].next;
		*least = *to;
	}
	*to = a ? a : b;
	return first;
}

static uint32_t sort(struct calltree *calls, uint32_t first)
{
	uint32_t run[RUNS] = {0}, all = 0;

	while (first) {
		uint32_t one = first;
		int i = 0;

		first = calls->tree.nodes[one].next;
		calls->tree.nodes[one].next = 0;
		for (; i < RUNS - 1 && run[i]; i++) {
			one = merge(calls, run[i], one);
			run[i] = 0;
		}
		run[i] = run[i] ? merge(calls, run[i], one) : one;
	}
	for (int i = 0; i < RUNS; i++)
		all = merge(calls, run[i], all);
	return all;
}

void treeorder_apply(struct treeorder order, struct calltree *calls)
{
	if (calls->order.by == order.by && calls->order.inverted == order.inverted)
		return;
	calls->order = order;
	for (uint32_t i = 0; i < calls->tree.count; i++)
		calls->tree.nodes[i].first_child = sort(calls, calls->tree.nodes[i].first_child);
}
