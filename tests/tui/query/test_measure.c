// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The same slices by each measure: which cells count, and how much they do.
 * Covers: tui/query/query.c tui/query/query_procs.c tui/query/query_threads.c
 * Covers: tui/query/query_tree.c tui/query/query_priv.h tui/query/profile_copy.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/feed.h"
#include "tests/support/trees.h"
#include "tui/profile/frozen_sum.h"
#include "tui/profile/profile_priv.h"
#include "tui/query/query.h"

/*
 * One second of 100 Hz, so that a sample is 10000 us:
 *	db:	thread 10 has 20 samples in main;parse, and waits 300000 us for a lock in main;take,
 *		thread 11 waits 500000 us for a disk in main;load. 30000 us on a CPU have no sample.
 *	web:	5 samples in main;parse, and 70000 us of poll, of which nothing is known but that.
 */
#define PARSED 20
#define LOCKED 300000
#define LOADED 500000
#define UNSEEN 30000
#define SERVED 5
#define POLLED 70000

struct fed {
	struct profile *p;
	uint32_t db, web;
};

static void commit(struct fed *f)
{
	static const struct {
		bool web;
		uint32_t tid;
		const char *user, *kernel;
		uint64_t count, weight;
	} rows[] = {
		{false, 10, "main;parse", NULL, PARSED, 0},
		{false, 10, "main;take", "k:entry;k:futex;wait:lock", 3, LOCKED},
		{false, 11, "main;load", "k:entry;k:io;wait:disk", 50, LOADED},
		{false, 10, NULL, "wait:on", 1, UNSEEN},
		{true, 20, "main;parse", NULL, SERVED, 0},
		{true, 20, NULL, "k:entry;k:io;wait:poll", 7, POLLED},
		/* Neither samples nor waits. */
		{false, 10, NULL, "time:on", 1, 230000},
		{false, 10, NULL, "time:lock", 1, LOCKED},
		{false, 11, NULL, "time:disk", 1, LOADED},
		{true, 20, NULL, "time:poll", 1, 900000},
		{false, 10, "main;take", "k:entry;wait:lock;lock:0x1;waker:db@pid 10;main", 3,
		 LOCKED},
	};
	enum { ROWS = sizeof(rows) / sizeof(rows[0]) };
	const struct profile_health health = {.elapsed = NS,
					      .ncpus = 1,
					      .frequency = 100,
					      .event = "cpu-clock",
					      .samples = PARSED + SERVED,
					      .waits = true};
	struct profile_cell cells[ROWS];

	f->db = feed_proc(f->p, 10, 1, "db", false);
	f->web = feed_proc(f->p, 20, 1, "web", false);
	for (int i = 0; i < ROWS; i++)
		cells[i] = (struct profile_cell){
			.proc = rows[i].web ? f->web : f->db,
			.tid = rows[i].tid,
			.ustack = rows[i].user ? feed_frames(f->p, rows[i].user, 0)
					       : PROFILE_NO_STACK,
			.kstack = rows[i].kernel ? feed_frames(f->p, rows[i].kernel, 0)
						 : PROFILE_NO_STACK,
			.count = rows[i].count,
			.weight = rows[i].weight};
	assert_int_equal(profile_commit(f->p, cells, ROWS, &health), 0);
	for (int i = 0; i < ROWS; i++) {
		if (rows[i].user)
			profile_stack_put(f->p, cells[i].ustack);
		if (rows[i].kernel)
			profile_stack_put(f->p, cells[i].kstack);
	}
}

static int setup(void **state)
{
	struct fed *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->p = profile_new(10, 1000);
	commit(f);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fed *f = *state;

	profile_free(f->p);
	free(f);
	return 0;
}

static struct query of(enum measure measure)
{
	return (struct query){.span = SPAN_WINDOW, .proc = QUERY_ALL, .measure = measure};
}

static uint64_t amount(const struct fed *f, struct query q)
{
	return query_samples(f->p, &q, NULL);
}

/* --- sums ------------------------------------------------------------------------------------ */

static const enum span spans[] = {SPAN_WINDOW, SPAN_TOTAL, SPAN_LAST, SPAN_DECAY, SPAN_MOMENT};

