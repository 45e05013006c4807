// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is counted is chosen: by Q and F7, where that is possible; ^W leads to who ended waits, and
 * :stop-waits ends it all.
 * Covers: tui/app/actions.c tui/app/questions.c tui/app/cmdline.c tui/ui/chips.c tui/ui/zoom.c
 * Covers: tui/ui/plain_list.c tui/views/tree_draw.c tui/views/view_funcs.c tui/views/view_tree.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/screens.h"
#include "tui/app/dispatch.h"
#include "tui/screen/keymap.h"
#include "tui/ui/plain_list.h"
#include "tui/ui/view.h"

static void keys(struct typist *t, const char *text)
{
	for (; *text; text++) {
		const char key[2] = {*text};

		type(t, key);
		assert_int_equal(ui_refresh(t->ui), 0);
	}
}

static void press(struct typist *t, const char *name)
{
	ui_key(t->ui, keys_parse(name, strlen(name)));
	assert_int_equal(ui_refresh(t->ui), 0);
}

static void waits(struct typist *t)
{
	assert_int_equal(machine_waits(&t->feed), 0);
	assert_int_equal(ui_refresh(t->ui), 0);
}

static void assert_posted(int n, enum source_command command, const char *arg)
{
	assert_int_equal(nposted, n);
	if (n) {
		assert_int_equal(posted, command);
		assert_string_equal(posted_arg, arg);
	}
	nposted = 0;
}

/* A slice of another event, or of a recording. */
static void event_of(struct typist *t, const char *event)
{
	struct profile_health h;

	machine_health(&t->feed, &h, 10, 0, 10);
	snprintf(h.event, sizeof(h.event), "%s", event);
	h.time = t->feed.time += MACHINE_SECOND;
	profile_lock(t->feed.p);
	assert_int_equal(profile_commit(t->feed.p, NULL, 0, &h), 0);
	profile_unlock(t->feed.p);
	assert_int_equal(ui_refresh(t->ui), 0);
}

static void replay(struct typist *t)
{
	const struct profile_replay of = {.speed = 1, .length = MACHINE_SECOND * 20};

	profile_lock(t->feed.p);
	profile_set_replay(t->feed.p, &of);
	profile_unlock(t->feed.p);
	assert_int_equal(ui_refresh(t->ui), 0);
}

/* --- Q --------------------------------------------------------------------------------------- */

static void measures_follow_each_other(void **state)
{
	struct typist *t = *state;

	slices(t, 2, 0);
	nposted = 0;
	keys(t, "Q");
	assert_int_equal(t->ui->measure, MEASURE_OFF);
	assert_posted(1, SOURCE_WAITS, "1");
	assert_shows(t, "counts waits of threads, by what they wait for");
	assert_shows(t, "[off-cpu]");
	assert_shows(t, "OFF%");
	assert_shows(t, "Waits of threads were not collected yet.");
	/* The source has not answered yet, so it is told again. */
	keys(t, "Q");
	assert_int_equal(t->ui->measure, MEASURE_WALL);
	assert_posted(1, SOURCE_WAITS, "1");
	assert_shows(t, "[wall]");
	assert_shows(t, "WALL%");
	waits(t);
	keys(t, "Q");
	assert_int_equal(t->ui->measure, MEASURE_CPU);
	assert_shows(t, "counts time on CPUs; waits are still collected: :stop-waits ends that");
	assert_hides(t, "[wall]");
	assert_shows(t, "CPU%");
	keys(t, "Q");
	assert_int_equal(t->ui->measure, MEASURE_OFF);
	assert_posted(0, SOURCE_WAITS, "");
	assert_no_size_breaks(t);
}

static void measures_are_of_time(void **state)
{
	struct typist *t = *state;

	event_of(t, "page-faults");
	nposted = 0;
	keys(t, "Q");
	assert_int_equal(t->ui->measure, MEASURE_CPU);
	assert_posted(0, SOURCE_WAITS, "");
	assert_shows(t, "waits are time: F7 chooses an event that is time as well");
	assert_hides(t, "[off-cpu]");
	event_of(t, "cpu-clock");
	keys(t, "Q");
	assert_posted(1, SOURCE_WAITS, "1");
}

