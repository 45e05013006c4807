/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Filters by function, in all sums and questions, against the frames of each cell.
 * Covers: tui/query/sample_filter.c
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
#include "tui/profile/frozen_sum.h"
#include "tui/query/query.h"

#define FUNCS	60
#define STACKS	400 /* that come again */
#define KSTACKS 6
#define CELLS	500
#define SECONDS 40

struct judge {
	const struct profile *p;
	const struct query *q; /* NULL: every cell is counted */
	uint64_t samples, cells;
};

static bool has_func(const struct judge *j, const struct sample_filter *s, uint32_t id)
{
	const struct profile_stack *stack = query_stack(j->p, id);

	for (uint32_t i = 0; stack && i < stack->nframes; i++) {
		bool hidden = j->q->hide_inline &&
			      query_func(j->p, stack->frames[i])->kind == FUNC_INLINE;

		if (!hidden && s->funcs[stack->frames[i]])
			return true;
	}
	return false;
}

static bool passes(const struct judge *j, const struct sample_filter *s,
		   const struct profile_cell *cell)
{
	return !s || !s->funcs ||
	       (has_func(j, s, cell->ustack) || has_func(j, s, cell->kstack)) != s->without;
}

static int judge_cell(const struct profile_cell *cell, void *arg)
{
	struct judge *j = arg;

	if (j->q && (!passes(j, j->q->scope, cell) || !passes(j, j->q->filter, cell)))
		return 0;
	j->samples += cell->count;
	j->cells++;
	return 0;
}

static void second_of(struct profile *p, uint64_t *random, uint32_t *made)
{
	struct profile_cell cells[CELLS];

	for (int i = 0; i < CELLS; i++) {
		char user[160] = "main", kernel[32];
		/* A fifth never comes again. */
		uint32_t n = feed_random(random, 5) ? feed_random(random, STACKS) : ++*made;
		uint64_t own = 0x9e3779b97f4a7c15 * (n + 1);

		for (uint32_t depth = 0; depth < 1 + n % 8; depth++) {
			size_t end = strlen(user);

			snprintf(user + end, sizeof(user) - end, ";f%u", feed_random(&own, FUNCS));
		}
		snprintf(kernel, sizeof(kernel), "entry;k%u", n % KSTACKS);
		cells[i] = (struct profile_cell){feed_proc(p, 1 + (int)(n % 7), 1, "a", false),
						 n,
						 feed_names(p, false, user),
						 n % 3 ? PROFILE_NO_STACK
						       : feed_names(p, true, kernel),
						 1 + n % 4,
						 0,
						 0};
	}
	assert_int_equal(feed_commit(p, cells, CELLS), 0);
	for (int i = 0; i < CELLS; i++) {
		profile_stack_put(p, cells[i].ustack);
		if (cells[i].kstack != PROFILE_NO_STACK)
			profile_stack_put(p, cells[i].kstack);
	}
}

static bool is_chosen(const struct profile_func *func, void *arg)
{
	const unsigned int *of = arg;
	unsigned int n = 0;

	return sscanf(func->name, "%*c%u", &n) == 1 && n % *of == 1;
}

static uint64_t procs_of(const struct profile *p, const struct query *q)
{
	struct proc_row *rows;
	uint64_t samples = 0;
	size_t count;

	assert_int_equal(query_procs(p, q, &rows, &count), 0);
	for (size_t i = 0; i < count; i++)
		samples += rows[i].samples;
	free(rows);
	return samples;
}

static uint64_t tree_of(const struct profile *p, const struct query *q, bool callers)
{
	struct tree tree;
	uint64_t total;
	uint32_t hottest;

	assert_int_equal(query_rows(p, q, callers, 2, &tree, &hottest), 0);
	total = tree.nodes[0].total;
	free(tree.nodes);
	return total;
}

static void check(const struct profile *p, struct query *q, uint64_t *compared)
{
	struct query all = {.span = q->span, .proc = QUERY_ALL};
	struct judge judged = {p, q, 0, 0}, asked = {p, NULL, 0, 0};
	struct end_row *ends;
	uint64_t walks = 0;
	size_t count;

	assert_int_equal(query_cells(p, &all, judge_cell, &judged), 0);
	assert_int_equal(query_cells(p, q, judge_cell, &asked), 0);
	assert_int_equal(asked.samples, judged.samples);
	assert_int_equal(asked.cells, judged.cells);
	assert_int_equal(query_samples(p, q, NULL), judged.samples);
	assert_int_equal(procs_of(p, q), judged.samples);
	assert_int_equal(tree_of(p, q, false), judged.samples);
	assert_int_equal(tree_of(p, q, true), judged.samples);
	*compared += judged.cells;
	if (q->scope)
		return;
	/* Of everybody's, and each cell has a user stack. */
	assert_int_equal(query_ends(p, q, &ends, &count), 0);
	for (size_t i = 0; i < count; i++)
		walks += ends[i].samples;
	free(ends);
	assert_int_equal(walks, judged.samples);
}

static void answers_have_the_cells_that_pass(void **state)
{
	static const enum span spans[] = {SPAN_WINDOW, SPAN_TOTAL, SPAN_DECAY, SPAN_MOMENT,
					  SPAN_BASELINE};
	struct profile *p = profile_new(5, 4000);
	struct match_cache some[2] = {0};
	uint64_t random = 0x1357913579, compared = 0;
	uint32_t made = STACKS;

	(void)state;
	profile_keep(p, 20, 4 << 20);
	for (int now = 0; now < SECONDS; now++) {
		struct sample_filter filters[2] = {0};

		second_of(p, &random, &made);
		if (now % 6 == 1)
			assert_int_equal(frozen_sum_span(p, FROZEN_BASELINE, SPAN_WINDOW), 0);
		assert_int_equal(frozen_sum_slices(p, FROZEN_MOMENT,
						   now < 8 ? 1 : (uint64_t)now - 6,
						   (uint64_t)now + 1),
				 0);
		for (unsigned int i = 0; i < 2; i++) {
			unsigned int of = 5 + 6 * i;

			assert_int_equal(query_judge_funcs(p, &some[i], is_chosen, &of), 0);
			filters[i] = (struct sample_filter){.funcs = some[i].pass,
							    .nfuncs = some[i].count,
							    .without = feed_random(&random, 2)};
		}
		for (size_t i = 0; i < 4 * sizeof(spans) / sizeof(*spans); i++) {
			struct query q = {.span = spans[i / 4],
					  .proc = QUERY_ALL,
					  .hide_inline = i & 2,
					  .scope = i & 1 ? &filters[0] : NULL,
					  .filter = &filters[1]};

			if (q.span != SPAN_BASELINE || now > 0)
				check(p, &q, &compared);
		}
	}
	assert_true(compared > 50000);
	match_cache_free(&some[0]);
	match_cache_free(&some[1]);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_have_the_cells_that_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
