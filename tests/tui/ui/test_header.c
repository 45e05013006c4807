// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The header's meters for machines of any size, and its timeline, which is of what is in view.
 * Covers: tui/ui/header_meters.c tui/ui/header_timeline.c tui/ui/header.c tui/profile/cpu_use.c
 * Covers: tui/query/query.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/shares.h"
#include "tests/support/screens.h"
#include "tui/app/dispatch.h"
#include "tui/screen/mouse.h"
#include "tui/ui/header.h"

static const int widths[] = {60, 80, 100, 200};
static const int heights[] = {15, 24, 30, 50};

/* A slice in which each of n CPUs, from `first` on, has the same use. */
static void slice_of(struct typist *t, int n, int user, int kernel)
{
	static struct cpu_use use[CPU_USE_MAX];

	for (int i = 0; i < n; i++)
		use[i] = (struct cpu_use){(uint16_t)i, (uint16_t)user, (uint16_t)kernel};
	assert_int_equal(machine_slice(&t->feed, 0), 0);
	profile_lock(t->feed.p);
	assert_int_equal(profile_cpu_use(t->feed.p, use, (size_t)n), 0);
	profile_unlock(t->feed.p);
	assert_int_equal(ui_refresh(t->ui), 0);
}

static int count(const char *text, const char *part)
{
	int n = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		n++;
	return n;
}

/* The number of the row that shows it. */
static int row_of(struct typist *t, const char *text)
{
	const char *at = strstr(screen(t), text);
	int row = 0;

	assert_non_null(at);
	for (const char *c = t->text; c < at; c++)
		row += *c == '\n';
	return row;
}

/* --- meters ---------------------------------------------------------------------------------- */

/* CPUs, and for each size how many have a meter, and the row of the tabs. */
static const struct {
	int cpus;
	struct {
		int meters, tabs;
	} at[4];
} machines[] = {
	{1, {{0, 2}, {1, 4}, {1, 5}, {1, 5}}},	  {2, {{0, 2}, {2, 4}, {2, 5}, {2, 5}}},
	{8, {{0, 2}, {8, 6}, {8, 7}, {8, 11}}},	  {9, {{0, 2}, {9, 6}, {9, 8}, {9, 8}}},
	{64, {{0, 2}, {0, 4}, {0, 5}, {64, 11}}}, {256, {{0, 2}, {1, 4}, {0, 7}, {0, 6}}},
};

static void each_cpu_has_a_meter(void **state)
{
	struct typist *t = *state;

	for (size_t m = 0; m < sizeof(machines) / sizeof(machines[0]); m++) {
		slice_of(t, machines[m].cpus, 600, 370);
		for (int s = 0; s < 4; s++) {
			bool small = heights[s] == 15;

			grid_resize(t->g, heights[s], widths[s]);
			for (int ascii = 0; ascii < 2; ascii++) {
				t->ui->ascii = ascii;
				assert_int_equal(row_of(t, "1 Procs]"), machines[m].at[s].tabs);
				assert_int_equal(count(t->text, "97%]"), machines[m].at[s].meters);
				assert_shows(t, small ? " cpu 97%  lost 0  complete 91.5%"
						      : "user 60.0%  kernel 37.0%  lost 0");
			}
		}
	}
	t->ui->ascii = false;
	assert_no_size_breaks(t);
}

static void user_and_kernel_are_told_apart_without_colours(void **state)
{
	struct typist *t = *state;

	grid_resize(t->g, 24, 80);
	slice_of(t, 2, 500, 250);
	assert_shows(t, " cpu0 [||||||||||||KKKKKK        75%]  user 50.0%  kernel 25.0%  lost 0");
	assert_shows(t, " cpu1 [||||||||||||KKKKKK        75%]  stacks complete 91.5%");
	slice_of(t, 2, 1000, 0);
	assert_shows(t, " cpu0 [|||||||||||||||||||||||| 100%]");
	slice_of(t, 2, 0, 0);
	assert_shows(t, " cpu0 [                           0%]");
	t->ui->ascii = true;
	slice_of(t, 2, 0, 1000);
	assert_shows(t, " cpu0 [KKKKKKKKKKKKKKKKKKKKKKKK 100%]");
}

/* One cell each, and the number of the first of each row. */
static void many_cpus_are_cells(void **state)
{
	struct typist *t = *state;

	grid_resize(t->g, 24, 80);
	slice_of(t, 140, 0, 1000);
	assert_shows(t, " cpu0   ████████");
	assert_shows(t, " cpu71  ████████");
	grid_resize(t->g, 50, 200);
	slice_of(t, 256, 1000, 0);
	assert_shows(t, " cpu191 ████████");
	/* No room even for that. */
	slice_of(t, CPU_USE_MAX, 500, 0);
	assert_shows(t, " cpu [|||");
	assert_shows(t, "  50%]  user 50.0%  kernel 0.0%");
}