static void each_measure_has_its_cells(void **state)
{
	struct fed *f = *state;

	assert_int_equal(frozen_sum_span(f->p, FROZEN_MOMENT, SPAN_WINDOW), 0);
	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++)
		for (int threads = 0; threads < 2; threads++) {
			struct query q = {.span = spans[i], .proc = QUERY_ALL, .threads = threads};

			assert_int_equal(amount(f, q), PARSED + SERVED);
			q.measure = MEASURE_OFF;
			assert_int_equal(amount(f, q), LOCKED + LOADED + POLLED);
			q.measure = MEASURE_WALL;
			assert_int_equal(amount(f, q), LOCKED + LOADED + POLLED + UNSEEN +
							       10000 * (PARSED + SERVED));
			q.measure = MEASURE_TIME;
			assert_int_equal(amount(f, q), 230000 + LOCKED + LOADED + 900000);
			q.measure = MEASURE_WAKES;
			assert_int_equal(amount(f, q), LOCKED);
			q.proc = f->web;
			assert_int_equal(amount(f, q), 0);
			q.measure = MEASURE_OFF;
			assert_int_equal(amount(f, q), POLLED);
			q.measure = MEASURE_CPU;
			assert_int_equal(amount(f, q), SERVED);
		}
	frozen_sum_drop(f->p, FROZEN_MOMENT);
}

/* Of an event without time samples count for how often it happened. */
static void events_count_what_samples_stand_for(void **state)
{
	struct profile *p = profile_new(10, 1000);
	const struct fed f = {.p = p};
	const struct profile_health health = {.elapsed = NS,
					      .ncpus = 1,
					      .frequency = 100,
					      .event = "page-faults",
					      .samples = 4,
					      .taken = 4,
					      .counted = 1000};
	const struct profile_cell cells[] = {{.proc = feed_proc(p, 1, 1, "a", false),
					      .ustack = feed_names(p, false, "main"),
					      .kstack = PROFILE_NO_STACK,
					      .count = 4}};

	(void)state;
	assert_int_equal(profile_commit(p, cells, 1, &health), 0);
	assert_int_equal(amount(&f, of(MEASURE_CPU)), 1000);
	assert_int_equal(amount(&f, of(MEASURE_OFF)), 0);
	profile_free(p);
}

static int add_both(const struct profile_cell *cell, void *arg)
{
	uint64_t *sums = arg;

	sums[0] += cell->count;
	sums[1] += cell->weight;
	return 0;
}

static void both_are_there_on_demand(void **state)
{
	struct fed *f = *state;
	struct query q = of(MEASURE_OFF);
	uint64_t sums[2] = {0};

	q.both = true;
	assert_int_equal(query_cells(f->p, &q, add_both, sums), 0);
	assert_int_equal(sums[0], 3 + 50 + 7);
	assert_int_equal(sums[1], LOCKED + LOADED + POLLED);
}

static void each_slice_has_its_own(void **state)
{
	struct fed *f = *state;
	const struct query off = of(MEASURE_OFF), cpu = of(MEASURE_CPU);
	uint64_t sum;
	size_t cells = 0;

	assert_int_equal(feed_commit(f->p, NULL, 0), 0);
	commit(f);
	assert_true(query_slice_samples(f->p, &off, 1, &sum, &cells));
	assert_int_equal(sum, LOCKED + LOADED + POLLED);
	assert_true(query_slice_samples(f->p, &off, 2, &sum, &cells));
	assert_int_equal(sum, 0);
	assert_true(query_slice_samples(f->p, &cpu, 3, &sum, &cells));
	assert_int_equal(sum, PARSED + SERVED);
	assert_int_equal(amount(f, off), 2 * (LOCKED + LOADED + POLLED));
}

/* The screen's copy has what each measure counts. */
static void copies_have_all_measures(void **state)
{
	struct fed *f = *state;
	const enum measure measures[] = {MEASURE_CPU, MEASURE_OFF, MEASURE_WALL};

	for (size_t i = 0; i < 3; i++) {
		const struct query q = of(measures[i]);
		struct fed copy = {0};

		assert_int_equal(profile_copy_new(&copy.p, f->p, &q), 0);
		profile_lock(copy.p);
		assert_int_equal(amount(&copy, q), amount(f, q));
		profile_unlock(copy.p);
		profile_free(copy.p);
	}
}

/* --- rows ------------------------------------------------------------------------------------ */

static const char *name_of(const struct fed *f, uint32_t func)
{
	const struct profile_func *found = query_func(f->p, func);

	return found ? found->name : "";
}

