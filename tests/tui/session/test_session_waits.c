// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waits, times and wakes of threads, and what cells stand for, are recorded and come back, slice by
 * slice and after a jump. The profile that was recorded is the witness. A slice whose weights are
 * what its figures say has no bytes for them; one with too many cells has its threads merged.
 * Covers: tui/session/session_write.c tui/session/session_read.c tui/session/feeder.c
 * Covers: tui/session/feeder_names.c tui/profile/recorded_sum.c
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/recorded.h"
#include "tui/export/folded.h"
#include "tui/session/feeder.h"
#include "tui/session/session.h"
#include "tui/session/session_read.h"

#define PID    500
#define ROUNDS 60
#define PERIOD 10101u /* us, of 99 Hz */

struct watched {
	struct profile *p;
	uint32_t proc;
	uint32_t ustacks[3], waits[WAIT_CAUSES], wakes[2], kernel;
	uint64_t random, time;
};

static uint32_t made(int64_t id)
{
	assert_true(id >= 0);
	return (uint32_t)id;
}

/* A wait for a lock, and who ended it. */
static uint32_t wake_new(struct watched *w, const char *lock, const char *waker)
{
	uint32_t frames[4] = {feed_func(w->p, FUNC_KERNEL, "futex_wait"),
			      made(profile_func(w->p, FUNC_WAIT, "lock", "")),
			      made(profile_func(w->p, FUNC_LOCK, lock, "")),
			      made(profile_func(w->p, FUNC_WAKER, waker, "pid 7"))};

	return feed_stack(w->p, true, false, frames, 4);
}

static void watched_open(struct watched *w)
{
	uint32_t futex;

	*w = (struct watched){.p = profile_new(WINDOW, CELLS), .random = 11};
	futex = feed_func(w->p, FUNC_KERNEL, "futex_wait");
	w->proc = feed_proc(w->p, PID, 3, "works", false);
	w->ustacks[0] = feed_names(w->p, false, "main;run;a");
	w->ustacks[1] = feed_names(w->p, false, "main;run;b");
	w->ustacks[2] = feed_names(w->p, false, "main;c");
	w->kernel = feed_names(w->p, true, "entry;do_it");
	for (int i = 0; i < WAIT_CAUSES; i++)
		w->waits[i] =
			made(profile_wait_stack(w->p, &futex, i % 2 ? 1 : 0, (enum wait_cause)i));
	w->wakes[0] = wake_new(w, "0x1000", "owner");
	w->wakes[1] = wake_new(w, "0x2000", "other");
}

static void watched_close(struct watched *w)
{
	profile_free(w->p);
}

static struct profile_cell cell_new(struct watched *w, uint32_t ustack, uint32_t kstack)
{
	return (struct profile_cell){.proc = w->proc,
				     .tid = PID + feed_random(&w->random, 3),
				     .ustack = ustack,
				     .kstack = kstack,
				     .count = 1 + feed_random(&w->random, 9)};
}

/* Samples, waits, wakes and times, in this order. */
static size_t make_watched(struct watched *w, struct profile_cell *cells)
{
	size_t n = 0;

	for (int i = 0; i < 3; i++) {
		cells[n] = cell_new(w, w->ustacks[i], i == 1 ? w->kernel : PROFILE_NO_STACK);
		cells[n].weight = cells[n].count * PERIOD + feed_random(&w->random, 5);
		n++;
	}
	for (int i = 0; i < WAIT_CAUSES; i++) {
		cells[n] = cell_new(w, w->ustacks[i % 3], w->waits[i]);
		cells[n++].weight = 1 + feed_random(&w->random, 400000);
	}
	for (int i = 0; i < 2; i++) {
		cells[n] = cell_new(w, w->ustacks[i], w->wakes[i]);
		cells[n++].weight = 1 + feed_random(&w->random, 100000);
	}
	for (int i = 0; i < WAIT_CAUSES; i++) {
		cells[n] =
			cell_new(w, PROFILE_NO_STACK, profile_time_stack(w->p, (enum wait_cause)i));
		cells[n++].weight = 1 + feed_random(&w->random, 1000000);
	}
	return n;
}

