/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From slices to intervals: how long they are, that no sample is lost when all slices are, which
 * slices are not read yet, which were gone, and that two events have no interval in common.
 * Covers: tui/push/gather.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/feed.h"
#include "tests/support/scratch.h"
#include "tui/push/gather.h"
#include "tui/push/pack.h"
#include "tui/push/queue.h"
#include "tui/push/target.h"

#define CLOCK (1700000000 * NS)

static struct profile *p;
static struct push_queue *q;
static struct push_gather *g;
static struct push_options options;
static uint64_t now; /* of slices, ns */

static int begin(void **state)
{
	char error[256];

	(void)state;
	now = 1000 * NS;
	options = (struct push_options){.every = 5, .service = "{comm}", .cpu = true, .off = true};
	p = profile_new(600, 100000);
	assert_non_null(p);
	assert_int_equal(push_queue_open(NULL, 8 << 20, &q, error, sizeof(error)), 0);
	return 0;
}

static void start(uint64_t lag)
{
	g = push_gather_new(p, q, &options, lag);
	assert_non_null(g);
}

static int end(void **state)
{
	(void)state;
	push_gather_free(g);
	push_queue_free(q);
	profile_free(p);
	g = NULL;
	return 0;
}

/* A slice of a second, with that many samples of an event, and waits if there are any. */
static void slice_of(const char *event, uint32_t samples, uint32_t waits)
{
	struct profile_health health = {.time = now += NS,
					.clock = CLOCK + now,
					.elapsed = NS,
					.ncpus = 2,
					.frequency = 99};
	struct profile_cell cells[2];
	uint32_t kernel = feed_func(p, FUNC_KERNEL, "futex_wait");

	snprintf(health.event, sizeof(health.event), "%s", event);
	profile_lock(p);
	for (int i = 0; i < 2; i++)
		cells[i] = (struct profile_cell){.proc = feed_proc(p, 7, 1, "work", false),
						 .ustack = feed_names(p, false, "main;work"),
						 .kstack = PROFILE_NO_STACK};
	cells[0].count = samples;
	cells[1].kstack = (uint32_t)profile_wait_stack(p, &kernel, 1, WAIT_LOCK);
	cells[1].count = waits;
	cells[1].weight = 1000ull * waits;
	assert_int_equal(profile_commit(p, cells, waits ? 2 : 1, &health), 0);
	profile_unlock(p);
}

static void slices(uint32_t n, uint32_t samples)
{
	while (n--)
		slice_of("cpu-clock", samples, 0);
}

static void take(bool all)
{
	assert_int_equal(push_gather_take(g, &options, all), 0);
}

static size_t entries(void)
{
	struct push_queue_state s;

	push_queue_state(q, &s);
	return s.entries;
}

static struct push_gathered gathered(void)
{
	struct push_gathered s;

	push_gather_state(g, &s);
	return s;
}

/* Takes the first entry out: of that event and measure, with so many samples of so many seconds. */
static void assert_next(const char *event, enum measure measure, uint64_t count, uint64_t seconds)
{
	char host[PUSH_HOST_MAX];
	struct push_entry entry;
	struct export_model c;

	assert_true(push_queue_first(q, &entry));
	assert_int_equal(push_unpack(entry.data, entry.size, &c, host), 0);
	push_entry_free(&entry);
	push_queue_remove(q, entry.number);
	assert_int_equal(c.count, count);
	assert_int_equal(c.measure, measure);
	assert_int_equal(c.health.elapsed, seconds * NS);
	assert_string_equal(c.health.event, event);
	export_model_free(&c);
}

#define NEXT(count, seconds) assert_next("cpu-clock", MEASURE_CPU, count, seconds)

/* --- how long an interval is -------------------------------------------------------------------
 */

static void test_every(void **state)
{
	(void)state;
	/* What was there before is not sent. */
	slices(3, 1000);
	start(0);
	take(false);
	for (uint32_t n = 1; n <= 12; n++) {
		slices(1, n);
		take(false);
		assert_int_equal(entries(), n / 5);
	}
	NEXT(1 + 2 + 3 + 4 + 5, 5);
	NEXT(6 + 7 + 8 + 9 + 10, 5);
	assert_int_equal(gathered().intervals, 2);
	assert_int_equal(gathered().samples, 55);
	/* The last one is shorter. */
	take(true);
	NEXT(11 + 12, 2);
	assert_int_equal(entries(), 0);
	take(true);
	assert_int_equal(entries(), 0);
	assert_int_equal(gathered().intervals, 3);
	assert_int_equal(gathered().missing, 0);
}

/* All at once is the same. */
static void test_many_at_once(void **state)
{
	(void)state;
	start(0);
	slices(23, 10);
	take(false);
	assert_int_equal(entries(), 4);
	for (int i = 0; i < 4; i++)
		NEXT(50, 5);
	take(true);
	NEXT(30, 3);
}

static void test_no_samples(void **state)
{
	(void)state;
	start(0);
	slices(20, 0);
	take(false);
	take(true);
	assert_int_equal(entries(), 0);
	assert_int_equal(gathered().samples, 0);
}

/* Both measures of an interval, or one. */
static void test_measures(void **state)
{
	(void)state;
	start(0);
	for (int i = 0; i < 5; i++)
		slice_of("cpu-clock", 10, 3);
	take(false);
	NEXT(50, 5);
	assert_next("cpu-clock", MEASURE_OFF, 15, 5);
	options.cpu = false;
	for (int i = 0; i < 5; i++)
		slice_of("cpu-clock", 10, 3);
	take(false);
	assert_next("cpu-clock", MEASURE_OFF, 15, 5);
	options.cpu = true;
	options.off = false;
	for (int i = 0; i < 5; i++)
		slice_of("cpu-clock", 10, 3);
	take(false);
	NEXT(50, 5);
	assert_int_equal(entries(), 0);
}