static void assert_row(const struct fed *f, struct query q, uint32_t proc, uint32_t tid,
		       uint64_t samples, double percent, const char *hottest)
{
	struct proc_row *rows;
	size_t count, found = 0;

	assert_int_equal(query_procs(f->p, &q, &rows, &count), 0);
	for (size_t i = 0; i < count; i++) {
		if (rows[i].proc != proc || rows[i].tid != tid)
			continue;
		found++;
		assert_int_equal(rows[i].samples, samples);
		assert_true(rows[i].cpu_percent > percent - 0.01 &&
			    rows[i].cpu_percent < percent + 0.01);
		assert_string_equal(name_of(f, rows[i].hottest), hottest);
		/* Bars of time are in ms, rounded up. */
		assert_int_equal(rows[i].history[PROC_HISTORY - 1],
				 q.measure == MEASURE_CPU ? samples : samples / 1000);
	}
	assert_int_equal(found, samples ? 1 : 0);
	free(rows);
}

/* Why a wait waits is told elsewhere, so its function is that of the user. */
static void rows_are_of_the_measure(void **state)
{
	struct fed *f = *state;
	struct query q = of(MEASURE_CPU);

	assert_row(f, q, f->db, 0, PARSED, 20, "parse");
	assert_row(f, q, f->web, 0, SERVED, 5, "parse");
	q.measure = MEASURE_OFF;
	assert_row(f, q, f->db, 0, LOCKED + LOADED, 80, "load");
	assert_row(f, q, f->web, 0, POLLED, 7, "poll");
	q.measure = MEASURE_WALL;
	assert_row(f, q, f->db, 0, LOCKED + LOADED + UNSEEN + 10000 * PARSED, 103, "load");
	assert_row(f, q, f->web, 0, POLLED + 10000 * SERVED, 12, "poll");
	q.threads = true;
	assert_row(f, q, f->db, 10, LOCKED + UNSEEN + 10000 * PARSED, 53, "take");
	assert_row(f, q, f->db, 11, LOADED, 50, "load");
	q.measure = MEASURE_OFF;
	assert_row(f, q, f->db, 10, LOCKED, 30, "take");
	assert_row(f, q, f->web, 20, POLLED, 7, "poll");
	q.measure = MEASURE_CPU;
	assert_row(f, q, f->db, 11, 0, 0, "");
	assert_row(f, q, f->db, 10, PARSED, 20, "parse");
}

struct func_want {
	const char *name;
	uint64_t self, total;
};

static void assert_funcs(const struct fed *f, struct query q, const struct func_want *want,
			 size_t n)
{
	struct func_row *rows;
	size_t count;

	assert_int_equal(query_funcs(f->p, &q, &rows, &count), 0);
	assert_int_equal(count, n);
	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		while (k < count && strcmp(name_of(f, rows[k].func), want[i].name) != 0)
			k++;
		if (k == count)
			fail_msg("no row of %s", want[i].name);
		assert_int_equal(rows[k].self, want[i].self);
		assert_int_equal(rows[k].total, want[i].total);
	}
	free(rows);
}

#define ASSERT_FUNCS(f, q, ...)                                                                    \
	assert_funcs(f, q, (const struct func_want[]){__VA_ARGS__},                                \
		     sizeof((const struct func_want[]){__VA_ARGS__}) / sizeof(struct func_want))

static void functions_are_of_the_measure(void **state)
{
	struct fed *f = *state;
	struct query q = of(MEASURE_OFF);

	ASSERT_FUNCS(f, q, {"lock", LOCKED, LOCKED}, {"disk", LOADED, LOADED},
		     {"poll", POLLED, POLLED}, {"futex", 0, LOCKED}, {"io", 0, LOADED + POLLED},
		     {"entry", 0, LOCKED + LOADED + POLLED}, {"take", 0, LOCKED},
		     {"load", 0, LOADED}, {"main", 0, LOCKED + LOADED});
	/* Without the frames of the kernel a wait still says why. */
	q.hide_kernel = true;
	ASSERT_FUNCS(f, q, {"lock", LOCKED, LOCKED}, {"disk", LOADED, LOADED},
		     {"poll", POLLED, POLLED}, {"take", 0, LOCKED}, {"load", 0, LOADED},
		     {"main", 0, LOCKED + LOADED});
	q.hide_kernel = false;
	q.hide_user = true;
	q.measure = MEASURE_WALL; /* samples without kernel frames vanish */
	ASSERT_FUNCS(f, q, {"lock", LOCKED, LOCKED}, {"disk", LOADED, LOADED},
		     {"poll", POLLED, POLLED}, {"futex", 0, LOCKED}, {"io", 0, LOADED + POLLED},
		     {"entry", 0, LOCKED + LOADED + POLLED}, {"on", UNSEEN, UNSEEN});
}

