// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the screen says of changes: nothing while a part of the earlier window is missing, no colour
 * while chance explains it, and "new" only of 20 samples.
 * Covers: tui/screen/delta.c tui/query/query_funcs.c tui/profile/span.c tui/ui/scrub.c
 * Covers: tui/views/view_funcs.c tui/views/procline.c tui/views/calltree.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/screens.h"
#include "tui/app/dispatch.h"

/* The role of the first cell of a text of ASCII in the first row that has the name. */
static enum role role_of(struct typist *t, const char *name, const char *text)
{
	size_t length = strlen(text);
	char *line, *next;
	int row = 0;

	screen(t);
	for (line = t->text; *line; line = next + 1, row++) {
		const struct gridcell *cells = &t->g->cells[row * t->g->cols];

		next = strchr(line, '\n');
		*next = '\0';
		if (!strstr(line, name)) {
			*next = '\n';
			continue;
		}
		for (int col = 0; col + (int)length <= t->g->cols; col++) {
			size_t i = 0;

			while (i < length && cells[col + (int)i].ch == (unsigned char)text[i])
				i++;
			if (i == length)
				return (enum role)cells[col].role;
		}
		fail_msg("'%s' is not in the row of %s: %s", text, name, line);
	}
	fail_msg("no row has %s:\n%s", name, t->text);
	return ROLE_TEXT;
}

/* A second in which the two functions of a process have so many samples, and another some. */
static void second(struct typist *t, uint64_t parse, uint64_t move, uint64_t other)
{
	struct machine *f = &t->feed;
	struct profile_cell cells[] = {
		{f->nginx, 4121, f->stacks[0], PROFILE_NO_STACK, parse, 0, 0},
		{f->nginx, 4121, f->stacks[1], PROFILE_NO_STACK, move, 0, 0},
		{f->postgres, 5310, f->stacks[4], PROFILE_NO_STACK, other, 0, 0},
	};
	struct profile_cell some[3];
	struct profile_health h;
	size_t n = 0;

	for (int i = 0; i < 3; i++)
		if (cells[i].count)
			some[n++] = cells[i];
	f->time += MACHINE_SECOND;
	machine_health(f, &h, parse + move + other, 0, parse + move + other);
	profile_lock(f->p);
	assert_int_equal(profile_commit(f->p, some, n, &h), 0);
	profile_unlock(f->p);
	assert_int_equal(ui_refresh(t->ui), 0);
}

static void seconds(struct typist *t, int n, uint64_t parse, uint64_t move, uint64_t other)
{
	while (n--)
		second(t, parse, move, other);
}

/* In the panel below Procs, in Funcs, and in Funcs of one process. */
static void assert_compared(struct typist *t, bool compared)
{
	static const char *const views[] = {"1", "2", "1\n"};

	for (int i = 0; i < 3; i++) {
		type(t, views[i]);
		for (size_t s = 0; typist_resize(t, s); s++) {
			assert_shows(t, "vs BEFORE");
			if (compared)
				assert_shows(t, "= 0.0");
			else
				assert_hides(t, "= 0.0");
			assert_hides(t, "▲ +");
			assert_hides(t, "new");
		}
	}
	type(t, "1");
}

static void a_part_of_the_window_before_is_not_compared(void **state)
{
	struct typist *t = *state;

	seconds(t, 12, 6, 3, 10);
	assert_compared(t, false);
	seconds(t, 7, 6, 3, 10);
	assert_compared(t, false);
	second(t, 6, 3, 10);
	assert_compared(t, true);
	/* After a zero the time before is not there. */
	type(t, "0");
	seconds(t, 19, 6, 3, 10);
	assert_compared(t, false);
	second(t, 6, 3, 10);
	assert_compared(t, true);
	/* Nor is half of a longer one. */
	type(t, ":window 15\n");
	second(t, 6, 3, 10);
	assert_compared(t, false);
	seconds(t, 9, 6, 3, 10);
	assert_compared(t, true);
}

/* The same for threads apart, for which slices are added up. */
static void threads_are_not_compared_with_a_part(void **state)
{
	struct typist *t = *state;

	seconds(t, 19, 6, 3, 10);
	type(t, "H");
	assert_hides(t, "= 0.0");
	second(t, 6, 3, 10);
	assert_shows(t, "= 0.0");
}

static void a_frozen_moment_is_not_compared_with_a_part(void **state)
{
	struct typist *t = *state;

	seconds(t, 24, 6, 3, 10);
	type(t, "2z");
	assert_shows(t, "= 0.0");
	type(t, ",,,,");
	assert_shows(t, "[frozen -4s]");
	assert_shows(t, "= 0.0");
	type(t, ",");
	assert_hides(t, "= 0.0");
	/* A range of twelve seconds, and then thirteen, of which the time before is not there. */
	type(t, "zzM{,");
	assert_shows(t, "range 12 s");
	assert_shows(t, "= 0.0");
	type(t, ",");
	assert_shows(t, "range 13 s");
	assert_hides(t, "= 0.0");
}

