/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums of slices: of the time before the window, against those that are made when they are asked
 * for, decayed ones, against what each cell says by itself while ids of stacks are used again, and
 * stretches of slices, which are made of other stretches, against the counts that were fed. And
 * processes, whose rows of a profile that keeps slices are those of one that keeps none.
 * Covers: tui/profile/decay.c tui/query/query_procs.c tui/profile/frozen_sum.c
 * Covers: tui/util/prefetch.h tui/profile/sum.c tui/profile/span.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/feed.h"
#include "tests/support/trees.h"
#include "tui/profile/frozen_sum.h"
#include "tui/query/query.h"

/* Slices of all lengths, so that several leave the window at once, or none does. */
static void second_of(struct profile *p, uint64_t random)
{
	struct profile_health health = {
		.elapsed = NS / 10 * (1 + feed_random(&random, 30)), .ncpus = 1, .frequency = 99};
	struct profile_cell cells[20];
	uint32_t n = 1 + feed_random(&random, 20);

	for (uint32_t i = 0; i < n; i++) {
		char name[32];

		snprintf(name, sizeof(name), "main;f%u", feed_random(&random, 12));
		cells[i] = (struct profile_cell){feed_proc(p, 1, 1, "a", false),
						 i,
						 feed_names(p, false, name),
						 PROFILE_NO_STACK,
						 1 + feed_random(&random, 9),
						 0,
						 0};
	}
	assert_int_equal(profile_commit(p, cells, n, &health), 0);
	for (uint32_t i = 0; i < n; i++)
		profile_stack_put(p, cells[i].ustack);
}

/* The sum of the time before is kept where there is a screen, and made of slices where not. */
static void the_time_before_is_the_same(void **state)
{
	struct query q = {.span = SPAN_WINDOW, .proc = QUERY_ALL};
	struct profile *p[2] = {profile_new(3, 1000), profile_new(3, 1000)};
	uint64_t random = 0x99887766;
	unsigned int compared = 0;

	(void)state;
	for (int i = 0; i < 300; i++) {
		struct func_row *rows[2];
		size_t count[2];

		if (i == 5)
			profile_keep(p[1], 60, 1 << 20);
		feed_random(&random, 2);
		for (int kept = 0; kept < 2; kept++) {
			if (i % 50 == 49)
				profile_zero(p[kept]);
			second_of(p[kept], random);
			assert_int_equal(query_funcs(p[kept], &q, &rows[kept], &count[kept]), 0);
		}
		assert_int_equal(count[0], count[1]);
		for (size_t a = 0; a < count[0]; a++) {
			const char *name = query_func(p[0], rows[0][a].func)->name;
			size_t b = 0;

			while (b < count[1] &&
			       strcmp(query_func(p[1], rows[1][b].func)->name, name) != 0)
				b++;
			assert_true(b < count[1]);
			assert_int_equal(rows[0][a].before, rows[1][b].before);
			assert_int_equal(rows[0][a].before_of, rows[1][b].before_of);
			compared += rows[0][a].before > 0;
		}
		free(rows[0]);
		free(rows[1]);
	}
	assert_true(compared > 1000);
	profile_free(p[0]);
	profile_free(p[1]);
}

#define TRACES	600 /* those that are not steady are there for a second */
#define STEADY	150
#define AT_ONCE (STEADY + 6)

struct traced {
	const struct profile *p;
	uint64_t self[TRACES], all;
};

static int trace_of(const struct profile *p, uint32_t func)
{
	int n = -1;

	return sscanf(query_func(p, func)->name, "t%d", &n) == 1 ? n : -1;
}

static int trace_cell(const struct profile_cell *cell, void *arg)
{
	struct traced *traced = arg;
	const struct profile_stack *stack = query_stack(traced->p, cell->ustack);
	int n;

	assert_non_null(stack);
	n = trace_of(traced->p, stack->frames[stack->nframes - 1]);
	assert_true(n >= 0 && n < TRACES);
	traced->self[n] += cell->count;
	traced->all += cell->count;
	return 0;
}