#define FUNCS 100 /* more than there are */

static void filters_are_of_functions_and_causes(void **state)
{
	struct fed *f = *state;
	static const struct {
		const char *func;
		uint64_t off, wall;
	} cases[] = {
		{"parse", 0, 10000 * (PARSED + SERVED)},
		{"take", LOCKED, LOCKED},
		{"io", LOADED + POLLED, LOADED + POLLED},
		{"disk", LOADED, LOADED},
		{"on", 0, UNSEEN},
		{"nothing", 0, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (int hide = 0; hide < 2; hide++) {
			bool keeps[FUNCS] = {false};
			const struct sample_filter filter = {.funcs = keeps, .nfuncs = FUNCS};
			struct query q = of(MEASURE_OFF);
			const bool hidden = hide && strcmp(cases[i].func, "io") == 0;

			for (uint32_t id = 0; id < FUNCS; id++)
				keeps[id] = strcmp(name_of(f, id), cases[i].func) == 0;
			q.filter = &filter;
			q.hide_kernel = hide;
			assert_int_equal(amount(f, q), hidden ? 0 : cases[i].off);
			q.measure = MEASURE_WALL;
			assert_int_equal(amount(f, q), hidden ? 0 : cases[i].wall);
		}
}

/* --- trees ----------------------------------------------------------------------------------- */

/* Samples that ended below main;take, and what ended them. */
static void leaves_of_trees_are_causes(void **state)
{
	struct fed *f = *state;
	struct query q = of(MEASURE_OFF);
	struct tree tree;
	uint64_t lock = 0, take = 0;

	q.proc = f->db;
	assert_int_equal(query_tree(f->p, &q, &tree), 0);
	for (uint32_t i = 0; i < tree.count; i++) {
		const struct tree_node *node = &tree.nodes[i];
		const char *name = name_of(f, node->func);

		if (strcmp(name, "lock") == 0) {
			assert_int_equal(node->self, LOCKED);
			assert_string_equal(name_of(f, tree.nodes[node->parent].func), "futex");
			lock++;
		}
		if (strcmp(name, "take") == 0) {
			assert_int_equal(node->self, 0);
			assert_int_equal(node->total, LOCKED);
			take++;
		}
		assert_string_not_equal(name, "parse");
		assert_string_not_equal(name, "on");
	}
	assert_int_equal(lock, 1);
	assert_int_equal(take, 1);
	free(tree.nodes);
}

/* --- before, and the baseline ---------------------------------------------------------------- */

static void differences_are_of_the_measure(void **state)
{
	struct profile *p = profile_new(2, 1000);
	struct fed f = {.p = p};
	struct query q = of(MEASURE_OFF);
	struct func_row *rows;
	size_t count;

	(void)state;
	commit(&f);
	assert_int_equal(frozen_sum_span(p, FROZEN_BASELINE, SPAN_WINDOW), 0);
	for (int i = 0; i < 4; i++)
		commit(&f);
	assert_int_equal(query_funcs(p, &q, &rows, &count), 0);
	for (size_t i = 0; i < count; i++)
		if (strcmp(name_of(&f, rows[i].func), "disk") == 0) {
			assert_int_equal(rows[i].self, 2 * LOADED);
			assert_int_equal(rows[i].before, 2 * LOADED);
		}
	free(rows);
	q.baseline = true;
	assert_int_equal(query_funcs(p, &q, &rows, &count), 0);
	for (size_t i = 0; i < count; i++)
		if (strcmp(name_of(&f, rows[i].func), "disk") == 0)
			assert_int_equal(rows[i].before, LOADED);
	free(rows);
	q.span = SPAN_BASELINE;
	assert_int_equal(amount(&f, q), LOCKED + LOADED + POLLED);
	frozen_sum_drop(p, FROZEN_BASELINE);
	profile_free(p);
}

#define MEASURE_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		MEASURE_TEST(each_measure_has_its_cells),
		cmocka_unit_test(events_count_what_samples_stand_for),
		MEASURE_TEST(both_are_there_on_demand),
		MEASURE_TEST(each_slice_has_its_own),
		MEASURE_TEST(copies_have_all_measures),
		MEASURE_TEST(rows_are_of_the_measure),
		MEASURE_TEST(functions_are_of_the_measure),
		MEASURE_TEST(filters_are_of_functions_and_causes),
		MEASURE_TEST(leaves_of_trees_are_causes),
		cmocka_unit_test(differences_are_of_the_measure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