static void the_difference_needs_all_of_the_time_before(void **state)
{
	struct typist *t = *state;

	seconds(t, 19, 6, 3, 10);
	type(t, "X");
	assert_shows(t, "there is no baseline");
	assert_hides(t, "vs BASE");
	second(t, 6, 3, 10);
	type(t, "X");
	assert_shows(t, "vs BASE");
	/* All since zero has no time before, though one was taken for the difference. */
	type(t, "X2mz");
	assert_shows(t, "vs BEFORE");
	assert_hides(t, "= 0.0");
	type(t, "zmmX");
	/* What a person chose is whole, however short it is. */
	type(t, "X0");
	seconds(t, 3, 6, 3, 10);
	type(t, "BX");
	for (size_t s = 0; typist_resize(t, s); s++) {
		assert_shows(t, "vs BASE");
		assert_shows(t, "= 0.0");
	}
}

static void only_more_than_chance_has_a_colour(void **state)
{
	struct typist *t = *state;

	/* 50 of 100 samples, then 63: 1.85 standard errors. */
	seconds(t, 10, 5, 0, 5);
	seconds(t, 3, 7, 0, 3);
	seconds(t, 7, 6, 0, 4);
	type(t, "2");
	for (size_t s = 0; typist_resize(t, s); s++) {
		type(t, "g");
		assert_int_equal(role_of(t, "ngx_parse_header", "+13.0"), ROLE_CURSOR);
		assert_int_equal(role_of(t, "ExecInterpExpr", "-13.0"), ROLE_DIM);
		type(t, "G");
		assert_int_equal(role_of(t, "ngx_parse_header", "+13.0"), ROLE_DIM);
	}
	/* Of ten times as many it is a change. */
	seconds(t, 10, 50, 0, 50);
	seconds(t, 3, 70, 0, 30);
	seconds(t, 7, 60, 0, 40);
	for (size_t s = 0; typist_resize(t, s); s++) {
		type(t, "g");
		assert_int_equal(role_of(t, "ExecInterpExpr", "-13.0"), ROLE_DOWN);
		type(t, "G");
		assert_int_equal(role_of(t, "ngx_parse_header", "+13.0"), ROLE_UP);
	}
}

static void a_baseline_has_colours_beyond_chance_only(void **state)
{
	static const char views[] = "1234";
	struct typist *t = *state;

	seconds(t, 10, 5, 0, 5);
	type(t, "B");
	seconds(t, 3, 7, 0, 3);
	seconds(t, 7, 6, 0, 4);
	type(t, "X");
	for (const char *view = views; *view; view++) {
		type(t, (char[]){*view, 0});
		for (size_t s = 0; typist_resize(t, s); s++) {
			assert_int_equal(role_of(t,
						 *view == '1'	? "postgres: "
						 : *view == '2' ? "ExecInterpExpr"
						 : *view == '3' ? "main"
								: "ExecInterpExpr",
						 *view == '1' ? "-1.3" : "-13.0"),
					 ROLE_DIM);
		}
	}
	seconds(t, 10, 9, 0, 1);
	for (const char *view = views; *view; view++) {
		type(t, (char[]){*view, 0});
		for (size_t s = 0; typist_resize(t, s); s++) {
			assert_int_equal(role_of(t,
						 *view == '1'	? "postgres: "
						 : *view == '2' ? "ExecInterpExpr"
						 : *view == '3' ? "main"
								: "ExecInterpExpr",
						 *view == '1' ? "-4.0" : "-40.0"),
					 ROLE_DOWN);
		}
	}
}

static void new_is_said_of_twenty_samples(void **state)
{
	struct typist *t = *state;

	seconds(t, 10, 40, 0, 40);
	second(t, 40, 19, 40);
	seconds(t, 9, 40, 0, 40);
	type(t, "2");
	for (size_t s = 0; typist_resize(t, s); s++) {
		assert_hides(t, "new");
		role_of(t, "memmove", "+2.3"); /* 19 of 819 */
	}
	seconds(t, 10, 40, 0, 40);
	second(t, 40, 20, 40);
	seconds(t, 9, 40, 0, 40);
	for (size_t s = 0; typist_resize(t, s); s++)
		assert_int_equal(role_of(t, "memmove", "new"), ROLE_UP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCREEN_TEST(a_part_of_the_window_before_is_not_compared),
		SCREEN_TEST(threads_are_not_compared_with_a_part),
		SCREEN_TEST(a_frozen_moment_is_not_compared_with_a_part),
		SCREEN_TEST(the_difference_needs_all_of_the_time_before),
		SCREEN_TEST(only_more_than_chance_has_a_colour),
		SCREEN_TEST(a_baseline_has_colours_beyond_chance_only),
		SCREEN_TEST(new_is_said_of_twenty_samples),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