/* A CPU that is offline has no meter, and no gap. */
static void numbers_are_those_of_the_cpus(void **state)
{
	static const struct cpu_use use[] = {{0, 100, 0}, {3, 200, 0}, {12, 300, 0}};
	struct typist *t = *state;

	slices(t, 1, 0);
	profile_lock(t->feed.p);
	assert_int_equal(profile_cpu_use(t->feed.p, use, 3), 0);
	profile_unlock(t->feed.p);
	ui_refresh(t->ui);
	assert_shows(t, " cpu0  [");
	assert_shows(t, " cpu3  [");
	assert_shows(t, " cpu12 [");
	assert_hides(t, "cpu1 ");
	assert_shows(t, "user 20.0%");
}

/* Where the CPUs are not known, all of them have one. */
static void an_old_recording_has_one_meter(void **state)
{
	struct typist *t = *state;

	slices(t, 2, 0);
	for (int s = 1; s < 4; s++) {
		grid_resize(t->g, heights[s], widths[s]);
		assert_shows(t, " cpu [||||");
		assert_shows(t, "user 59.6%  kernel 15.7%  lost 0");
	}
}

/* A moment has the meters of its last second. */
static void meters_go_back_in_time(void **state)
{
	struct typist *t = *state;

	grid_resize(t->g, 24, 80);
	for (int i = 1; i < 6; i++)
		slice_of(t, 2, i * 100, 0);
	assert_shows(t, "user 50.0%");
	type(t, ",,");
	assert_shows(t, "user 30.0%");
	type(t, "z");
	assert_shows(t, "user 50.0%");
	/* Zero forgets slices, not what the CPUs do. */
	type(t, "0");
	ui_refresh(t->ui);
	assert_shows(t, "user 50.0%");
}

/* --- the timeline ---------------------------------------------------------------------------- */

/* The bars in front of "now". */
static void assert_timeline(struct typist *t, const char *want)
{
	char line[64];

	snprintf(line, sizeof(line), "%s now", want);
	assert_shows(t, line);
}

static void the_timeline_is_always_there(void **state)
{
	struct typist *t = *state;

	slices(t, 4, 0);
	for (int s = 0; s < 4; s++) {
		grid_resize(t->g, heights[s], widths[s]);
		for (const char *view = "1234567"; *view; view++) {
			char key[] = {*view, '\0'};

			type(t, key);
			assert_timeline(t, s < 2 ? "▆▆▆▆" : "████");
		}
	}
}

/* nginx has 201 samples of a second, then 21, of 396 that four CPUs could have. */
static void it_is_of_what_is_in_view(void **state)
{
	struct typist *t = *state;

	grid_resize(t->g, 24, 80);
	slices(t, 3, 0);
	slices(t, 2, 1);
	assert_timeline(t, "▆▆▆▅▅");
	assert_hides(t, "max ");
	type(t, "g\n");
	assert_shows(t, "[zoom");
	assert_shows(t, " max 51% ");
	assert_timeline(t, "███▂▂");
	type(t, "1");
	assert_timeline(t, "▆▆▆▅▅");
	type(t, "2r");
	assert_timeline(t, "▆▆▆▅▅");
	/* postgres: 60 samples, then 150 */
	filter(t, "ExecInterp");
	assert_shows(t, " max 38% ");
	assert_timeline(t, "▄▄▄██");
	type(t, "1");
	filter(t, "postgres");
	assert_timeline(t, "▄▄▄██");
	filter(t, "!postgres");
	assert_shows(t, " max 60% ");
	filter(t, "");
	type(t, "U"); /* kernel: 62, then 17 */
	assert_shows(t, " max 16% ");
	type(t, "U");
	/* What is new is counted as well. */
	filter(t, "postgres");
	slices(t, 1, 0);
	assert_timeline(t, "▄▄▄██▄");
}

static void two_rows_are_finer_and_have_marks_of_time(void **state)
{
	struct typist *t = *state;

	grid_resize(t->g, 30, 100);
	slices(t, 70, 1);
	type(t, "2");
	filter(t, "ngx_writev"); /* 5 of 396 a second */
	assert_shows(t, "1.3%");
	filter(t, "");
	slices(t, 12, 0);
	filter(t, "ngx_parse_header"); /* much more now than before */
	assert_shows(t, "-30s");
	assert_shows(t, "-60s");
	assert_shows(t, " -82s ");
}

static void mouse_at(struct typist *t, enum mouse_kind kind, int row, int col)
{
	struct mouse mouse = {.kind = kind, .row = row, .col = col};

	screen(t);
	ui_mouse(t->ui, t->g, &mouse);
}

