// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which threads hold the lock of their interpreter: in rows of processes and of threads, and on the
 * screen.
 * Covers: tui/query/query_procs.c tui/query/query_threads.c tui/views/procline.c
 * Covers: tui/views/view_procs.c tui/views/procs_draw.c tui/views/proctree.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/feed.h"
#include "tests/support/typist.h"
#include "tui/screen/grid.h"
#include "tui/query/query.h"

#define PID 4711

/* The main thread holds it in 6 samples of 10, another one in 1 of 5. */
static void feed(struct profile *p)
{
	static const struct {
		uint32_t tid;
		const char *stack;
		unsigned int count;
	} samples[] = {
		{PID, "=1;main;py:work@w.py", 6},      {PID, "=3;main;py:work@w.py;deflate", 3},
		{PID, "=2;main;py:work@w.py;take", 1}, {PID + 1, "=1;main;py:work@w.py", 1},
		{PID + 1, "=3;main;py:work@w.py", 4},
	};
	const size_t n = sizeof(samples) / sizeof(*samples);
	const uint32_t proc = feed_proc(p, PID, 1, "python3", false);
	struct profile_cell cells[8];

	for (size_t i = 0; i < n; i++)
		cells[i] = (struct profile_cell){.proc = proc,
						 .tid = samples[i].tid,
						 .ustack = feed_frames(p, samples[i].stack, 0),
						 .kstack = PROFILE_NO_STACK,
						 .count = samples[i].count};
	assert_int_equal(feed_commit(p, cells, n), 0);
	for (size_t i = 0; i < n; i++)
		profile_stack_put(p, cells[i].ustack);
}

static void assert_locks(const struct proc_row *row, unsigned int held, unsigned int waits,
			 unsigned int released)
{
	assert_int_equal(row->locks[STACK_LOCK_NONE], 0);
	assert_int_equal(row->locks[STACK_LOCK_HELD], held);
	assert_int_equal(row->locks[STACK_LOCK_WAITS], waits);
	assert_int_equal(row->locks[STACK_LOCK_RELEASED], released);
}

static void rows_say_who_holds_it(void **state)
{
	struct profile *p = profile_new(10, 1000);
	struct query q = {.span = SPAN_WINDOW, .proc = QUERY_ALL};
	struct proc_row *rows;
	size_t n;

	(void)state;
	feed(p);
	assert_int_equal(query_procs(p, &q, &rows, &n), 0);
	assert_int_equal(n, 1);
	assert_locks(rows, 7, 1, 7);
	free(rows);
	q.threads = true;
	assert_int_equal(query_procs(p, &q, &rows, &n), 0);
	assert_int_equal(n, 2);
	for (size_t i = 0; i < n; i++)
		if (rows[i].tid == PID)
			assert_locks(&rows[i], 6, 1, 3);
		else
			assert_locks(&rows[i], 1, 0, 4);
	free(rows);
	profile_free(p);
}

static void procs_says_who_holds_it(void **state)
{
	struct typist *t = typist_new();

	(void)state;
	grid_resize(t->g, 24, 160);
	profile_lock(t->feed.p);
	feed(t->feed.p);
	profile_unlock(t->feed.p);
	type(t, "g");
	assert_shows(t, "GIL%");
	assert_shows(t, " GIL: main 40%, 4712 7%, waiting 7%, released 47% ");
	typist_free(t);
}

static void other_processes_have_no_column(void **state)
{
	struct typist *t = typist_new();
	struct profile_cell cell = {.kstack = PROFILE_NO_STACK, .count = 5, .tid = 9};

	(void)state;
	grid_resize(t->g, 24, 160);
	profile_lock(t->feed.p);
	cell.proc = feed_proc(t->feed.p, 9, 1, "tool", false);
	cell.ustack = feed_frames(t->feed.p, "main;work", 0);
	assert_int_equal(feed_commit(t->feed.p, &cell, 1), 0);
	profile_stack_put(t->feed.p, cell.ustack);
	profile_unlock(t->feed.p);
	type(t, "g");
	assert_shows(t, "tool");
	assert_hides(t, "GIL");
	typist_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_say_who_holds_it),
		cmocka_unit_test(procs_says_who_holds_it),
		cmocka_unit_test(other_processes_have_no_column),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