static void recordings_have_them_or_not(void **state)
{
	struct typist *t = *state;

	slices(t, 2, 0);
	replay(t);
	nposted = 0;
	keys(t, "Q");
	assert_int_equal(t->ui->measure, MEASURE_CPU);
	assert_shows(t, "recorded without waits: -e off-cpu -w FILE records them");
	waits(t);
	keys(t, "Q");
	assert_int_equal(t->ui->measure, MEASURE_OFF);
	assert_shows(t, "[off-cpu]");
	assert_shows(t, "lock 75%");
	press(t, "^W");
	assert_shows(t, "[8 Waits]");
	assert_posted(0, SOURCE_WAITS, "");
}

/* --- F7 -------------------------------------------------------------------------------------- */

static void the_menu_has_measures(void **state)
{
	struct typist *t = *state;

	slices(t, 2, 0);
	nposted = 0;
	press(t, "F7");
	assert_shows(t, "off-cpu");
	assert_shows(t, "why threads wait, and for how long");
	assert_shows(t, "all time of threads, on CPUs and off");
	keys(t, "g\n");
	assert_int_equal(t->ui->measure, MEASURE_OFF);
	assert_posted(1, SOURCE_WAITS, "1");
	waits(t);
	press(t, "F7");
	assert_shows(t, ">off-cpu");
	keys(t, "j\n");
	assert_int_equal(t->ui->measure, MEASURE_WALL);
	assert_shows(t, "[wall]");
	/* Another event ends it. */
	nposted = 0;
	press(t, "F7");
	assert_shows(t, ">wall");
	keys(t, "gjj\n");
	assert_int_equal(t->ui->measure, MEASURE_CPU);
	assert_hides(t, "[wall]");
	/* Likewise by its name. */
	keys(t, ":event off-cpu\n");
	assert_int_equal(t->ui->measure, MEASURE_OFF);
	/* Waits need an event of time, which comes with them. */
	event_of(t, "page-faults");
	nposted = 0;
	keys(t, ":event wall\n");
	assert_int_equal(t->ui->measure, MEASURE_WALL);
	assert_posted(2, SOURCE_WAITS, "1");
}

/* --- ^W -------------------------------------------------------------------------------------- */

static void wakers_of_a_process(void **state)
{
	struct typist *t = *state;

	slices(t, 2, 0);
	nposted = 0;
	press(t, "^W");
	assert_posted(1, SOURCE_WAITS, "1");
	assert_shows(t, "[8 Waits]");
	waits(t);
	assert_shows(t, "Zoom: all > 4121 nginx");
	assert_shows(t, "1.50 s of long waits");
	assert_hides(t, "postgres ");
	press(t, "Esc");
	keys(t, "1Q/postgres\n");
	press(t, "^W");
	assert_shows(t, "Zoom: all > 5310 postgres");
	assert_shows(t, "700 ms of long waits");
	assert_posted(0, SOURCE_WAITS, "");
}

static void wakers_in_a_function(void **state)
{
	struct typist *t = *state;

	waits(t);
	keys(t, "Q2/ExecutorRun\n");
	press(t, "^W");
	assert_shows(t, "[8 Waits]");
	assert_shows(t, "700 ms of long waits");
	assert_hides(t, "lock 0x7f");
	/* A cause is no function: all that was waited for. */
	press(t, "Esc");
	keys(t, "3/\\[disk\n");
	press(t, "^W");
	assert_shows(t, "2.80 s of long waits");
}

/* There is no process: not that of those that have exited. */
static void wakers_of_nothing(void **state)
{
	struct typist *t = *state;

	assert_int_equal(ui_refresh(t->ui), 0);
	press(t, "^W");
	assert_shows(t, "[8 Waits]");
	assert_shows(t, "Zoom: all processes");
	assert_hides(t, "exited]");
}

/* --- the end --------------------------------------------------------------------------------- */

static void waits_are_stopped(void **state)
{
	struct typist *t = *state;

	waits(t);
	keys(t, "Q");
	nposted = 0;
	keys(t, ":stop-waits\n");
	assert_posted(1, SOURCE_WAITS, "0");
	assert_int_equal(t->ui->measure, MEASURE_CPU);
	assert_shows(t, "waits of threads are no longer collected");
	assert_hides(t, "[off-cpu]");
}

/* --- views of time --------------------------------------------------------------------------- */

