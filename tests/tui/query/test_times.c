// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where the time of threads went: exact sums of processes, threads and groups, whatever is hidden
 * or filtered by function, and of each slice.
 * Covers: tui/query/query_times.c tui/query/query.c
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

#define MS 1000ull

static int setup(void **state)
{
	struct machine *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	machine_open(m);
	assert_int_equal(machine_waits(m), 0);
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	machine_close(*state);
	free(*state);
	return 0;
}

struct want {
	uint32_t proc, tid;
	uint64_t ms[WAIT_CAUSES];
};

/* Exactly these rows. */
static void assert_times(const struct machine *m, const struct query *q, uint64_t times,
			 const struct want *want, size_t n)
{
	struct time_row *rows;
	size_t count;

	assert_int_equal(query_times(m->p, q, &rows, &count), 0);
	assert_int_equal(count, n);
	for (size_t i = 0; i < n; i++) {
		const struct time_row *row = time_row_find(rows, count, want[i].proc, want[i].tid);
		uint64_t all = 0;

		assert_non_null(row);
		for (int cause = 0; cause < WAIT_CAUSES; cause++) {
			assert_int_equal(row->us[cause], times * want[i].ms[cause] * MS);
			all += row->us[cause];
		}
		assert_int_equal(row->all, all);
		assert_true(!i || row->proc != want[i - 1].proc || row->tid != want[i - 1].tid);
	}
	for (size_t i = 1; i < count; i++)
		assert_true(rows[i - 1].proc < rows[i].proc ||
			    (rows[i - 1].proc == rows[i].proc && rows[i - 1].tid < rows[i].tid));
	assert_null(time_row_find(rows, count, m->kswapd, 0));
	assert_null(time_row_find(rows, count, m->nginx, 9999));
	free(rows);
}

#define ASSERT_TIMES(m, q, times, ...)                                                             \
	assert_times(m, q, times, (const struct want[]){__VA_ARGS__},                              \
		     sizeof((const struct want[]){__VA_ARGS__}) / sizeof(struct want))

#define NGINX_4121                                                                                 \
	{                                                                                          \
		[WAIT_NONE] = 250, [WAIT_RUNNABLE] = 150, [WAIT_LOCK] = 600                        \
	}
#define NGINX_4133                                                                                 \
	{                                                                                          \
		[WAIT_NONE] = 100, [WAIT_LOCK] = 900                                               \
	}
#define NGINX                                                                                      \
	{                                                                                          \
		[WAIT_NONE] = 350, [WAIT_RUNNABLE] = 150, [WAIT_LOCK] = 1500                       \
	}
#define POSTGRES                                                                                   \
	{                                                                                          \
		[WAIT_NONE] = 300, [WAIT_DISK] = 700                                               \
	}
#define NODE                                                                                       \
	{                                                                                          \
		[WAIT_NONE] = 50, [WAIT_POLL] = 350, [WAIT_LOCK] = 600                             \
	}

static void processes_have_the_time_of_their_threads(void **state)
{
	const struct machine *m = *state;
	struct query q = {.span = SPAN_WINDOW, .proc = QUERY_ALL};

	ASSERT_TIMES(m, &q, 1, {m->nginx, 0, NGINX}, {m->postgres, 0, POSTGRES},
		     {m->node, 0, NODE});
	q.proc = m->node;
	ASSERT_TIMES(m, &q, 1, {m->node, 0, NODE});
	q.proc = m->kswapd;
	assert_times(m, &q, 1, NULL, 0);
}

static void threads_have_their_own(void **state)
{
	const struct machine *m = *state;
	struct query q = {.span = SPAN_WINDOW, .proc = QUERY_ALL, .threads = true};
	struct sample_filter one = {.tid = 4133};

	ASSERT_TIMES(m, &q, 1, {m->nginx, 4121, NGINX_4121}, {m->nginx, 4133, NGINX_4133},
		     {m->postgres, 5310, POSTGRES}, {m->node, 7781, NODE});
	q.proc = m->nginx;
	q.scope = &one;
	ASSERT_TIMES(m, &q, 1, {m->nginx, 4133, NGINX_4133});
}

static void groups_have_the_time_of_their_processes(void **state)
{
	const struct machine *m = *state;
	uint32_t owners[64];
	const struct query q = {.span = SPAN_WINDOW, .proc = QUERY_ALL, .owners = owners};

	for (uint32_t i = 0; i < 64; i++)
		owners[i] = i;
	owners[m->node] = m->nginx;
	ASSERT_TIMES(
		m, &q, 1,
		{m->nginx,
		 0,
		 {[WAIT_NONE] = 400, [WAIT_RUNNABLE] = 150, [WAIT_LOCK] = 2100, [WAIT_POLL] = 350}},
		{m->postgres, 0, POSTGRES});
}

