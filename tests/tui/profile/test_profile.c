/* SPDX-License-Identifier: GPL-2.0-or-later */
/* build: -Wl,--wrap=clock_gettime */
/*
 * What keeps the profile going for days: ids and references go back to zero, memory is bounded
 * however many processes come and go, no sample is lost when totals are folded, and a slice for
 * which there is no memory leaves no trace.
 * Covers: tui/profile/profile.c tui/profile/profile_names.c tui/profile/profile_pool.c
 * Covers: tui/profile/profile_fold.c tui/profile/board.c tui/profile/profile_priv.h
 * Covers: tui/util/idtable.c tui/profile/celltable.c
 */
#include <errno.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "tests/support/feed.h"
#include "tui/profile/board.h"
#include "tui/profile/profile_priv.h"
#include "tui/query/query.h"

#if defined(__SANITIZE_ADDRESS__)
#define CHURN 100000
#else
#define CHURN 1000000
#endif

/* The profile's own: the functions, the stacks and the process that folding uses, and for each
 * cause of a wait one of waits and one of times. */
#define OWN_FUNCS  (2 + 2 * WAIT_CAUSES)
#define OWN_STACKS (4 + 2 * WAIT_CAUSES)
#define OWN_PROCS  1

static uint64_t samples(const struct profile *p, enum span span, uint32_t proc)
{
	struct query q = {.span = span, .proc = proc};

	return query_samples(p, &q, NULL);
}

static void assert_only_own(const struct profile *p)
{
	assert_int_equal(p->funcs.live, OWN_FUNCS);
	assert_int_equal(p->stacks.live, OWN_STACKS);
	assert_int_equal(p->procs.live, OWN_PROCS);
}

static void test_interned(void **state)
{
	struct profile *p = profile_new(10, 100);
	uint32_t f = feed_func(p, FUNC_USER, "f"), g = feed_func(p, FUNC_USER, "g");
	uint32_t fg[] = {f, g}, gf[] = {g, f}, s;

	(void)state;
	assert_int_equal(feed_func(p, FUNC_USER, "f"), f);
	assert_int_not_equal(feed_func(p, FUNC_JIT, "f"), f);
	assert_int_not_equal(profile_func(p, FUNC_USER, "f", "liby.so"), f);
	assert_int_not_equal(profile_func(p, FUNC_USER, "flibx.so", ""), f);
	s = feed_stack(p, false, true, fg, 2);
	assert_int_equal(feed_stack(p, false, true, fg, 2), s);
	assert_int_not_equal(feed_stack(p, false, false, fg, 2), s);
	assert_int_not_equal(feed_stack(p, true, true, fg, 2), s);
	assert_int_not_equal(feed_stack(p, false, true, gf, 2), s);
	assert_int_not_equal(feed_stack(p, false, true, fg, 1), s);
	assert_int_equal(feed_proc(p, 5, 1, "a", false), feed_proc(p, 5, 1, "b", false));
	assert_string_equal(query_proc(p, feed_proc(p, 5, 1, "c", false))->comm, "c");
	assert_int_not_equal(feed_proc(p, 5, 2, "a", false), feed_proc(p, 5, 1, "a", false));
	profile_free(p);
}

/* A name that never ends is cut, and not in the middle of a character. */
static void test_long_names(void **state)
{
	struct profile *p = profile_new(10, 100);
	char name[4000];
	const char *stored;

	(void)state;
	memset(name, 'a', sizeof(name));
	memcpy(name + NAME_MAX_BYTES - 1, "\xc3\xa9", 2);
	name[sizeof(name) - 1] = 0;
	stored = query_func(p, feed_func(p, FUNC_USER, name))->name;
	assert_int_equal(strlen(stored), NAME_MAX_BYTES - 1);
	assert_int_equal(stored[NAME_MAX_BYTES - 2], 'a');
	assert_int_equal(feed_func(p, FUNC_USER, name), feed_func(p, FUNC_USER, name));
	profile_free(p);
}