static struct profile_health next_health(struct watched *w, uint64_t round)
{
	w->time += NS;
	return (struct profile_health){.time = w->time,
				       .clock = 1700000000 * NS + w->time,
				       .elapsed = NS,
				       .ncpus = 2,
				       .frequency = 99,
				       .samples = 9,
				       .event = "cpu-clock",
				       .waits = round % 4 != 3,
				       .wait_ns = 1000 + round,
				       .wait_walks = 2000 + round,
				       .wait_thinned = 3000 + round,
				       .wait_untaken = 4000 + round,
				       .wait_lost = 5000 + round,
				       .wait_missed = 6000 + round};
}

static void commit_watched(struct watched *w, struct session_writer *to,
			   const struct profile_cell *cells, size_t n,
			   const struct profile_health *health)
{
	profile_lock(w->p);
	assert_int_equal(profile_commit(w->p, cells, n, health), 0);
	if (to)
		assert_int_equal(session_note(to, w->p, cells, n, health), 0);
	profile_unlock(w->p);
	if (to)
		assert_int_equal(session_flush(to), 0);
}

static struct session_writer *writer_new(void)
{
	struct session_writer *to;
	char error[256] = "";

	if (session_writer_new(path, &to, error, sizeof(error)))
		fail_msg("%s", error);
	return to;
}

static struct session *session_again(void)
{
	struct session *s;
	char error[256] = "";

	if (session_open(path, &s, error, sizeof(error)))
		fail_msg("%s", error);
	assert_null(session_flaw(s));
	return s;
}

/* --- what is measured ------------------------------------------------------------------------- */

/* All that a profile has, by each measure, and the times. */
static char *measured(struct profile *p, enum span span)
{
	struct profile_health sum;
	struct time_row *rows;
	char *text = NULL;
	size_t size, n;
	FILE *to = open_memstream(&text, &size);

	for (int m = MEASURE_CPU; m <= MEASURE_WAKES; m++) {
		struct query q = {.span = span, .proc = QUERY_ALL, .measure = (enum measure)m};

		fprintf(to, "%s\n", measure_name((enum measure)m));
		assert_int_equal(batch_folded(to, p, &q), 0);
	}
	profile_lock(p);
	query_health_sum(p, span, &sum);
	assert_int_equal(
		query_times(p, &(struct query){.span = span, .proc = QUERY_ALL}, &rows, &n), 0);
	profile_unlock(p);
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < WAIT_CAUSES; k++)
			fprintf(to, "%d: %" PRIu64 "\n", k, rows[i].us[k]);
	fprintf(to,
		"%d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		" %" PRIu64 "\n",
		sum.waits, sum.weight, sum.wait_ns, sum.wait_walks, sum.wait_thinned,
		sum.wait_untaken, sum.wait_lost, sum.wait_missed);
	free(rows);
	fclose(to);
	return text;
}

static void assert_measured(struct profile *p, const struct watched *w)
{
	static const enum span spans[] = {SPAN_LAST, SPAN_WINDOW, SPAN_TOTAL};

	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
		char *got = measured(p, spans[i]), *want = measured(w->p, spans[i]);

		assert_string_equal(got, want);
		free(got);
		free(want);
	}
}

static void waits_come_back(void **state)
{
	struct profile_cell cells[64];
	struct watched recorded, straight;
	struct profile *p = profile_new(WINDOW, CELLS);
	struct session_writer *to = writer_new();
	struct session_slice slice;
	struct feeder *feeder;
	struct session *s;

	(void)state;
	watched_open(&recorded);
	for (uint64_t i = 0; i < ROUNDS; i++) {
		const struct profile_health health = next_health(&recorded, i);

		commit_watched(&recorded, to, cells, make_watched(&recorded, cells), &health);
	}
	session_writer_free(to);
	s = session_again();
	assert_int_equal(session_slices(s), ROUNDS);
	assert_int_equal(feeder_new(p, s, &feeder), 0);
	watched_open(&straight);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		const struct profile_health health = next_health(&straight, i);
		size_t n = make_watched(&straight, cells);

		assert_int_equal(session_read(s, i, &slice), 0);
		assert_int_equal(slice.ncells, n);
		for (size_t k = 0; k < n; k++) {
			assert_int_equal(slice.cells[k].count, cells[k].count);
			assert_int_equal(slice.cells[k].weight, cells[k].weight);
			assert_int_equal(slice.cells[k].tid, cells[k].tid);
		}
		commit_watched(&straight, NULL, cells, n, &health);
		assert_int_equal(feeder_slice(feeder, i, true), 0);
		if (i % 7 == 0 || i + 1 == ROUNDS)
			assert_measured(p, &straight);
	}
	/* Back, and forward: most slices are one then. */
	assert_int_equal(feeder_go(feeder, 0, ROUNDS, 2), 0);
	assert_int_equal(feeder_go(feeder, 0, 2, ROUNDS), 0);
	assert_measured(p, &straight);
	feeder_free(feeder);
	session_free(s);
	profile_free(p);
	watched_close(&recorded);
	watched_close(&straight);
}

