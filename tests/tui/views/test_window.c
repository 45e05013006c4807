// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which rows a list shows while they are sorted anew each second, and where its cursor is. The
 * busiest rows must be seen, whatever becomes of the process under the cursor.
 * Covers: tui/views/procs_draw.c
 * Covers: tui/screen/list.c tui/views/view_procs.c tui/views/view_funcs.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/crowd.h"
#include "tests/support/screens.h"
#include "tui/screen/mouse.h"
#include "tui/app/dispatch.h"

/* Forty processes, of which the first is the busiest, and each a little less than the one before.
 */
static struct crowd *crowd_of_forty(struct typist *t)
{
	static struct crowd c;

	crowd_open(&c, t, 40);
	for (int i = 0; i < 40; i++)
		c.samples[i] = (uint32_t)(100 - 2 * i);
	return &c;
}

static void busiest_stay_in_sight_though_the_process_of_the_cursor_fades(void **state)
{
	for (size_t i = 0; i < SIZES; i++) {
		struct typist *t = typist_new();
		struct crowd *c = crowd_of_forty(t);

		typist_resize(t, i);
		crowd_seconds(c, 12);
		screen(t);
		type(t, "jj");
		assert_cursor_on(t, "job-02");
		c->samples[2] = 1; /* it sinks to the last row */
		crowd_seconds(c, 12);
		assert_cursor_on(t, "job-02");
		assert_shows(t, "job-00");
		assert_shows(t, "job-01");
		assert_shows(t, "work_2");
		/* Up goes to the line above, which is one of the busiest. */
		type(t, "k");
		assert_shows(t, "job-00");
		crowd_close(c);
		typist_free(t);
	}
	(void)state;
}

static void cursor_leaves_a_process_that_has_exited_with_its_samples(void **state)
{
	for (size_t i = 0; i < SIZES; i++) {
		struct typist *t = typist_new();
		struct crowd *c = crowd_of_forty(t);

		typist_resize(t, i);
		c->samples[2] = 200;
		crowd_seconds(c, 12);
		screen(t);
		type(t, "jk");
		crowd_exits(c, 2);
		crowd_seconds(c, 1);
		assert_cursor_on(t, "job-02"); /* still one of the busiest of ten seconds */
		crowd_seconds(c, 8);
		assert_cursor_on(t, "job-00");
		assert_shows(t, "work_0");
		crowd_seconds(c, 12);
		assert_cursor_on(t, "job-00");
		crowd_close(c);
		typist_free(t);
	}
	(void)state;
}

static void cursor_is_on_the_busiest_until_a_key_moves_it(void **state)
{
	for (size_t i = 0; i < SIZES; i++) {
		struct typist *t = typist_new();
		struct crowd *c = crowd_of_forty(t);

		typist_resize(t, i);
		c->samples[7] = 300; /* it led only at first */
		crowd_seconds(c, 1);
		assert_cursor_on(t, "job-07");
		c->samples[7] = 1;
		crowd_seconds(c, 12);
		assert_cursor_on(t, "job-00");
		assert_shows(t, "work_0");
		/* Never on one that has exited, though it is still the first. */
		c->samples[0] = 300;
		crowd_seconds(c, 1);
		crowd_exits(c, 0);
		crowd_seconds(c, 1);
		assert_cursor_on(t, "job-01");
		assert_shows(t, "work_1");
		c->samples[5] = 400;
		crowd_seconds(c, 3);
		assert_cursor_on(t, "job-05");
		crowd_close(c);
		typist_free(t);
	}
	(void)state;
}

static void window_goes_where_the_user_scrolled(void **state)
{
	struct typist *t = *state;
	struct crowd *c = crowd_of_forty(t);

	grid_resize(t->g, 24, 80);
	crowd_seconds(c, 12);
	screen(t);
	for (int i = 0; i < 20; i++)
		type(t, "j");
	assert_cursor_on(t, "job-20");
	assert_hides(t, "job-00");
	crowd_seconds(c, 3);
	assert_cursor_on(t, "job-20");
	assert_hides(t, "job-00");
	type(t, "g");
	assert_cursor_on(t, "job-00");
	crowd_close(c);
}

static void window_goes_with_what_is_followed(void **state)
{
	struct typist *t = *state;
	struct crowd *c = crowd_of_forty(t);

	grid_resize(t->g, 24, 80);
	crowd_seconds(c, 12);
	screen(t);
	type(t, "jjF");
	c->samples[2] = 1;
	crowd_seconds(c, 12);
	assert_cursor_on(t, "job-02");
	assert_shows(t, "job-38");
	assert_hides(t, "job-00");
	crowd_close(c);
}

/* The same for functions. */
static void hottest_functions_stay_in_sight(void **state)
{
	for (size_t i = 0; i < SIZES; i++) {
		struct typist *t = typist_new();
		struct crowd *c = crowd_of_forty(t);

		typist_resize(t, i);
		crowd_seconds(c, 12);
		type(t, "2");
		assert_cursor_on(t, "work_0");
		c->samples[1] = 200;
		crowd_seconds(c, 12);
		assert_cursor_on(t, "work_1");
		type(t, "jj");
		assert_cursor_on(t, "work_2");
		c->samples[2] = 1;
		crowd_seconds(c, 12);
		assert_cursor_on(t, "work_2");
		assert_shows(t, "work_0");
		assert_shows(t, "work_1");
		crowd_close(c);
		typist_free(t);
	}
	(void)state;
}

/* A click means the line that is seen, also beside a row that was put below the others. */
static void click_means_the_line_that_is_seen(void **state)
{
	struct typist *t = *state;
	struct crowd *c = crowd_of_forty(t);
	struct mouse at = {.kind = MOUSE_CLICK, .col = 20};

	grid_resize(t->g, 24, 80);
	crowd_seconds(c, 12);
	screen(t);
	type(t, "jj");
	c->samples[2] = 1;
	crowd_seconds(c, 12);
	assert_cursor_on(t, "job-02");
	for (at.row = 0; at.row < t->g->rows; at.row++) {
		char line[512] = "";
		const char *from = screen(t);

		for (int i = 0; i < at.row; i++)
			from = strchr(from, '\n') + 1;
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(from, "\n"), from);
		if (strstr(line, "job-03"))
			break;
	}
	ui_mouse(t->ui, t->g, &at);
	assert_cursor_on(t, "job-03");
	assert_shows(t, "job-00");
	crowd_close(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(busiest_stay_in_sight_though_the_process_of_the_cursor_fades),
		cmocka_unit_test(cursor_leaves_a_process_that_has_exited_with_its_samples),
		cmocka_unit_test(cursor_is_on_the_busiest_until_a_key_moves_it),
		SCREEN_TEST(window_goes_where_the_user_scrolled),
		SCREEN_TEST(window_goes_with_what_is_followed),
		cmocka_unit_test(hottest_functions_stay_in_sight),
		SCREEN_TEST(click_means_the_line_that_is_seen),
	};

	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