static void test_references(void **state)
{
	struct profile *p = profile_new(2, 100);
	struct profile_cell cell = {.count = 5};

	(void)state;
	for (int i = 0; i < 20; i++) {
		cell.proc = feed_proc(p, 10 + i, 1, "sh", true);
		cell.ustack = feed_names(p, false, i % 2 ? "main;a;b" : "main;a;a;c");
		cell.kstack = feed_names(p, true, "entry;sys");
		assert_int_equal(feed_commit(p, &cell, 1), 0);
		profile_stack_put(p, cell.ustack);
		profile_stack_put(p, cell.kstack);
	}
	assert_int_equal(samples(p, SPAN_TOTAL, QUERY_ALL), 100);
	assert_int_equal(samples(p, SPAN_WINDOW, QUERY_ALL), 10);
	assert_int_equal(p->procs.live, OWN_PROCS + 20);
	assert_int_equal(p->stacks.live, OWN_STACKS + 3);
	assert_int_equal(p->funcs.live, OWN_FUNCS + 6);
	assert_true(p->nslices <= 4);

	profile_zero(p);
	assert_int_equal(samples(p, SPAN_TOTAL, QUERY_ALL), 0);
	assert_int_equal(feed_commit(p, NULL, 0), 0);
	assert_only_own(p);
	/* The numbers are used again. */
	assert_true(feed_proc(p, 99, 1, "new", false) < OWN_PROCS + 20);
	profile_free(p);
}

static void note_samples(const struct profile *p, void *arg)
{
	*(uint64_t *)arg += samples(p, SPAN_TOTAL, QUERY_ALL);
}

static void test_last_chance(void **state)
{
	struct profile *p = profile_new(2, 100);
	struct profile_cell cell = {.count = 5};
	uint64_t first = 0, second = 0;

	(void)state;
	profile_before_zero(p, note_samples, &first);
	profile_before_zero(p, note_samples, &second);
	cell.proc = feed_proc(p, 10, 1, "sh", true);
	cell.ustack = feed_names(p, false, "main;a");
	cell.kstack = feed_names(p, true, "entry;sys");
	assert_int_equal(feed_commit(p, &cell, 1), 0);
	profile_zero(p);
	assert_int_equal(first, 5);
	assert_int_equal(second, 5);
	profile_before_zero(p, NULL, &first);
	assert_int_equal(feed_commit(p, &cell, 1), 0);
	profile_zero(p);
	assert_int_equal(first, 5);
	assert_int_equal(second, 10);
	profile_stack_put(p, cell.ustack);
	profile_stack_put(p, cell.kstack);
	profile_free(p);
}

/* A process without samples is forgotten when it exits, not before, and may come back. */
static void test_quiet_process(void **state)
{
	struct profile *p = profile_new(2, 100);

	(void)state;
	feed_proc(p, 10, 1, "quiet", false);
	for (int i = 0; i < 10; i++)
		assert_int_equal(feed_commit(p, NULL, 0), 0);
	assert_int_equal(p->procs.live, OWN_PROCS + 1);
	feed_proc(p, 10, 1, "quiet", true);
	feed_proc(p, 10, 1, "back", false);
	assert_int_equal(feed_commit(p, NULL, 0), 0);
	assert_int_equal(p->procs.live, OWN_PROCS + 1);
	feed_proc(p, 10, 1, "back", true);
	assert_int_equal(feed_commit(p, NULL, 0), 0);
	assert_only_own(p);
	profile_free(p);
}

static void test_window(void **state)
{
	struct profile *p = profile_new(3, 100);
	struct profile_cell cell = {.kstack = PROFILE_NO_STACK};
	/* tenths of a second, samples, and what the window of 3 s must hold afterwards */
	static const int steps[][3] = {{10, 1, 1},   {10, 2, 3},  {10, 4, 7},	{10, 8, 14},
				       {20, 16, 24}, {5, 32, 48}, {40, 64, 64}, {1, 1, 65},
				       {29, 2, 3},   {9, 4, 6},	  {360, 5, 5}};

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		struct profile_health health = {.elapsed = (uint64_t)steps[i][0] * NS / 10};

		cell.proc = feed_proc(p, 10, 1, "a", false);
		cell.ustack = feed_names(p, false, "main");
		cell.count = (uint64_t)steps[i][1];
		assert_int_equal(profile_commit(p, &cell, 1, &health), 0);
		assert_int_equal(samples(p, SPAN_WINDOW, QUERY_ALL), steps[i][2]);
		assert_int_equal(samples(p, SPAN_LAST, QUERY_ALL), steps[i][1]);
	}
	profile_free(p);
}

