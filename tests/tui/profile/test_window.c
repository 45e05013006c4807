// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The span of the sliding window is changed while slices come: what it weighs is, each time, what a
 * sum of the newest slices made here says.
 * Covers: tui/profile/profile_history.c tui/profile/profile.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/machine.h"
#include "tui/query/query.h"

#define SLICES 400
#define PROCS  12

struct model {
	struct machine feed;
	uint32_t procs[PROCS], stack;
	uint64_t counts[SLICES][PROCS];
	size_t n;
	uint64_t seed;
};

static uint32_t rnd(struct model *m, uint32_t below)
{
	m->seed = m->seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(m->seed >> 33) % below;
}

static void commit(struct model *m)
{
	struct profile_cell cells[PROCS];
	struct profile_health health;
	size_t ncells = 0;

	profile_lock(m->feed.p);
	for (uint32_t i = 0; i < PROCS; i++) {
		uint64_t count = rnd(m, 3) ? rnd(m, 50) : 0;

		m->counts[m->n][i] = count;
		if (count)
			cells[ncells++] = (struct profile_cell){
				m->procs[i], 100 + i, m->stack, PROFILE_NO_STACK, count, 0, 0};
	}
	m->n++;
	m->feed.time += MACHINE_SECOND;
	machine_health(&m->feed, &health, 10, 0, 10);
	assert_int_equal(profile_commit(m->feed.p, cells, ncells, &health), 0);
	profile_unlock(m->feed.p);
}

/* Slices are of one second, so a window of n seconds are the newest n. */
static void check(struct model *m, enum span span, size_t seconds)
{
	struct query q = {.span = span, .proc = QUERY_ALL};
	size_t first = seconds && m->n > seconds ? m->n - seconds : 0, count;
	struct proc_row *rows;

	profile_lock(m->feed.p);
	assert_int_equal(query_procs(m->feed.p, &q, &rows, &count), 0);
	for (uint32_t i = 0; i < PROCS; i++) {
		uint64_t want = 0, found = 0;

		for (size_t n = first; n < m->n; n++)
			want += m->counts[n][i];
		for (size_t k = 0; k < count; k++)
			if (rows[k].proc == m->procs[i])
				found = rows[k].samples;
		if (found != want)
			fail_msg(
				"slice %zu, window %zu s, process %u: %llu samples instead of %llu",
				m->n, seconds, i, (unsigned long long)found,
				(unsigned long long)want);
	}
	free(rows);
	profile_unlock(m->feed.p);
}

static void window_is_the_newest_slices(void **state)
{
	struct model *m = calloc(1, sizeof(*m));
	unsigned int seconds = 10;

	(void)state;
	assert_non_null(m);
	m->seed = 7;
	machine_open(&m->feed);
	profile_lock(m->feed.p);
	profile_keep(m->feed.p, 600, 64 << 20);
	for (uint32_t i = 0; i < PROCS; i++)
		m->procs[i] = machine_proc(&m->feed, (pid_t)(100 + i), "root", "p", "p", 1);
	m->stack = machine_stack(&m->feed, "main@p;work@p");
	assert_int_equal(profile_window(m->feed.p), 10);
	profile_unlock(m->feed.p);
	while (m->n < SLICES) {
		commit(m);
		check(m, SPAN_WINDOW, seconds);
		check(m, SPAN_TOTAL, 0);
		if (rnd(m, 4))
			continue;
		seconds = 1 + rnd(m, rnd(m, 2) ? 30 : PROFILE_WINDOW_MAX);
		profile_lock(m->feed.p);
		assert_int_equal(profile_set_window(m->feed.p, seconds), 0);
		assert_int_equal(profile_window(m->feed.p), seconds);
		profile_unlock(m->feed.p);
		check(m, SPAN_WINDOW, seconds);
	}
	profile_lock(m->feed.p);
	assert_int_equal(profile_set_window(m->feed.p, 0), 0);
	assert_int_equal(profile_window(m->feed.p), 1);
	assert_int_equal(profile_set_window(m->feed.p, 100000), 0);
	assert_int_equal(profile_window(m->feed.p), PROFILE_WINDOW_MAX);
	profile_stack_put(m->feed.p, m->stack);
	profile_unlock(m->feed.p);
	machine_close(&m->feed);
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(window_is_the_newest_slices)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