/* Time has no frames, so what is hidden or filtered by function is none of its business. */
static void times_are_those_of_all_functions(void **state)
{
	const struct machine *m = *state;
	bool keeps[64] = {false}, procs[64] = {false};
	const struct sample_filter none = {.funcs = keeps, .nfuncs = 64};
	struct sample_filter one = {.funcs = keeps, .nfuncs = 64, .procs = procs, .nprocs = 64};
	struct query q = {.span = SPAN_WINDOW,
			  .proc = QUERY_ALL,
			  .hide_kernel = true,
			  .hide_user = true,
			  .filter = &none};

	for (int measure = MEASURE_CPU; measure <= MEASURE_WAKES; measure++) {
		q.measure = (enum measure)measure;
		ASSERT_TIMES(m, &q, 1, {m->nginx, 0, NGINX}, {m->postgres, 0, POSTGRES},
			     {m->node, 0, NODE});
	}
	procs[m->node] = true;
	q.filter = &one;
	ASSERT_TIMES(m, &q, 1, {m->node, 0, NODE});
	q.filter = NULL;
	q.scope = &one;
	ASSERT_TIMES(m, &q, 1, {m->node, 0, NODE});
}

static void slices_add_up(void **state)
{
	struct machine *m = *state;
	struct query q = {.span = SPAN_WINDOW, .proc = QUERY_ALL};
	uint64_t us[WAIT_CAUSES];
	size_t cells = 0, before;

	assert_int_equal(machine_slice(m, 0), 0);
	assert_int_equal(machine_waits(m), 0);
	for (int threads = 0; threads < 2; threads++) {
		q.threads = threads;
		q.proc = m->node;
		ASSERT_TIMES(m, &q, 2, {m->node, threads ? 7781 : 0, NODE});
	}
	q.span = SPAN_LAST;
	ASSERT_TIMES(m, &q, 1, {m->node, 7781, NODE});
	q.span = SPAN_TOTAL;
	q.threads = false;
	ASSERT_TIMES(m, &q, 2, {m->node, 0, NODE});

	q.proc = QUERY_ALL;
	assert_true(query_slice_times(m->p, &q, 3, us, &cells));
	assert_int_equal(us[WAIT_NONE], 700 * MS);
	assert_int_equal(us[WAIT_RUNNABLE], 150 * MS);
	assert_int_equal(us[WAIT_LOCK], 2100 * MS);
	assert_int_equal(us[WAIT_POLL], 350 * MS);
	assert_int_equal(us[WAIT_DISK], 700 * MS);
	assert_int_equal(us[WAIT_SLEEP], 0);
	assert_true(cells > 10);
	before = cells;
	assert_true(query_slice_times(m->p, &q, 2, us, &cells));
	for (int i = 0; i < WAIT_CAUSES; i++)
		assert_int_equal(us[i], 0);
	assert_true(cells > before);
	q.proc = m->postgres;
	assert_true(query_slice_times(m->p, &q, 1, us, &cells));
	assert_int_equal(us[WAIT_NONE], 300 * MS);
	assert_int_equal(us[WAIT_DISK], 700 * MS);
	assert_int_equal(us[WAIT_LOCK], 0);
	assert_false(query_slice_times(m->p, &q, 99, us, &cells));
	assert_int_equal(us[WAIT_DISK], 0);
}

static void the_largest_is_a_wait(void **state)
{
	static const struct {
		uint64_t us[WAIT_CAUSES];
		enum wait_cause want;
	} cases[] = {
		{{0}, WAIT_NONE},
		{{[WAIT_NONE] = 5}, WAIT_NONE},
		{{[WAIT_NONE] = 900, [WAIT_POLL] = 2, [WAIT_SLEEP] = 1}, WAIT_POLL},
		{{[WAIT_RUNNABLE] = 2, [WAIT_OTHER] = 3}, WAIT_OTHER},
		{{[WAIT_RUNNABLE] = 4, [WAIT_OTHER] = 3}, WAIT_RUNNABLE},
		{{[WAIT_LOCK] = 3, [WAIT_DISK] = 3}, WAIT_LOCK}, /* the first of them */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct time_row row = {0};

		memcpy(row.us, cases[i].us, sizeof(row.us));
		assert_int_equal(time_row_largest(&row), cases[i].want);
	}
}

#define TIMES_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TIMES_TEST(processes_have_the_time_of_their_threads),
		TIMES_TEST(threads_have_their_own),
		TIMES_TEST(groups_have_the_time_of_their_processes),
		TIMES_TEST(times_are_those_of_all_functions),
		TIMES_TEST(slices_add_up),
		cmocka_unit_test(the_largest_is_a_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