/* Slices without length must not pile up. */
static void test_no_time(void **state)
{
	struct profile *p = profile_new(10, 100);
	struct profile_health health = {0};
	struct profile_cell cell = {.ustack = PROFILE_NO_STACK, .kstack = PROFILE_NO_STACK};

	(void)state;
	cell.proc = feed_proc(p, 10, 1, "a", false);
	cell.count = 1;
	for (int i = 0; i < 3 * SLICES_MAX; i++)
		assert_int_equal(profile_commit(p, &cell, 1, &health), 0);
	assert_true(p->nslices <= SLICES_MAX);
	assert_int_equal(samples(p, SPAN_WINDOW, QUERY_ALL), p->nwindow);
	assert_int_equal(samples(p, SPAN_TOTAL, QUERY_ALL), 3 * SLICES_MAX);
	profile_free(p);
}

static void test_bad_cells(void **state)
{
	struct profile *p = profile_new(10, 100);
	uint32_t proc = feed_proc(p, 10, 1, "a", false), s = feed_names(p, false, "main");
	uint32_t frame = 12345;
	struct profile_stack stack = {.complete = true, .nframes = 1, .frames = &frame};
	struct profile_cell cells[2] = {{proc, 0, s, s, 1, 0, 0}, {proc, 0, s, s, 1, 0, 0}};

	(void)state;
	assert_int_equal(profile_stack_new(p, &stack), -EINVAL);
	cells[1].proc = proc + 1;
	assert_int_equal(feed_commit(p, cells, 2), -EINVAL);
	cells[1] = (struct profile_cell){proc, 0, s + 1, s, 1, 0, 0};
	assert_int_equal(feed_commit(p, cells, 2), -EINVAL);
	cells[1] = (struct profile_cell){proc, 0, s, s + 1, 1, 0, 0};
	assert_int_equal(feed_commit(p, cells, 2), -EINVAL);
	assert_int_equal(samples(p, SPAN_TOTAL, QUERY_ALL), 0);
	assert_int_equal(query_slices(p), 0);
	profile_free(p);
}

/*
 * Totals far beyond their bound: sums by process, mode and completeness stay exact, what was
 * frequent keeps its stack.
 */
static void test_folding(void **state)
{
	enum { MAX = 400, LIVE = 10, ROUNDS = 300 };
	struct query all = {.span = SPAN_TOTAL, .proc = QUERY_ALL};
	struct profile *p = profile_new(2, MAX);
	uint64_t by_proc[LIVE] = {0}, kernel[LIVE] = {0}, complete[LIVE] = {0}, sum = 0, found = 0;
	uint64_t seed = 42;
	struct proc_row *rows;
	struct func_row *funcs;
	uint32_t busy;
	size_t count;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct profile_cell cells[LIVE + 1];

		for (int i = 0; i < LIVE; i++) {
			char names[64];
			uint32_t frame;

			sprintf(names, "main;f%u", feed_random(&seed, 100000));
			cells[i] = (struct profile_cell){feed_proc(p, 10 + i, 1, "a", false),
							 0,
							 PROFILE_NO_STACK,
							 PROFILE_NO_STACK,
							 1 + feed_random(&seed, 3),
							 0,
							 0};
			frame = feed_func(p, FUNC_USER, names);
			cells[i].ustack = feed_stack(p, false, round % 3, &frame, 1);
			complete[i] += round % 3 ? cells[i].count : 0;
			if (feed_random(&seed, 2)) {
				cells[i].kstack = feed_names(p, true, names);
				kernel[i] += cells[i].count;
			}
			by_proc[i] += cells[i].count;
			sum += cells[i].count;
		}
		cells[LIVE] = cells[0];
		cells[LIVE].ustack = feed_names(p, false, "main;busy");
		cells[LIVE].kstack = PROFILE_NO_STACK;
		cells[LIVE].count = 50;
		by_proc[0] += 50;
		complete[0] += 50;
		sum += 50;
		assert_int_equal(feed_commit(p, cells, LIVE + 1), 0);
		for (int i = 0; i <= LIVE; i++) {
			profile_stack_put(p, cells[i].ustack);
			if (cells[i].kstack != PROFILE_NO_STACK)
				profile_stack_put(p, cells[i].kstack);
		}
		assert_true(p->totals.cells.count <= MAX);
	}
	assert_int_equal(samples(p, SPAN_TOTAL, QUERY_ALL), sum);
	assert_int_equal(query_procs(p, &all, &rows, &count), 0);
	assert_int_equal(count, LIVE);
	for (size_t i = 0; i < count; i++) {
		int n = query_proc(p, rows[i].proc)->pid - 10;

		assert_int_equal(rows[i].samples, by_proc[n]);
		assert_int_equal(rows[i].walks, by_proc[n]);
		assert_int_equal(rows[i].kernel_samples, kernel[n]);
		assert_int_equal(rows[i].complete, complete[n]);
	}
	free(rows);
	busy = feed_func(p, FUNC_USER, "busy");
	assert_int_equal(query_funcs(p, &all, &funcs, &count), 0);
	for (size_t i = 0; i < count; i++) {
		if (funcs[i].func == busy)
			found = funcs[i].self;
	}
	free(funcs);
	assert_int_equal(found, 50 * ROUNDS);
	profile_free(p);
}