/* The kinds of functions come back as what they were. */
static void kinds_come_back(void **state)
{
	static const enum func_kind kinds[] = {FUNC_WAIT, FUNC_TIME, FUNC_LOCK, FUNC_WAKER};
	struct profile_cell cells[64];
	struct watched w;
	struct session_writer *to = writer_new();
	struct session *s;
	struct profile_health health;
	int seen[4] = {0};

	(void)state;
	watched_open(&w);
	health = next_health(&w, 0);
	commit_watched(&w, to, cells, make_watched(&w, cells), &health);
	session_writer_free(to);
	s = session_again();
	for (uint32_t i = 0; i < session_names_counts(session_all_names(s)).funcs; i++) {
		struct profile_func func = session_names_func(session_all_names(s), i);

		for (int k = 0; k < 4; k++)
			seen[k] += func.kind == kinds[k];
	}
	assert_int_equal(seen[0], WAIT_CAUSES);
	assert_int_equal(seen[1], WAIT_CAUSES);
	assert_int_equal(seen[2], 2);
	assert_int_equal(seen[3], 2);
	session_free(s);
	watched_close(&w);
}

/* --- when there are weights in the file --------------------------------------------------------
 */

/* A recording of one cell of such an event; returns the size of the file. */
static uint64_t record_one(const char *event, uint64_t counted, uint64_t weight,
			   struct profile_cell *back)
{
	struct watched w;
	struct session_writer *to = writer_new();
	struct profile_health health;
	struct profile_cell cell;
	struct session_slice slice;
	struct session *s;
	uint64_t size;

	watched_open(&w);
	health = next_health(&w, 0);
	snprintf(health.event, sizeof(health.event), "%s", event);
	health.taken = 50;
	health.counted = counted;
	cell = cell_new(&w, w.ustacks[0], PROFILE_NO_STACK);
	cell.count = 50;
	cell.weight = weight;
	commit_watched(&w, to, &cell, 1, &health);
	size = session_writer_size(to);
	session_writer_free(to);
	s = session_again();
	assert_int_equal(session_read(s, 0, &slice), 0);
	*back = slice.cells[0];
	session_free(s);
	watched_close(&w);
	return size;
}

static void only_what_figures_do_not_say(void **state)
{
	struct profile_cell back;
	uint64_t plain = record_one("cpu-clock", 0, 0, &back);

	(void)state;
	assert_int_equal(back.weight, 0);
	assert_int_equal(record_one("cpu-clock", 0, 50 * 1000000 / 99, &back), plain);
	assert_int_equal(back.weight, 0);
	record_one("cpu-clock", 0, 123, &back);
	assert_int_equal(back.weight, 123);
	record_one("page-faults", 5000, 5000, &back);
	assert_int_equal(back.weight, 0);
	record_one("page-faults", 5000, 4711, &back);
	assert_int_equal(back.weight, 4711);
	assert_int_equal(back.count, 50);
	/* More than a reader would add up. */
	record_one("page-faults", 5000, SESSION_WEIGHT_MAX, &back);
	assert_int_equal(back.weight, SESSION_WEIGHT_MAX);
	record_one("page-faults", 5000, SESSION_WEIGHT_MAX + 1, &back);
	assert_int_equal(back.weight, 0);
}

/* A session of cpu-clock at 499 Hz from before there were weights: a seed of the fuzzer, behind its
 * first byte. */
static void old_session(void)
{
	FILE *from = fopen("tests/fuzz/seeds/fuzz_session/file", "rb"), *to = fopen(path, "wb");

	assert_non_null(from);
	assert_non_null(to);
	assert_true(fgetc(from) >= 0);
	for (int c; (c = fgetc(from)) != EOF;)
		assert_int_equal(fputc(c, to), c);
	fclose(from);
	assert_int_equal(fclose(to), 0);
}

