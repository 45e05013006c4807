/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trees that begin with processes, or with groups of them: each has what it would have alone, and
 * what is found below counts for each of them.
 * Covers: tui/query/query_tree.c tui/query/query.h
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/machine.h"
#include "tui/query/query.h"

static int setup(void **state)
{
	static struct machine m;

	machine_open(&m);
	for (int i = 0; i < 3; i++)
		assert_int_equal(machine_slice(&m, 0), 0);
	profile_lock(m.p);
	*state = &m;
	return 0;
}

static int teardown(void **state)
{
	struct machine *m = *state;

	profile_unlock(m->p);
	machine_close(m);
	return 0;
}

static struct tree ask(const struct machine *m, struct query q, bool callers)
{
	struct tree tree;
	uint32_t hottest;

	q.span = SPAN_WINDOW;
	assert_int_equal(query_rows(m->p, &q, callers, 0, &tree, &hottest), 0);
	return tree;
}

/* Adds up what is below the node, in an order that does not depend on numbers. */
static uint64_t digest(const struct tree *tree, uint32_t node)
{
	uint64_t sum = tree->nodes[node].self * 31 + tree->nodes[node].total;

	for (uint32_t c = tree->nodes[node].first_child; c; c = tree->nodes[c].next)
		sum += (tree->nodes[c].func + 7) * digest(tree, c);
	return sum;
}

static void each_process_has_its_own_tree(void **state)
{
	const struct machine *m = *state;
	struct tree all = ask(m, (struct query){.proc = QUERY_ALL, .by_process = true}, false);
	uint64_t total = 0;
	uint32_t n = 0;

	for (uint32_t c = all.nodes[0].first_child; c; c = all.nodes[c].next, n++) {
		const struct tree_node *node = &all.nodes[c];
		struct tree own = ask(m, (struct query){.proc = node->proc}, false);

		assert_int_equal(node->func, QUERY_NONE);
		assert_int_equal(node->total, own.nodes[0].total);
		assert_int_equal(node->nchildren, own.nodes[0].nchildren);
		assert_int_equal(digest(&all, c), digest(&own, 0));
		total += node->total;
		free(own.nodes);
	}
	assert_int_equal(n, 4);
	assert_int_equal(total, all.nodes[0].total);
	free(all.nodes);
}

static void one_process_has_no_level(void **state)
{
	const struct machine *m = *state;
	struct tree all = ask(m, (struct query){.proc = QUERY_ALL, .by_process = true}, false);
	struct tree one = ask(m, (struct query){.proc = m->nginx, .by_process = true}, false);
	const struct tree_node *first = &one.nodes[one.nodes[0].first_child];

	assert_int_not_equal(first->func, QUERY_NONE);
	/* Its paths are the same nevertheless. */
	assert_int_equal(one.nodes[0].path, all.nodes[all.nodes[0].first_child].path);
	free(one.nodes);
	one = ask(m, (struct query){.proc = QUERY_ALL, .by_process = true}, true);
	assert_int_not_equal(one.nodes[one.nodes[0].first_child].func, QUERY_NONE);
	free(one.nodes);
	free(all.nodes);
}

static const char *of_root_or_not(const struct profile_proc *proc)
{
	return strcmp(proc->user, "root") == 0 ? "root" : "others";
}

static void groups_add_up(void **state)
{
	const struct machine *m = *state;
	struct query q = {.proc = QUERY_ALL, .by_process = true, .process_text = of_root_or_not};
	uint32_t *owners;
	struct tree tree, root;
	const struct tree_node *others;

	assert_int_equal(query_owners(m->p, of_root_or_not, &owners), 0);
	q.owners = owners;
	tree = ask(m, q, false);
	root = ask(m, (struct query){.proc = m->kswapd}, false);
	others = &tree.nodes[tree.nodes[0].first_child];
	assert_int_equal(tree.nodes[0].nchildren, 2);
	assert_int_equal(others->total + root.nodes[0].total, tree.nodes[0].total);
	assert_int_equal(tree.nodes[others->next].total, root.nodes[0].total);
	free(tree.nodes);
	free(root.nodes);
	free(owners);
}

static bool is_main(const struct profile_func *func, void *arg)
{
	(void)arg;
	return strcmp(func->name, "main") == 0;
}

struct finding {
	struct match_cache funcs;
	struct query_found all, nginx;
};

static int find(struct tree_part *part, void *arg)
{
	struct finding *f = arg;
	int err = query_part_children(part, 0);

	if (!err)
		err = query_part_found(part, 0, &f->funcs, &f->all);
	/* The process with most samples. */
	return err ? err : query_part_found(part, 1, &f->funcs, &f->nginx);
}

static void what_is_found_counts_for_each(void **state)
{
	const struct machine *m = *state;
	const struct query q = {.proc = QUERY_ALL, .span = SPAN_WINDOW, .by_process = true};
	struct finding f = {0};
	struct tree tree;

	assert_int_equal(query_judge_funcs(m->p, &f.funcs, is_main, NULL), 0);
	assert_int_equal(query_part(m->p, &q, false, find, &f, &tree), 0);
	assert_int_equal(f.all.nodes, 2); /* of postgres and of node */
	assert_int_equal(f.all.samples, 3 * (60 + 5));
	assert_int_equal(f.nginx.nodes, 0);
	match_cache_free(&f.funcs);
	free(tree.nodes);
}

#define PROCESS_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROCESS_TEST(each_process_has_its_own_tree),
		PROCESS_TEST(one_process_has_no_level),
		PROCESS_TEST(groups_add_up),
		PROCESS_TEST(what_is_found_counts_for_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
