/* SPDX-License-Identifier: GPL-2.0-or-later */
/* build: -Wl,--wrap=query_passes */
/*
 * What keys cost when a process has many threads, in samples that are looked at: the functions of
 * the thread under the cursor are made of its own samples only, however many other threads there
 * are, and rows of all threads ask no sieve where there is none. And their order.
 * Covers: tui/query/query.c tui/query/query_threads.c tui/profile/slice_order.c
 * Covers: tui/views/view_procs.c tui/views/procrows.c
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
#include "tui/query/query.h"
#include "tui/app/dispatch.h"

#define SLICES 25 /* more than the window and the time before it */
#define WINDOW 10
#define MOST   2000

static size_t looked_at; /* samples, since the last key */

bool __real_query_passes(const struct profile *p, const struct query *q,
			 const struct sample_filter *s, const struct profile_cell *cell);
bool __wrap_query_passes(const struct profile *p, const struct query *q,
			 const struct sample_filter *s, const struct profile_cell *cell);

bool __wrap_query_passes(const struct profile *p, const struct query *q,
			 const struct sample_filter *s, const struct profile_cell *cell)
{
	looked_at++;
	return __real_query_passes(p, q, s, cell);
}

struct screen {
	struct profile *p;
	struct ui *ui;
	struct grid *g;
};

/* One process, whose threads were sampled once each in every slice: thread 100 the least. */
static struct screen screen_of(uint32_t threads)
{
	static const struct ui_options options = {.delay = 1};
	struct screen s = {.p = profile_new(WINDOW, 100000), .g = grid_new(40, 120)};
	static struct profile_cell cells[MOST];
	uint32_t proc = feed_proc(s.p, 4121, 1, "busy", false);
	uint32_t stacks[] = {feed_names(s.p, false, "main;one"),
			     feed_names(s.p, false, "main;two")};

	assert_true(threads <= MOST);
	s.ui = ui_new(s.p, NULL, &options);
	assert_non_null(s.ui);
	for (uint32_t i = 0; i < threads; i++)
		cells[i] = (struct profile_cell){
			proc, 100 + i, stacks[i % 2], PROFILE_NO_STACK, 1 + i, 0, 0};
	for (int n = 0; n < SLICES; n++)
		assert_int_equal(feed_commit(s.p, cells, threads), 0);
	assert_int_equal(ui_refresh(s.ui), 0);
	ui_draw(s.ui, s.g);
	return s;
}

static void screen_free(struct screen *s)
{
	ui_free(s->ui);
	grid_free(s->g);
	profile_free(s->p);
}

/* Returns how often a sample was looked at for the last key. */
static size_t cost_of(struct screen *s, const char *keys)
{
	for (; *keys; keys++) {
		looked_at = 0;
		ui_key(s->ui, *keys);
		ui_draw(s->ui, s->g);
	}
	return looked_at;
}

static void a_key_looks_at_one_thread(void **state)
{
	static const char *const keys[] = {"Hj", "j", "k", "G", "I"};
	struct screen few = screen_of(20), many = screen_of(MOST);

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		size_t cost = cost_of(&few, keys[i]);

		assert_int_equal(cost_of(&many, keys[i]), cost);
		/* For functions and their sum, and the time before: by two sieves, and again. */
		assert_true(cost <= (size_t)5 * SLICES * 2);
		assert_true(cost > 0 || *keys[i] == 'I');
	}
	screen_free(&few);
	screen_free(&many);
}

static void rows_of_threads_ask_no_sieve(void **state)
{
	struct screen s = screen_of(MOST);
	struct query q = {.span = SPAN_WINDOW, .proc = QUERY_ALL, .threads = true};
	struct proc_row *rows;
	size_t count;

	(void)state;
	looked_at = 0;
	assert_int_equal(query_procs(s.p, &q, &rows, &count), 0);
	assert_int_equal(count, MOST);
	assert_int_equal(looked_at, 0);
	free(rows);
	screen_free(&s);
}

/* The line of the screen that a row of that thread is on; -1: none is. */
static int line_of(const struct screen *s, uint32_t tid)
{
	char *text = grid_text(s->g), *next = text, *line, wanted[32];
	int found = -1;

	snprintf(wanted, sizeof(wanted), " %u root", tid);
	for (int n = 0; (line = strsep(&next, "\n")) && found < 0; n++) {
		const char *at = strstr(line, wanted);

		/* In the columns of PIDs and users. */
		if (at)
			found = n;
	}
	free(text);
	return found;
}

/* Below their process, most samples first, whatever the order of processes. */
static void threads_have_an_order(void **state)
{
	struct screen s = screen_of(MOST);

	(void)state;
	cost_of(&s, "H");
	for (const char *key = "I<>I"; *key; key++) {
		int first = line_of(&s, 4121);

		assert_true(first > 0);
		for (uint32_t i = 1; i <= 8; i++)
			assert_int_equal(line_of(&s, 100 + MOST - i), first + (int)i);
		ui_key(s.ui, *key);
		ui_draw(s.ui, s.g);
	}
	cost_of(&s, "G");
	for (uint32_t i = 1; i < 8; i++)
		assert_int_equal(line_of(&s, 100 + i), line_of(&s, 100) - (int)i);
	screen_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_looks_at_one_thread),
		cmocka_unit_test(rows_of_threads_ask_no_sieve),
		cmocka_unit_test(threads_have_an_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