static void decay_is_that_of_its_stacks(void **state)
{
	struct query q = {.span = SPAN_DECAY, .proc = QUERY_ALL};
	/* Totals fold what is rare, so that ids of stacks come to mean others. */
	struct profile *p = profile_new(3, STEADY + 20);
	uint64_t random = 0x246813579, seen = 0;

	(void)state;
	profile_keep(p, 1, 1 << 20);
	for (int i = 0; i < 200; i++) {
		struct profile_cell cells[AT_ONCE];
		struct traced traced = {.p = p};
		struct func_row *rows;
		struct tree tree;
		size_t count;

		for (int k = 0; k < AT_ONCE; k++) {
			char name[48];
			uint32_t n = k < STEADY ? (uint32_t)k : feed_random(&random, TRACES);

			snprintf(name, sizeof(name), "main;f%u;t%u", n % 7, n);
			cells[k] = (struct profile_cell){.proc = feed_proc(p, 1, 1, "a", false),
							 .ustack = feed_names(p, false, name),
							 .kstack = PROFILE_NO_STACK,
							 .count = k < STEADY ? 100 : 9};
		}
		assert_int_equal(feed_commit(p, cells, AT_ONCE), 0);
		for (int k = 0; k < AT_ONCE; k++)
			profile_stack_put(p, cells[k].ustack);
		if (i % 3 == 0)
			continue;
		assert_int_equal(query_cells(p, &q, trace_cell, &traced), 0);
		seen += traced.all;
		assert_int_equal(query_tree(p, &q, &tree), 0);
		assert_int_equal(tree.nodes[0].total, traced.all);
		free(tree.nodes);
		assert_int_equal(query_funcs(p, &q, &rows, &count), 0);
		for (size_t r = 0; r < count; r++) {
			int n = trace_of(p, rows[r].func);

			assert_int_equal(rows[r].self, n < 0 ? 0 : traced.self[n]);
			traced.all -= rows[r].self;
		}
		assert_int_equal(traced.all, 0);
		free(rows);
	}
	assert_true(seen > 10000);
	profile_free(p);
}

#define OWNERS 4

/* Stacks of two functions, of which some go on in the kernel and some were not walked to their end.
 */
static void second_of_procs(struct profile *p, uint64_t random)
{
	struct profile_cell cells[30];
	uint32_t n = 1 + feed_random(&random, 30);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t user[2] = {feed_func(p, FUNC_USER, "main"), 0}, kernel;
		char name[16];

		snprintf(name, sizeof(name), "f%u", feed_random(&random, 40));
		user[1] = feed_func(p, feed_random(&random, 4) ? FUNC_USER : FUNC_INLINE, name);
		kernel = feed_func(p, FUNC_KERNEL, feed_random(&random, 2) ? "k1" : "k2");
		cells[i] = (struct profile_cell){
			.proc = feed_proc(p, 1 + (int)feed_random(&random, OWNERS), 1, "a", false),
			.tid = 1 + i,
			.ustack = PROFILE_NO_STACK,
			.kstack = PROFILE_NO_STACK,
			.count = 1 + feed_random(&random, 9)};
		if (feed_random(&random, 8))
			cells[i].ustack = feed_stack(p, false, feed_random(&random, 2), user, 2);
		if (!feed_random(&random, 3))
			cells[i].kstack = feed_stack(p, true, true, &kernel, 1);
	}
	assert_int_equal(feed_commit(p, cells, n), 0);
	for (uint32_t i = 0; i < n; i++) {
		if (cells[i].ustack != PROFILE_NO_STACK)
			profile_stack_put(p, cells[i].ustack);
		if (cells[i].kstack != PROFILE_NO_STACK)
			profile_stack_put(p, cells[i].kstack);
	}
}

static bool is_chosen(const struct profile_func *func, void *arg)
{
	(void)arg;
	return strchr(func->name, '1') != NULL;
}

/* By number of the process, from 1 on. */
static uint64_t rows_by_pid(const struct profile *p, const struct query *ask,
			    struct proc_row *by_pid)
{
	struct match_cache funcs = {0};
	struct sample_filter kept = {0};
	struct query q = *ask;
	struct proc_row *rows;
	uint64_t samples;
	size_t count;

	assert_int_equal(query_judge_funcs(p, &funcs, is_chosen, NULL), 0);
	kept.funcs = funcs.pass;
	kept.nfuncs = funcs.count;
	if (ask->filter)
		q.filter = &kept;
	memset(by_pid, 0, (OWNERS + 1) * sizeof(*by_pid));
	assert_int_equal(query_procs(p, &q, &rows, &count), 0);
	for (size_t i = 0; i < count; i++)
		by_pid[query_proc(p, rows[i].proc)->pid] = rows[i];
	samples = query_samples(p, &q, NULL);
	free(rows);
	match_cache_free(&funcs);
	return samples;
}

