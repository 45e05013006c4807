/* SPDX-License-Identifier: GPL-2.0-or-later */
/* build: alone */
/*
 * The sources are compiled into the test with an allocator that fails once, at the Nth call, for
 * every N until nothing fails any more. Whatever was refused has left no trace, the profile goes
 * on, and (under the sanitizers) nothing leaks.
 * Covers: tui/profile/profile.c tui/profile/profile_names.c tui/profile/profile_fold.c
 * Covers: tui/profile/profile_history.c tui/profile/frozen_sum.c tui/query/query.c
 * Covers: tui/query/query_tree.c tui/query/query_procs.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>

static long fail_at; /* 0: never */
static long calls;

static bool failing(void)
{
	return fail_at && ++calls == fail_at;
}

static void *failing_malloc(size_t size)
{
	return failing() ? NULL : malloc(size);
}

static void *failing_calloc(size_t n, size_t size)
{
	return failing() ? NULL : calloc(n, size);
}

static void *failing_reallocarray(void *p, size_t n, size_t size)
{
	return failing() ? NULL : reallocarray(p, n, size);
}

#define malloc	     failing_malloc
#define calloc	     failing_calloc
#define reallocarray failing_reallocarray

/* Names that are static in more than one of the files. */
#define count_cell  procs_count_cell
#define before_cell procs_before_cell
#define by_total    tree_by_total
#include "tui/query/query_procs.c"
#undef count_cell
#undef before_cell
#include "tui/query/query_tree.c"
#undef by_total
#include "tui/profile/celltable.c"
#include "tui/export/folded.c"
#include "tui/util/idtable.c"
#include "tui/profile/profile.c"
#include "tui/profile/frozen_sum.c"
#include "tui/profile/profile_get.c"
#include "tui/profile/span.c"
#include "tui/profile/sum.c"
#include "tui/profile/profile_fold.c"
#include "tui/profile/profile_history.c"
#include "tui/profile/board.c"
#include "tui/profile/profile_names.c"
#include "tui/profile/profile_pool.c"
#include "tui/query/query.c"
#include "tui/profile/decay.c"
#include "tui/query/query_funcs.c"
#include "tests/support/trees.h"

#undef malloc
#undef calloc
#undef realloc
#undef reallocarray

#define CELLS 100 /* enough for every array to grow: below 86 fewer do */
#define LONG  8	  /* every LONGth profile goes through all rounds after a refusal */

static int64_t stack_make_named(struct profile *p, const char *name, bool kernel)
{
	int64_t func = profile_func(p, kernel ? FUNC_KERNEL : FUNC_USER, name, "m");
	uint32_t frames[3];
	struct profile_stack stack = {
		.kernel = kernel, .complete = !kernel, .nframes = 3, .frames = frames};

	if (func < 0)
		return func;
	for (int i = 0; i < 3; i++)
		frames[i] = (uint32_t)func;
	return profile_stack_new(p, &stack);
}

/* A slice of many new names; -ENOMEM from whichever step was refused. Gives every reference back.
 */
static int feed(struct profile *p, int round)
{
	struct profile_health health = {.elapsed = 1000000000, .frequency = 99, .ncpus = 1};
	struct profile_cell cells[CELLS];
	int n = 0, err = 0;

	for (; n < CELLS && !err; n++) {
		struct profile_proc info = {.pid = n + 1, .image = (uint64_t)round, .comm = "x"};
		char name[32];
		int64_t proc = profile_proc(p, &info), stack = -ENOMEM;

		snprintf(name, sizeof(name), "r%d_%d", round, n);
		if (proc >= 0)
			stack = stack_make_named(p, name, n % 2);
		if (stack < 0) {
			err = (int)stack;
			break;
		}
		cells[n] = (struct profile_cell){
			(uint32_t)proc, 0, PROFILE_NO_STACK, (uint32_t)stack, 2, 0, 0};
	}
	if (!err)
		err = profile_commit(p, cells, CELLS, &health);
	while (n-- > 0)
		profile_stack_put(p, cells[n].kstack);
	return err;
}

static int ask(struct profile *p)
{
	struct query q = {.span = SPAN_TOTAL, .proc = QUERY_ALL};
	struct func_row *funcs = NULL;
	struct proc_row *procs = NULL;
	struct folded folded;
	struct tree tree;
	size_t n;
	int err, last;

	err = query_funcs(p, &q, &funcs, &n);
	free(funcs);
	last = query_procs(p, &q, &procs, &n);
	err = err ? err : last;
	free(procs);
	last = query_tree(p, &q, &tree);
	err = err ? err : last;
	free(tree.nodes);
	last = folded_read(&folded, p, &q);
	err = err ? err : last;
	folded_free(&folded);
	last = frozen_sum_span(p, FROZEN_MOMENT, SPAN_WINDOW);
	err = err ? err : last;
	last = frozen_sum_span(p, FROZEN_BASELINE, SPAN_DECAY);
	err = err ? err : last;
	q = (struct query){.span = SPAN_MOMENT, .proc = QUERY_ALL, .baseline = true};
	last = query_funcs(p, &q, &funcs, &n);
	err = err ? err : last;
	free(funcs);
	last = query_tree(p, &q, &tree);
	err = err ? err : last;
	free(tree.nodes);
	return err;
}

static uint64_t total(const struct profile *p)
{
	struct query q = {.span = SPAN_TOTAL, .proc = QUERY_ALL};

	return query_samples(p, &q, NULL);
}

static void fail_from(long n)
{
	fail_at = n;
	calls = 0;
}

static void test_each_allocation(void **state)
{
	bool through = false;
	long n, refused = 0;

	(void)state;
	for (n = 1; !through; n++) {
		struct profile *p;
		uint64_t before;
		int err = 0, last;

		fail_from(n);
		p = profile_new(10, 500);
		if (!p) {
			refused++;
			continue;
		}
		for (int round = 1; round <= 3; round++) {
			before = total(p);
			err = feed(p, round);
			assert_true(err == 0 || err == -ENOMEM);
			assert_int_equal(total(p), before + (err ? 0 : 2 * CELLS));
			last = err;
			err = ask(p);
			assert_true(err == 0 || err == -ENOMEM);
			refused += (last != 0) + (err != 0);
			/* Each goes on with a slice and questions below. */
			if ((last || err) && n % LONG)
				break;
		}
		through = calls < n;
		fail_from(0);
		before = total(p);
		assert_int_equal(feed(p, 9), 0);
		assert_int_equal(total(p), before + 2 * CELLS);
		assert_int_equal(ask(p), 0);
		profile_free(p);
	}
	assert_true(n > 100);
	assert_int_equal(refused, n - 2); /* each refusal was reported, the last run had none */
	print_message("%ld allocations refused, one at a time\n", refused);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_allocation)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