static uint64_t self_of(const struct profile *p, uint32_t proc, uint32_t func)
{
	struct query q = {.span = SPAN_TOTAL, .proc = proc};
	struct func_row *rows;
	uint64_t self = 0;
	size_t count;

	assert_int_equal(query_funcs(p, &q, &rows, &count), 0);
	for (size_t i = 0; i < count; i++) {
		if (rows[i].func == func)
			self = rows[i].self;
	}
	free(rows);
	return self;
}

/* Processes long gone are put together before any stack is given up; recent ones stay apart. */
static void test_folding_exited(void **state)
{
	enum { MAX = 100, EACH = 2 };
	struct profile *p = profile_new(2, MAX);
	struct profile_cell cells[EACH];
	uint32_t last = 0;
	int rounds = MAX / EACH + 1;

	(void)state;
	for (int i = 0; i < rounds; i++) {
		last = feed_proc(p, 10 + i, 1, "sh", true);
		cells[0] = (struct profile_cell){
			last, 0, feed_names(p, false, "main;one"), PROFILE_NO_STACK, 1, 0, 0};
		cells[1] = (struct profile_cell){
			last, 0, feed_names(p, false, "main;two"), PROFILE_NO_STACK, 2, 0, 0};
		assert_int_equal(feed_commit(p, cells, EACH), 0);
	}
	assert_int_equal(self_of(p, p->exited, feed_func(p, FUNC_USER, "one")), rounds - 4);
	assert_int_equal(self_of(p, p->exited, feed_func(p, FUNC_USER, "two")), 2 * (rounds - 4));
	assert_int_equal(self_of(p, last, feed_func(p, FUNC_USER, "two")), 2);
	assert_int_equal(self_of(p, QUERY_ALL, feed_func(p, FUNC_END, "folded away")), 0);
	profile_free(p);
}

/* When all are equally rare, no more than a quarter is folded. */
static void test_folding_moderate(void **state)
{
	enum { MAX = 100 };
	struct profile *p = profile_new(2, MAX);
	struct profile_cell cells[MAX + 1];
	char name[16];

	(void)state;
	for (int i = 0; i <= MAX; i++) {
		sprintf(name, "f%d", i);
		cells[i] = (struct profile_cell){feed_proc(p, 10, 1, "a", false),
						 0,
						 feed_names(p, false, name),
						 PROFILE_NO_STACK,
						 1,
						 0,
						 0};
	}
	assert_int_equal(feed_commit(p, cells, MAX + 1), 0);
	assert_in_range(p->totals.cells.count, MAX * 3 / 4 - 1, MAX * 3 / 4);
	assert_int_equal(samples(p, SPAN_TOTAL, QUERY_ALL), MAX + 1);
	profile_free(p);
}