struct both {
	uint64_t count, weight;
};

static int add_both(const struct profile_cell *cell, void *arg)
{
	struct both *sum = arg;

	sum->count += cell->count;
	sum->weight += cell->weight;
	return 0;
}

static void old_sessions_have_periods(void **state)
{
	const struct query q = {.span = SPAN_LAST, .proc = QUERY_ALL, .both = true};
	struct profile *p = profile_new(WINDOW, CELLS);
	struct session_slice slice;
	struct session *s;
	struct feeder *feeder;

	(void)state;
	old_session();
	s = session_again();
	assert_int_equal(session_slices(s), 3);
	assert_int_equal(feeder_new(p, s, &feeder), 0);
	for (uint32_t i = 0; i < 3; i++) {
		struct both sum = {0}, want = {0};

		assert_int_equal(session_read(s, i, &slice), 0);
		assert_false(slice.health.waits);
		for (size_t k = 0; k < slice.ncells; k++) {
			assert_int_equal(slice.cells[k].weight, 0);
			want.count += slice.cells[k].count;
			want.weight += slice.cells[k].count * 1000000 / 499;
		}
		assert_int_equal(want.count, slice.health.samples);
		assert_int_equal(feeder_slice(feeder, i, true), 0);
		profile_lock(p);
		assert_int_equal(query_cells(p, &q, add_both, &sum), 0);
		profile_unlock(p);
		assert_int_equal(sum.count, want.count);
		assert_int_equal(sum.weight, want.weight);
	}
	feeder_free(feeder);
	session_free(s);
	profile_free(p);
}

/* A baseline knows what 100 % of an event without time are. */
static void baselines_have_weights(void **state)
{
	struct profile *p = profile_new(WINDOW, CELLS);
	struct profile_health sum;
	struct profile_cell back;
	struct session *s;
	struct feeder *feeder;
	atomic_bool stop = false;

	(void)state;
	record_one("page-faults", 5000, 4711, &back);
	s = session_again();
	assert_int_equal(feeder_new(p, s, &feeder), 0);
	assert_int_equal(feeder_baseline(feeder, &stop), 0);
	profile_lock(p);
	query_health_sum(p, SPAN_BASELINE, &sum);
	profile_unlock(p);
	assert_int_equal(sum.weight, 4711);
	feeder_free(feeder);
	session_free(s);
	profile_free(p);
}

/* More cells than a reader takes from 10 ms: the same without threads. */
static void threads_are_merged(void **state)
{
	static struct profile_cell cells[6000];
	struct watched w;
	struct session_writer *to = writer_new();
	struct profile_health health;
	struct session_slice slice;
	struct session *s;
	uint64_t waited = 0, count = 0;

	(void)state;
	watched_open(&w);
	health = next_health(&w, 0);
	health.elapsed = NS / 100;
	for (uint32_t i = 0; i < 6000; i++) {
		cells[i] = cell_new(&w, w.ustacks[i % 2], w.waits[WAIT_LOCK]);
		cells[i].tid = PID + i;
		cells[i].weight = 1 + i;
		waited += cells[i].weight;
		count += cells[i].count;
	}
	assert_false(session_may_have(6000, health.elapsed));
	commit_watched(&w, to, cells, 6000, &health);
	session_writer_free(to);
	s = session_again();
	assert_int_equal(session_read(s, 0, &slice), 0);
	assert_int_equal(slice.ncells, 2);
	assert_int_equal(slice.cells[0].tid, 0);
	assert_int_equal(slice.cells[0].weight + slice.cells[1].weight, waited);
	assert_int_equal(slice.cells[0].count + slice.cells[1].count, count);
	session_free(s);
	/* Processes are not. */
	to = writer_new();
	for (uint32_t i = 0; i < 6000; i++)
		cells[i].proc = feed_proc(w.p, (pid_t)(1000 + i), 3, "many", false);
	profile_lock(w.p);
	assert_int_equal(session_note(to, w.p, cells, 6000, &health), -EFBIG);
	profile_unlock(w.p);
	session_writer_free(to);
	watched_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_come_back),
		cmocka_unit_test(kinds_come_back),
		cmocka_unit_test(only_what_figures_do_not_say),
		cmocka_unit_test(old_sessions_have_periods),
		cmocka_unit_test(baselines_have_weights),
		cmocka_unit_test(threads_are_merged),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