static void processes_are_the_same(void **state)
{
	struct profile *p[2] = {profile_new(10, 1000), profile_new(10, 1000)};
	uint64_t random = 0x1357924680, complete = 0, walks = 0;
	static const struct sample_filter some;

	(void)state;
	profile_keep(p[1], 60, 1 << 20);
	for (int i = 0; i < 600; i++) {
		struct query q = {.span = i % 2 ? SPAN_WINDOW : SPAN_TOTAL,
				  .proc = QUERY_ALL,
				  .hide_user = feed_random(&random, 4) == 0,
				  .hide_kernel = feed_random(&random, 4) == 0,
				  .hide_inline = feed_random(&random, 2),
				  .filter = feed_random(&random, 2) ? &some : NULL};
		struct proc_row rows[2][OWNERS + 1];
		uint64_t samples[2];

		feed_random(&random, 2);
		for (int kept = 0; kept < 2; kept++) {
			second_of_procs(p[kept], random);
			samples[kept] = rows_by_pid(p[kept], &q, rows[kept]);
		}
		assert_int_equal(samples[0], samples[1]);
		for (int pid = 1; pid <= OWNERS; pid++) {
			const struct proc_row *a = &rows[0][pid], *b = &rows[1][pid];

			samples[0] -= a->samples;
			assert_int_equal(a->samples, b->samples);
			assert_int_equal(a->kernel_samples, b->kernel_samples);
			assert_int_equal(a->walks, b->walks);
			assert_int_equal(a->complete, b->complete);
			/* Of the window and the time before it; more is kept by one of them only.
			 */
			assert_memory_equal(a->history + PROC_HISTORY - 20,
					    b->history + PROC_HISTORY - 20,
					    20 * sizeof(*a->history));
			complete += a->complete;
			walks += a->walks;
		}
		assert_int_equal(samples[0], 0);
	}
	assert_true(complete > 10000 && walks > complete + 10000);
	profile_free(p[0]);
	profile_free(p[1]);
}

#define PAST  60
#define KINDS 12

/* Sums of slices are made of other sums where that is less work. */
static void sums_of_slices_are_exact(void **state)
{
	static const enum span spans[] = {SPAN_MOMENT, SPAN_BEFORE};
	struct profile *p = profile_new(5, 1000);
	uint64_t counts[PAST + 1][KINDS] = {{0}}, random = 0x5555, checked = 0;
	uint32_t left = 0, own = 0;

	(void)state;
	profile_keep(p, 40, 1 << 20);
	for (uint32_t n = 1; n <= PAST; n++) {
		struct profile_cell cells[KINDS];
		uint32_t ncells = 0;

		for (uint32_t k = 0; k < KINDS; k++) {
			char name[16];

			if (feed_random(&random, 3))
				continue;
			snprintf(name, sizeof(name), "main;f%u", k);
			counts[n][k] = 1 + feed_random(&random, 9);
			cells[ncells++] = (struct profile_cell){feed_proc(p, 1, 1, "a", false),
								1,
								feed_names(p, false, name),
								PROFILE_NO_STACK,
								counts[n][k],
								0,
								0};
		}
		assert_int_equal(feed_commit(p, cells, ncells), 0);
		for (uint32_t i = 0; i < ncells; i++)
			profile_stack_put(p, cells[i].ustack);
		for (int i = 0; i < 20; i++) {
			enum frozen_kind kind =
				feed_random(&random, 2) ? FROZEN_MOMENT : FROZEN_BEFORE;
			uint64_t last = n - feed_random(&random, n > 30 ? 30 : n);
			uint64_t first = last - feed_random(&random, last > 8 ? 8 : (uint32_t)last);
			struct query q = {.span = spans[kind == FROZEN_BEFORE], .proc = QUERY_ALL};
			uint64_t expected[KINDS] = {0};
			struct func_row *rows;
			size_t count;

			assert_int_equal(frozen_sum_slices(p, kind, first, last), 0);
			for (uint64_t at = first; at <= last; at++)
				for (int k = 0; k < KINDS; k++)
					expected[k] += counts[at][k];
			assert_int_equal(query_funcs(p, &q, &rows, &count), 0);
			for (size_t r = 0; r < count; r++) {
				const char *name = query_func(p, rows[r].func)->name;
				unsigned int k = 0;

				if (sscanf(name, "f%u", &k) != 1)
					continue;
				assert_int_equal(rows[r].self, expected[k]);
				checked += expected[k];
				expected[k] = 0;
			}
			for (int k = 0; k < KINDS; k++)
				assert_int_equal(expected[k], 0);
			free(rows);
		}
	}
	assert_true(checked > 10000);
	/* Nothing is held any more by what was moved. */
	frozen_sum_drop(p, FROZEN_MOMENT);
	frozen_sum_drop(p, FROZEN_BEFORE);
	profile_zero(p);
	assert_int_equal(feed_commit(p, NULL, 0), 0);
	for (uint32_t id = 0; id < 10000; id++) {
		const struct profile_stack *stack = query_stack(p, id);

		left += stack != NULL;
		own += stack && (stack->use == STACK_WAITS || stack->use == STACK_TIMES ||
				 !strcmp(query_func(p, stack->frames[0])->name, "folded away"));
	}
	assert_int_equal(left, own);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_time_before_is_the_same),
		cmocka_unit_test(decay_is_that_of_its_stacks),
		cmocka_unit_test(processes_are_the_same),
		cmocka_unit_test(sums_of_slices_are_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