/* More processes alive than there may be cells: the least that can be kept is kept. */
static void test_folding_live(void **state)
{
	enum { N = 1000 };
	struct profile *p = profile_new(2, 10);
	static struct profile_cell cells[N];

	(void)state;
	for (int i = 0; i < N; i++) {
		char names[32];

		sprintf(names, "main;f%d", i);
		cells[i] = (struct profile_cell){feed_proc(p, 10 + i, 1, "a", i % 2),
						 0,
						 feed_names(p, false, names),
						 PROFILE_NO_STACK,
						 3,
						 0,
						 0};
	}
	assert_int_equal(feed_commit(p, cells, N), 0);
	assert_int_equal(samples(p, SPAN_TOTAL, QUERY_ALL), 3 * N);
	assert_int_equal(samples(p, SPAN_TOTAL, cells[0].proc), 3);
	assert_int_equal(p->totals.cells.count, N / 2 + 1);
	assert_int_equal(samples(p, SPAN_WINDOW, cells[1].proc), 3);
	profile_free(p);
}

/* Short-lived processes for ever: nothing may grow with their number, no sample may go. */
static void test_churn(void **state)
{
	enum { PER_SLICE = 1000 };
	struct profile *p = profile_new(10, 20000);
	static struct profile_cell cells[PER_SLICE];
	uint64_t seed = 5;
	uint32_t pid = 0;
	size_t used = 0, most = 0;

	(void)state;
	for (int slice = 0; slice < CHURN / PER_SLICE; slice++) {
		for (int i = 0; i < PER_SLICE; i++, pid++) {
			char names[64];

			sprintf(names, "main;leaf%u", feed_random(&seed, 3000));
			cells[i] = (struct profile_cell){
				feed_proc(p, (pid_t)(pid % 32768 + 1), pid, "sh", false),
				pid,
				feed_names(p, false, names),
				PROFILE_NO_STACK,
				1,
				0,
				0};
		}
		assert_int_equal(feed_commit(p, cells, PER_SLICE), 0);
		for (int i = 0; i < PER_SLICE; i++) {
			profile_stack_put(p, cells[i].ustack);
			feed_proc(p, query_proc(p, cells[i].proc)->pid,
				  query_proc(p, cells[i].proc)->image, "sh", true);
		}
		assert_true(p->procs.live <= 20000 + 21 * PER_SLICE + OWN_PROCS);
		assert_true(p->totals.cells.count <= 20000);
		assert_true(p->sliding.cells.count <= 22 * PER_SLICE);
		assert_int_equal(samples(p, SPAN_WINDOW, QUERY_ALL),
				 (slice < 10 ? slice + 1 : 10) * PER_SLICE);
		if (slice == CHURN / PER_SLICE / 4)
			used = mallinfo2().uordblks + mallinfo2().hblkhd;
		most = mallinfo2().uordblks + mallinfo2().hblkhd;
	}
	assert_int_equal(samples(p, SPAN_TOTAL, QUERY_ALL), CHURN);
	assert_int_equal(samples(p, SPAN_TOTAL, p->exited) > 0, 1);
	assert_true(p->procs.count <= 20000 + 22 * PER_SLICE);
	assert_true(p->stacks.count <= 3000 + OWN_STACKS);
	/* The sanitizer's malloc does not fill in mallinfo2: both are 0 then. */
	assert_true(most <= used + used / 10);
	print_message("churn of %d processes: %zu KiB after a quarter, %zu KiB at the end\n", CHURN,
		      used / 1024, most / 1024);
	for (int i = 0; i < 25; i++)
		assert_int_equal(feed_commit(p, NULL, 0), 0);
	profile_zero(p);
	assert_int_equal(feed_commit(p, NULL, 0), 0);
	assert_only_own(p);
	profile_free(p);
}

/* Messages come at the time of the clock, which stands still where it is not 0. */
static uint64_t stopped;

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	if (!stopped)
		return __real_clock_gettime(clock, t);
	*t = (struct timespec){(time_t)(stopped / NS), (long)(stopped % NS)};
	return 0;
}