static void views_say_time(void **state)
{
	static const char *const views[] = {"2", "3", "4", "5"};
	struct typist *t = *state;

	waits(t);
	grid_resize(t->g, 30, 160);
	for (size_t i = 0; i < 4; i++) {
		keys(t, views[i]);
		assert_hides(t, "3.30 s");
		keys(t, "Q");
		assert_shows(t, "3.30 s");
		assert_hides(t, "SAMPLES");
		if (i < 3)
			assert_shows(t, " TIME ");
		keys(t, "Q");
		assert_hides(t, "width = samples");
		/* And 25 samples of 99 Hz. */
		assert_shows(t, "3.55 s");
		keys(t, "Q");
	}
}

static void butterflies_say_time(void **state)
{
	struct typist *t = *state;
	struct plain_list *list = calloc(1, sizeof(*list));

	assert_non_null(list);
	waits(t);
	grid_resize(t->g, 30, 160);
	keys(t, "Q2/futex_wait\nf");
	assert_shows(t, " % of its time, 10 s ");
	assert_shows(t, " TIME ");
	assert_shows(t, "2.10 s");
	assert_int_equal(t->ui->overlay.ops->plain(t->ui, list), 0);
	assert_non_null(strstr(list->title, "% of its time off CPUs"));
	assert_true(list->count > 0);
	for (size_t k = 0; k < list->count; k++)
		assert_null(strstr(list->rows[k].more, "sample"));
	free(list);
}

/* A column keeps its place in what is hidden, by whichever title. */
static void hidden_columns_stay_hidden(void **state)
{
	struct typist *t = *state;

	waits(t);
	grid_resize(t->g, 30, 160);
	keys(t, "2");
	assert_shows(t, "SAMPLES");
	keys(t, "3");
	assert_shows(t, "SAMPLES");
	strcpy(t->ui->config.hide[VIEW_TREE], "SAMPLES");
	strcpy(t->ui->config.hide[VIEW_FUNCS], "SAMPLES");
	assert_hides(t, "SAMPLES");
	keys(t, "Q");
	assert_hides(t, " TIME ");
	keys(t, "2");
	assert_hides(t, " TIME ");
}

/* As --plain has it. */
static void lists_say_time(void **state)
{
	static const struct {
		enum ui_view view;
		enum measure measure;
		const char *title;
	} cases[] = {
		{VIEW_FUNCS, MEASURE_OFF,
		 "Functions of all processes by SELF%, % of time off CPUs"},
		{VIEW_FUNCS, MEASURE_WALL,
		 "Functions of all processes by SELF%, % of time on CPUs and off"},
		{VIEW_TREE, MEASURE_OFF,
		 "Call paths of all processes by TOTAL%, % of time off CPUs"},
		{VIEW_WAITS, MEASURE_CPU, "Long waits by time, % of all of them"},
	};
	static const struct view_ops *const views[VIEW_COUNT] = {
		[VIEW_FUNCS] = &funcs_view, [VIEW_TREE] = &tree_view, [VIEW_WAITS] = &waits_view};
	struct plain_list *list = calloc(1, sizeof(*list));
	struct typist *t = *state;

	assert_non_null(list);
	waits(t);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char key[2] = {(char)('0' + cases[i].view)};

		keys(t, key);
		t->ui->measure = cases[i].measure;
		t->ui->notice[0] = '\0';
		assert_int_equal(ui_refresh(t->ui), 0);
		memset(list, 0, sizeof(*list));
		assert_int_equal(views[cases[i].view]->plain(t->ui, list), 0);
		assert_string_equal(list->title, cases[i].title);
		assert_true(list->count > 0);
		for (size_t k = 0; k < list->count; k++)
			assert_null(strstr(list->rows[k].more, "sample"));
	}
	assert_string_equal(list->rows[0].name, "PID 4121 nginx waits for lock 0x7f0000001000");
	assert_non_null(strstr(list->rows[0].more,
			       "1.50 s; 75 waits; by 2 threads; mostly ended by nginx, in "
			       "ngx_shmtx_unlock"));
	free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCREEN_TEST(measures_follow_each_other),
		SCREEN_TEST(measures_are_of_time),
		SCREEN_TEST(recordings_have_them_or_not),
		SCREEN_TEST(the_menu_has_measures),
		SCREEN_TEST(wakers_of_a_process),
		SCREEN_TEST(wakers_in_a_function),
		SCREEN_TEST(wakers_of_nothing),
		SCREEN_TEST(waits_are_stopped),
		SCREEN_TEST(views_say_time),
		SCREEN_TEST(butterflies_say_time),
		SCREEN_TEST(hidden_columns_stay_hidden),
		SCREEN_TEST(lists_say_time),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