static void the_mouse_moves_in_it(void **state)
{
	struct typist *t = *state;

	slices(t, 40, 0);
	for (int s = 0; s < 4; s++) {
		int row, newest = widths[s] - 6;

		grid_resize(t->g, heights[s], widths[s]);
		row = row_of(t, " now");
		mouse_at(t, MOUSE_CLICK, 0, 1);
		mouse_at(t, MOUSE_DRAG, row, newest - 3); /* did not begin there */
		assert_false(t->ui->frozen);
		mouse_at(t, MOUSE_CLICK, row, newest - 3);
		assert_true(t->ui->frozen);
		assert_int_equal(t->ui->scrub.at, 37);
		assert_shows(t, "[frozen -3s]");
		mouse_at(t, MOUSE_WHEEL_UP, row, newest - 3);
		assert_int_equal(t->ui->scrub.at, 36);
		mouse_at(t, MOUSE_WHEEL_DOWN, row, newest - 3);
		assert_int_equal(t->ui->scrub.at, 37);
		/* A range, wherever the pointer is by then. */
		mouse_at(t, MOUSE_CLICK, row, newest - 8);
		mouse_at(t, MOUSE_DRAG, row + 2, newest - 5);
		assert_int_equal(t->ui->scrub.mark, 32);
		assert_int_equal(t->ui->scrub.at, 35);
		assert_shows(t, "range 4 s");
		mouse_at(t, MOUSE_DRAG, row, newest - 2);
		assert_int_equal(t->ui->scrub.mark, 32);
		assert_int_equal(t->ui->scrub.at, 38);
		mouse_at(t, MOUSE_DRAG, row, 0);
		assert_true(t->ui->scrub.at < 32);
		/* Another click ends it. */
		mouse_at(t, MOUSE_CLICK, row, newest - 1);
		assert_int_equal(t->ui->scrub.mark, 0);
		assert_int_equal(t->ui->scrub.at, 39);
		type(t, "Z");
	}
}

/* What is too much for one key comes in parts, without a gap at the end. */
static void much_is_counted_in_parts(void **state)
{
	static struct profile_cell cells[20000];
	struct typist *t = *state;
	struct profile_health h;
	int parts = 0;

	grid_resize(t->g, 24, 80);
	for (size_t i = 0; i < 20000; i++)
		cells[i] = (struct profile_cell){t->feed.nginx,
						 4121 + (uint32_t)i,
						 t->feed.stacks[i % 3],
						 PROFILE_NO_STACK,
						 1,
						 0,
						 0};
	for (int second = 0; second < 8; second++) {
		machine_health(&t->feed, &h, 20000, 0, 20000);
		h.frequency = 10000;
		h.time = t->feed.time += MACHINE_SECOND;
		profile_lock(t->feed.p);
		assert_int_equal(profile_commit(t->feed.p, cells, 20000, &h), 0);
		profile_unlock(t->feed.p);
	}
	ui_refresh(t->ui);
	type(t, "2");
	filter(t, "memmove");
	assert_true(ui_goes_on(t->ui));
	assert_hides(t, "████████ now");
	for (; ui_goes_on(t->ui) && parts < 100; parts++)
		ui_go_on(t->ui);
	assert_in_range(parts, 1, 8);
	assert_timeline(t, "████████");
}

/* --- stacktop's own tables ------------------------------------------------------------------- */

static void tables_stand_in_their_views(void **state)
{
	struct typist *t = *state;

	slices(t, 2, 0);
	for (int s = 0; s < 4; s++) {
		grid_resize(t->g, heights[s], widths[s]);
		type(t, "1");
		assert_hides(t, "stack map");
		type(t, "6");
		assert_shows(t, " stack map 721/16384  shards 2/16, 38.0% full  read 3.1 ms");
		type(t, "7");
		assert_shows(t, " stack map 721/16384  shards 2/16, 38.0% full  read 3.1 ms");
	}
}

static void a_table_that_fills_says_so(void **state)
{
	struct typist *t = *state;
	struct profile_health *last = &t->ui->header.last;

	slices(t, 2, 0);
	grid_resize(t->g, 15, 60);
	assert_hides(t, "full");
	last->counts_used = 15500;
	assert_shows(t, " ! the stack map is 95% full: lower -F, or refresh more oft");
	last->counts_used = 10;
	last->evictions = 3;
	assert_shows(t, " ! unwind tables in use are evicted, 3.0 a second: --memory");
	last->evictions = 0;
	last->words_used = last->words_max;
	assert_shows(t, " ! the shards are 100% full: --memory gives the tables more");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCREEN_TEST(each_cpu_has_a_meter),
		SCREEN_TEST(user_and_kernel_are_told_apart_without_colours),
		SCREEN_TEST(many_cpus_are_cells),
		SCREEN_TEST(numbers_are_those_of_the_cpus),
		SCREEN_TEST(an_old_recording_has_one_meter),
		SCREEN_TEST(meters_go_back_in_time),
		SCREEN_TEST(the_timeline_is_always_there),
		SCREEN_TEST(it_is_of_what_is_in_view),
		SCREEN_TEST(two_rows_are_finer_and_have_marks_of_time),
		SCREEN_TEST(the_mouse_moves_in_it),
		SCREEN_TEST(much_is_counted_in_parts),
		SCREEN_TEST(tables_stand_in_their_views),
		SCREEN_TEST(a_table_that_fills_says_so),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