/* What a screen with room for one message shows so many seconds after the last one came. */
static const char *shown_after(const struct profile *p, unsigned int seconds)
{
	static struct board_message message;

	return board_shown(profile_board(p), stopped + seconds * NS, 8 * NS, &message)
		       ? message.text
		       : NULL;
}

static void test_messages_that_come_together(void **state)
{
	struct profile *p = profile_new(10, 100);

	(void)state;
	stopped = 1234567890123;
	board_message(profile_board(p), MESSAGE_WARNING, "one");
	board_message(profile_board(p), MESSAGE_WARNING, "two");
	board_message(profile_board(p), MESSAGE_INFO, "three");
	board_message(profile_board(p), MESSAGE_INFO, "four");
	assert_string_equal(shown_after(p, 0), "one");
	assert_string_equal(shown_after(p, 5), "two");
	assert_string_equal(shown_after(p, 9), "four");
	assert_string_equal(shown_after(p, 15), "four");
	assert_null(shown_after(p, 17));
	board_message(profile_board(p), MESSAGE_WARNING, "five");
	board_message(profile_board(p), MESSAGE_ERROR, "six");
	assert_string_equal(shown_after(p, 0), "six");
	/* More than are kept. */
	for (int i = 0; i < 100; i++)
		board_message(profile_board(p), MESSAGE_WARNING, "m%d", i);
	assert_string_equal(shown_after(p, 0), "m84");
	assert_string_equal(shown_after(p, 61), "m99");
	/* What was done, or is wrong, is read before a warning that came right after it. */
	stopped += 1000 * NS;
	board_message(profile_board(p), MESSAGE_INFO, "written");
	board_message(profile_board(p), MESSAGE_WARNING, "late");
	assert_string_equal(shown_after(p, 0), "written");
	assert_string_equal(shown_after(p, 5), "late");
	assert_null(shown_after(p, 13));
	stopped += 1000 * NS;
	board_message(profile_board(p), MESSAGE_ERROR, "no room");
	board_message(profile_board(p), MESSAGE_WARNING, "late");
	assert_string_equal(shown_after(p, 0), "no room");
	assert_string_equal(shown_after(p, 5), "late");
	profile_free(p);
	stopped = 0;
}

static void test_messages(void **state)
{
	struct profile *p = profile_new(10, 100);
	struct board *b = profile_board(p);
	struct board_message message;
	const uint64_t now = stopped = 1234567890123;
	uint64_t serial = 0;
	char text[32];

	(void)state;
	assert_false(board_shown(b, 0, UINT64_MAX, &message));
	assert_false(board_next(b, &serial, &message));
	board_message(b, MESSAGE_ERROR, "bad \033[31m%s\n", "name");
	assert_true(board_shown(b, now, NS, &message));
	assert_string_equal(message.text, "bad ?[31mname?");
	assert_int_equal(message.level, MESSAGE_ERROR);
	assert_false(board_shown(b, now + 3 * NS, NS, &message));
	assert_true(board_next(b, &serial, &message));
	assert_string_equal(message.text, "bad ?[31mname?");
	assert_false(board_next(b, &serial, &message));
	for (int i = 0; i < 100; i++)
		board_message(b, MESSAGE_INFO, "m%d", i);
	for (int i = 100 - BOARD_MESSAGES_MAX; i < 100; i++) {
		sprintf(text, "m%d", i);
		assert_true(board_next(b, &serial, &message));
		assert_string_equal(message.text, text);
	}
	assert_false(board_next(b, &serial, &message));
	profile_free(p);
	stopped = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interned),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_references),
		cmocka_unit_test(test_last_chance),
		cmocka_unit_test(test_quiet_process),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_no_time),
		cmocka_unit_test(test_bad_cells),
		cmocka_unit_test(test_folding),
		cmocka_unit_test(test_folding_live),
		cmocka_unit_test(test_folding_exited),
		cmocka_unit_test(test_folding_moderate),
		cmocka_unit_test(test_churn),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_messages_that_come_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
