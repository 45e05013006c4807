// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * More paths than are kept between questions, and than a tree has room for: what is told of them is
 * what is told where none are kept, and a part of them is whole.
 * Covers: tui/query/query_split.c tui/query/query_paths.c tui/query/query_priv.h
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/deep.h"
#include "tests/support/feed.h"
#include "tui/query/query_priv.h"

static int by_path(const void *a, const void *b)
{
	const struct tree_node *x = a, *y = b;

	return (x->path > y->path) - (x->path < y->path);
}

/* The same as without paths that are kept. */
static void check_deep(uint32_t n, uint32_t deep, uint32_t nodes)
{
	struct query q = {.weigh = WEIGH_WINDOW, .proc = QUERY_ALL};
	struct tree tree[2];

	for (int kept = 0; kept < 2; kept++) {
		struct profile *p = profile_new(10, 100000);

		if (kept)
			profile_keep(p, 600, 1 << 20);
		feed_deep(p, n, deep);
		if (kept)
			profile_prepare(p);
		assert_int_equal(query_tree(p, &q, &tree[kept]), 0);
		assert_int_equal(tree[kept].count, nodes);
		qsort(tree[kept].nodes, nodes, sizeof(*tree[kept].nodes), by_path);
		profile_free(p);
	}
	for (uint32_t i = 0; i < nodes; i++) {
		assert_int_equal(tree[0].nodes[i].path, tree[1].nodes[i].path);
		assert_int_equal(tree[0].nodes[i].self, tree[1].nodes[i].self);
		assert_int_equal(tree[0].nodes[i].total, tree[1].nodes[i].total);
	}
	free(tree[0].nodes);
	free(tree[1].nodes);
}

static void rare_paths_give_way(void **state)
{
	(void)state;
	check_deep(100, 20, 2001);
	check_deep(2100, 120, 200000);
	check_deep(5000, 120, 200000);
}

#define MANY 5000 /* stacks ... */
#define DEEP 120  /* ... of so many functions, all but the outermost the same */

struct asked {
	uint32_t levels; /* below the root that are asked about */
	bool again;	 /* grow came to its end */
};

static int ask_levels(struct tree_part *part, void *arg)
{
	const struct tree *tree = query_part_tree(part);
	struct asked *asked = arg;
	uint32_t end = 1;
	int err = 0;

	for (uint32_t level = 0, i = 0; level < asked->levels && !err; level++, end = tree->count)
		for (; i < end && !err; i++)
			err = query_part_children(part, i);
	asked->again = !err;
	return err;
}

/* Of feed_deep's stacks, which are as many as their greatest count. */
static void check_outermost(const struct profile *p, const struct tree *tree, uint32_t node)
{
	unsigned int n = 0;

	assert_int_equal(sscanf(query_func(p, tree->nodes[node].func)->name, "f%u", &n), 1);
	assert_true(n >= 1000 && n < 1000 + MANY);
	assert_int_equal(tree->nodes[node].total, 1 + (n - 1000) * 7919 % MANY);
}

/* What is seen is not cut, however many paths there are, unless it is too much itself. */
static void a_part_of_too_many_is_exact(void **state)
{
	static const enum weigh weighs[] = {WEIGH_WINDOW, WEIGH_TOTAL};
	struct profile *p = profile_new(10, 100000);
	const uint64_t all = (uint64_t)MANY * (MANY + 1) / 2;

	(void)state;
	profile_keep(p, 600, 1 << 20);
	feed_deep(p, MANY, DEEP);
	for (int i = 0; i < 4; i++) {
		struct query q = {.weigh = weighs[i / 2], .proc = QUERY_ALL};
		struct asked asked = {.levels = DEEP + 1};
		struct tree tree;
		bool whole;

		assert_int_equal(query_part(p, &q, true, ask_levels, &asked, &tree, &whole), 0);
		assert_true(asked.again && !whole);
		assert_int_equal(tree.count, DEEP + MANY);
		for (uint32_t n = 0; n < DEEP; n++) {
			assert_int_equal(tree.nodes[n].total, all);
			assert_int_equal(tree.nodes[n].self, 0);
			assert_int_equal(tree.nodes[n].nchildren, n < DEEP - 1 ? 1 : MANY);
		}
		for (uint32_t n = DEEP; n < tree.count; n++) {
			check_outermost(p, &tree, n);
			assert_int_equal(tree.nodes[n].self, tree.nodes[n].total);
		}
		free(tree.nodes);

		asked.levels = 2;
		assert_int_equal(query_part(p, &q, false, ask_levels, &asked, &tree, &whole), 0);
		assert_true(asked.again && !whole);
		assert_int_equal(tree.count, 1 + 2 * MANY);
		for (uint32_t n = 1; n <= MANY; n++) {
			check_outermost(p, &tree, n);
			assert_int_equal(tree.nodes[tree.nodes[n].first_child].total,
					 tree.nodes[n].total);
		}
		free(tree.nodes);

		asked.levels = DEEP;
		assert_int_equal(query_part(p, &q, false, ask_levels, &asked, &tree, &whole), 0);
		assert_true(!asked.again && whole);
		assert_int_equal(tree.count, 200000);
		free(tree.nodes);
		if (i % 2 == 0)
			profile_prepare(p);
	}
	profile_free(p);
}

/* Cells still have ends in a tree of the number that is given again. */
static void numbers_of_trees_begin_again(void **state)
{
	struct query q = {.weigh = WEIGH_WINDOW, .proc = QUERY_ALL};
	struct profile *p = profile_new(10, 100000);
	struct tree before, after;
	uint32_t first;

	(void)state;
	profile_keep(p, 600, 1 << 20);
	feed_deep(p, 100, 20);
	profile_prepare(p);
	assert_int_equal(query_tree(p, &q, &before), 0);
	first = p->scratch->trees[0];
	p->scratch->trees[0] = (first + (1U << 12) - 1) % (1U << 12);
	p->scratch->walks = UINT32_MAX; /* which makes both trees old */
	query_paths_renew(p);
	assert_int_equal(p->scratch->trees[0], first);
	assert_int_equal(query_tree(p, &q, &after), 0);
	assert_int_equal(after.count, before.count);
	for (uint32_t i = 0; i < before.count; i++) {
		assert_int_equal(after.nodes[i].path, before.nodes[i].path);
		assert_int_equal(after.nodes[i].total, before.nodes[i].total);
	}
	free(before.nodes);
	free(after.nodes);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_trees_begin_again),
		cmocka_unit_test(rare_paths_give_way),
		cmocka_unit_test(a_part_of_too_many_is_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
