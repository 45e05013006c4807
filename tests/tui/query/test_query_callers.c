// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who called a function in most of the samples that ended in it, against a count over the names
 * that were fed; and the bars that are drawn of its share.
 * Covers: tui/query/query_funcs.c tui/screen/grid.c
 */
#include <locale.h>
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
#include "tui/screen/grid.h"

#define NAMES  8
#define STACKS 60
#define DEPTH  6
#define ROUNDS 40

struct fed {
	int nuser, nkernel; /* frames; 0 of the kernel: it has no stack there */
	int user[DEPTH], kernel[DEPTH];
	uint64_t count;
};

/* The frames that are shown, from the outermost on. */
static int shown(const struct fed *f, const struct query *q, int *to)
{
	int n = 0;

	for (int i = 0; i < f->nuser && !q->hide_user; i++)
		to[n++] = f->user[i];
	for (int i = 0; i < f->nkernel && !q->hide_kernel; i++)
		to[n++] = NAMES + f->kernel[i];
	return n;
}

static void check(const struct profile *p, const struct query *q, const struct fed *fed,
		  const uint32_t *ids)
{
	uint64_t called[2 * NAMES][2 * NAMES] = {{0}}, self[2 * NAMES] = {0};
	struct func_row *rows;
	size_t count;

	for (int i = 0; i < STACKS; i++) {
		int frames[2 * DEPTH], n = shown(&fed[i], q, frames);

		if (n)
			self[frames[n - 1]] += fed[i].count;
		if (n > 1)
			called[frames[n - 1]][frames[n - 2]] += fed[i].count;
	}
	assert_int_equal(query_funcs(p, q, &rows, &count), 0);
	for (size_t r = 0; r < count; r++) {
		int of = 0, by = -1;
		uint64_t most = 0;

		while (ids[of] != rows[r].func)
			of++;
		for (int c = 0; c < 2 * NAMES; c++) {
			most = called[of][c] > most ? called[of][c] : most;
			by = ids[c] == rows[r].caller ? c : by;
		}
		assert_int_equal(rows[r].self, self[of]);
		if (!most)
			assert_true(rows[r].caller == QUERY_NONE);
		else
			assert_true(by >= 0 && called[of][by] == most);
	}
	free(rows);
}

static uint32_t make(struct profile *p, bool kernel, const int *frames, int n, const uint32_t *ids)
{
	uint32_t of[DEPTH];

	for (int i = 0; i < n; i++)
		of[i] = ids[frames[i] + (kernel ? NAMES : 0)];
	return feed_stack(p, kernel, true, of, (uint32_t)n);
}

static void callers_are_those_of_most_samples(void **state)
{
	uint64_t random = 0x13572468ace;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct profile *p = profile_new(10, 1000);
		struct profile_cell cells[STACKS];
		struct fed fed[STACKS];
		uint32_t ids[2 * NAMES], proc;

		profile_lock(p);
		proc = feed_proc(p, 1, 1, "a", false);
		for (int i = 0; i < 2 * NAMES; i++) {
			char name[16];

			snprintf(name, sizeof(name), "f%d", i);
			ids[i] = feed_func(p, i < NAMES ? FUNC_USER : FUNC_KERNEL, name);
		}
		for (int i = 0; i < STACKS; i++) {
			struct fed *f = &fed[i];

			f->nuser = 1 + (int)feed_random(&random, DEPTH);
			f->nkernel = (int)feed_random(&random, 3);
			for (int k = 0; k < DEPTH; k++) {
				f->user[k] = (int)feed_random(&random, NAMES);
				f->kernel[k] = (int)feed_random(&random, NAMES);
			}
			f->count = 1 + feed_random(&random, 50);
			cells[i] = (struct profile_cell){
				proc,
				1,
				make(p, false, f->user, f->nuser, ids),
				f->nkernel ? make(p, true, f->kernel, f->nkernel, ids)
					   : PROFILE_NO_STACK,
				f->count,
				0,
				0};
		}
		profile_unlock(p);
		assert_int_equal(feed_commit(p, cells, STACKS), 0);
		for (int hide = 0; hide < 3; hide++) {
			struct query q = {.span = SPAN_WINDOW,
					  .proc = QUERY_ALL,
					  .hide_kernel = hide == 1,
					  .hide_user = hide == 2};

			check(p, &q, fed, ids);
		}
		profile_free(p);
	}
}

static void assert_bar(struct grid *g, double share, const char *want)
{
	char *text, line[64];

	grid_clear(g);
	grid_eighths(g, 0, 1, 4, ROLE_TEXT, share);
	text = grid_text(g);
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(text, "\n"), text);
	assert_string_equal(line, want);
	free(text);
}

static void bars_have_eighths(void **state)
{
	struct grid *g = grid_new(1, 8);

	(void)state;
	assert_bar(g, 0, "");
	assert_bar(g, 1.0 / 32, " ▏");
	assert_bar(g, 0.001, " ▏"); /* something is never nothing */
	assert_bar(g, 7.0 / 32, " ▉");
	assert_bar(g, 0.25, " █");
	assert_bar(g, 0.5 + 3.0 / 32, " ██▍");
	assert_bar(g, 1, " ████");
	assert_bar(g, 7, " ████");
	assert_bar(g, -1, "");
	/* A column that is left out has no cells. */
	for (int width = -3; width < 1; width++)
		for (int share = 0; share <= 40; share++) {
			char *text;

			grid_clear(g);
			grid_eighths(g, 0, 1, width, ROLE_TEXT, share / 40.0);
			text = grid_text(g);
			assert_string_equal(text, "\n");
			free(text);
		}
	g->ascii = true;
	assert_bar(g, 0.001, " #");
	assert_bar(g, 0.5, " ##");
	assert_bar(g, 1, " ####");
	grid_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callers_are_those_of_most_samples),
		cmocka_unit_test(bars_have_eighths),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
