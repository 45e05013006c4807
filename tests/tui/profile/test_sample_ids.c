/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers of cells, against a list of which cell has which: a cell keeps its number as long as it
 * has references, no two share one, and numbers do not grow beyond the most at a time. And
 * what decays, which is added up by these numbers,
 * against powers of two of what was fed.
 * Covers: tui/profile/celltable.c tui/profile/decay.c
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/support/feed.h"
#include "tui/profile/celltable.h"
#include "tui/query/query.h"

#define KEYS  300
#define TURNS 200000
#define MOST  1000 /* references at a time */

static void numbers_are_as_references(void **state)
{
	struct sample_ids ids = {0};
	uint32_t refs[KEYS] = {0}, number[KEYS], all = 0, live = 0, most = 0, again = 0;
	uint64_t random = 0x1212121212;

	(void)state;
	for (int turn = 0; turn < TURNS; turn++) {
		uint32_t key = feed_random(&random, KEYS), kstack = key % 3 ? key : UINT32_MAX;

		/* There are times of growing and of shrinking. */
		if (all < MOST && feed_random(&random, 100) < (turn / 5000 % 2 ? 70 : 25)) {
			uint32_t id;

			assert_int_equal(sample_ids_reserve(&ids, 1), 0);
			id = sample_ids_get(&ids, key % 7, key / 7, kstack);
			if (refs[key])
				assert_int_equal(id, number[key]);
			for (uint32_t i = 0; i < KEYS && !refs[key]; i++)
				assert_false(refs[i] && number[i] == id);
			again += refs[key] > 0;
			number[key] = id;
			live += !refs[key]++;
			all++;
		} else if (refs[key]) {
			sample_ids_put(&ids, number[key]);
			live -= !--refs[key];
			all--;
		}
		most = live > most ? live : most;
		assert_int_equal(ids.live, live);
		assert_int_equal(ids.count, most);
		if (refs[key]) {
			assert_int_equal(ids.at[number[key]].refs, refs[key]);
			assert_int_equal(ids.at[number[key]].proc, key % 7);
			assert_int_equal(ids.at[number[key]].ustack, key / 7);
			assert_int_equal(ids.at[number[key]].kstack, kstack);
		}
	}
	assert_true(most > 100 && again > 10000);
	sample_ids_free(&ids);
}

#define KINDS	40
#define SECONDS 120
#define WINDOW	4

struct decayed {
	const struct profile *p;
	uint64_t count[KINDS];
};

static int decayed_cell(const struct profile_cell *cell, void *arg)
{
	struct decayed *d = arg;
	const struct profile_stack *stack = query_stack(d->p, cell->ustack);
	unsigned int kind = KINDS;

	assert_int_equal(sscanf(query_func(d->p, stack->frames[1])->name, "d%u", &kind), 1);
	d->count[kind] += cell->count;
	return 0;
}

/* Weights go by half in half a window, down to a thousandth, and cells have whole samples: what is
 * cut from one is the next one's, so that none is wrong by more than one, and all together less. */
static void decay_is_that_of_what_was_fed(void **state)
{
	struct profile *p = profile_new(WINDOW, 1000);
	struct query q = {.span = SPAN_DECAY, .proc = QUERY_ALL};
	uint64_t fed[SECONDS][KINDS] = {{0}}, random = 0x777777777, checked = 0;

	(void)state;
	profile_keep(p, 30, 1 << 20);
	for (int now = 0; now < SECONDS; now++) {
		struct profile_cell cells[KINDS];
		struct decayed d = {.p = p};
		double all = 0, sum = 0;
		uint32_t n = 0;

		for (uint32_t k = 0; k < KINDS; k++) {
			char name[32];

			if (feed_random(&random, 3))
				continue;
			snprintf(name, sizeof(name), "main;d%u", k);
			fed[now][k] = 1 + feed_random(&random, 90);
			cells[n++] =
				(struct profile_cell){feed_proc(p, 1 + (int)k % 3, 1, "a", false),
						      k,
						      feed_names(p, false, name),
						      PROFILE_NO_STACK,
						      fed[now][k],
						      0,
						      0};
		}
		assert_int_equal(feed_commit(p, cells, n), 0);
		for (uint32_t i = 0; i < n; i++)
			profile_stack_put(p, cells[i].ustack);
		assert_int_equal(query_cells(p, &q, decayed_cell, &d), 0);
		for (int k = 0; k < KINDS; k++) {
			double expected = 0;

			for (int age = 0; age <= now; age++) {
				double weight = pow(0.5, age / (WINDOW / 2.0));

				if (weight >= 0.001)
					expected += weight * (double)fed[now - age][k];
			}
			assert_true(fabs(expected - (double)d.count[k]) < 1.02);
			all += expected;
			sum += (double)d.count[k];
			checked += d.count[k];
		}
		assert_true(fabs(all - sum) < 1.5);
	}
	assert_true(checked > 50000);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_as_references),
		cmocka_unit_test(decay_is_that_of_what_was_fed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