/* An interval keeps the options that it began with. */
static void test_options(void **state)
{
	(void)state;
	start(0);
	slices(2, 10);
	take(false);
	options.every = 2;
	slices(1, 10);
	take(false);
	assert_int_equal(entries(), 0);
	slices(2, 10);
	take(false);
	NEXT(50, 5);
	slices(4, 10);
	take(false);
	NEXT(20, 2);
	NEXT(20, 2);
}

/* --- slices that are young, or gone ------------------------------------------------------------
 */

static void test_lag(void **state)
{
	(void)state;
	start(3 * NS);
	slices(5, 10);
	take(false);
	assert_int_equal(entries(), 0);
	slices(2, 10);
	take(false);
	assert_int_equal(entries(), 0);
	/* The fifth is three seconds old now. */
	slices(1, 10);
	take(false);
	NEXT(50, 5);
	assert_int_equal(entries(), 0);
	/* At the end none is too young. */
	take(true);
	NEXT(30, 3);
}

static void test_missing(void **state)
{
	(void)state;
	profile_free(p);
	p = profile_new(3, 1000);
	profile_lock(p);
	profile_keep(p, 4, 1 << 20);
	profile_unlock(p);
	start(0);
	slices(200, 1);
	take(true);
	assert_true(gathered().missing > 0);
	assert_int_equal(gathered().missing + gathered().samples, 200);
	assert_true(gathered().samples >= 4);
}

/* --- all slices go -----------------------------------------------------------------------------
 */

static void zero(void)
{
	profile_lock(p);
	profile_zero(p);
	profile_unlock(p);
}

static void test_zero(void **state)
{
	uint64_t sum = 0;
	struct push_entry entry;

	(void)state;
	start(3 * NS);
	slices(3, 10);
	zero();
	slices(1, 10);
	zero();
	zero();
	take(false);
	slices(20, 10);
	zero();
	take(false);
	slices(4, 10);
	take(true);
	assert_int_equal(gathered().missing, 0);
	assert_int_equal(gathered().samples, 280);
	while (push_queue_first(q, &entry)) {
		struct export_model c;
		char host[PUSH_HOST_MAX];

		assert_int_equal(push_unpack(entry.data, entry.size, &c, host), 0);
		sum += c.count;
		export_model_free(&c);
		push_queue_remove(q, entry.number);
		push_entry_free(&entry);
	}
	assert_int_equal(sum, 280);
}

/* As the collector changes the event: the slices of the one before go first. */
static void change(void)
{
	profile_lock(p);
	profile_zero(p);
	profile_unlock(p);
}

static void test_events(void **state)
{
	(void)state;
	start(0);
	slices(2, 10);
	change();
	slice_of("page-faults", 7, 0);
	take(false);
	NEXT(20, 2);
	assert_int_equal(entries(), 0);
	for (int i = 0; i < 4; i++)
		slice_of("page-faults", 7, 0);
	take(false);
	assert_next("page-faults", MEASURE_CPU, 35, 5);
	assert_int_equal(gathered().missing, 0);
}

/* Changed again before anyone has looked. */
static void test_many_events(void **state)
{
	static const char *const events[] = {"cpu-clock", "page-faults", "cycles", "cpu-clock"};

	(void)state;
	start(3 * NS);
	for (uint32_t i = 0; i < 12; i++) {
		slice_of(events[i % 4], 1 + i, 0);
		slice_of(events[i % 4], 1 + i, 0);
		change();
	}
	take(true);
	assert_int_equal(gathered().missing, 0);
	assert_int_equal(gathered().samples, 2 * 12 * 13 / 2);
	/* The last and the first of four are one event, in one interval. */
	NEXT(2, 2);
	assert_next("page-faults", MEASURE_CPU, 4, 2);
	assert_next("cycles", MEASURE_CPU, 6, 2);
	NEXT(8 + 10, 4);
	assert_next("page-faults", MEASURE_CPU, 12, 2);
}

/* After its end nothing is read any more. */
static void test_freed(void **state)
{
	(void)state;
	start(0);
	slices(3, 10);
	push_gather_free(g);
	g = NULL;
	zero();
	assert_int_equal(entries(), 0);
}

/* --- the mark of a spool -----------------------------------------------------------------------
 */

static void test_mark(void **state)
{
	char folder[SCRATCH], error[256];
	struct push_queue *again;

	(void)state;
	push_queue_free(q);
	scratch_folder(folder, "gather");
	assert_int_equal(push_queue_open(folder, 8 << 20, &q, error, sizeof(error)), 0);
	start(0);
	slices(7, 10);
	take(false);
	push_gather_free(g);
	push_queue_free(q);
	/* What is missing begins at the end of the interval that was written. */
	assert_int_equal(push_queue_open(folder, 8 << 20, &again, error, sizeof(error)), 0);
	assert_int_equal(push_queue_left_open(again), CLOCK + 1005 * NS);
	g = NULL;
	q = again;
	scratch_remove(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_every),	TEST(test_many_at_once), TEST(test_no_samples),
		TEST(test_measures),	TEST(test_options),	 TEST(test_lag),
		TEST(test_missing),	TEST(test_zero),	 TEST(test_events),
		TEST(test_many_events), TEST(test_freed),	 TEST(test_mark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
