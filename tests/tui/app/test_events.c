// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The menu of events says what each is good for and which this machine lacks, and figures of an
 * event are in its unit, while the meters stay those of CPU time.
 * Covers: tui/profile/units.c tui/screen/menu.c
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <locale.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "bpf/sampler/event.h"
#include "tests/support/shares.h"
#include "tui/app/dispatch.h"
#include "tui/profile/board.h"
#include "tui/profile/units.h"

static void f7(struct typist *t)
{
	ui_key(t->ui, KEYCODE_F0 + 7);
}

/* The machine has no counters of the hardware. */
static void lack(struct typist *t, int err)
{
	int errors[BOARD_EVENTS_MAX] = {0};
	size_t count;
	const struct event *events = event_table(&count);

	for (size_t i = 0; i < count; i++)
		errors[i] = events[i].type == PERF_TYPE_SOFTWARE ? 0 : err;
	board_set_events(profile_board(t->feed.p), errors, count);
}

static void each_event_is_told(void **state)
{
	struct typist *t = *state;
	size_t count;
	const struct event *events = event_table(&count);

	assert_true(count <= BOARD_EVENTS_MAX);
	for (size_t i = 0; i < count; i++) {
		const struct unit *unit = units_find(events[i].name);

		assert_non_null(unit);
		assert_true(strlen(unit->good) <= 45); /* beside the name, in 80 cells */
		assert_int_equal(strlen(unit->rate), 5);
	}
	assert_null(units_find("nothing"));
	for (size_t i = 0; typist_resize(t, i); i++) {
		f7(t);
		assert_shows(t, "where CPU time goes");
		assert_shows(t, "page-faults");
		assert_hides(t, "no such counter"); /* it is not known yet */
		lack(t, -ENOENT);
		press(t, "\033");
		f7(t);
		assert_shows(t, "where CPU time goes");
		assert_shows(t, "this machine has no");
		press(t, "\033");
		lack(t, 0);
	}
	assert_no_size_breaks(t);
}

static bool is_dim(struct typist *t, const char *text)
{
	int cols = t->g->cols;

	screen(t);
	for (int row = 0; row < t->g->rows; row++)
		for (int col = 0; col + (int)strlen(text) < cols; col++) {
			size_t n = 0;

			while (text[n] &&
			       t->g->cells[row * cols + col + (int)n].ch == (uint32_t)text[n])
				n++;
			if (!text[n])
				return t->g->cells[row * cols + col].role == ROLE_DIM;
		}
	fail_msg("%s is not there", text);
	return false;
}

static void what_is_missing_says_so(void **state)
{
	struct typist *t = *state;

	lack(t, -ENOENT);
	grid_resize(t->g, 30, 100);
	nposted = 0;
	f7(t);
	assert_true(is_dim(t, "cycles  "));
	assert_false(is_dim(t, "page-faults"));
	press(t, "jjjjjjj\n");
	assert_shows(t, "\n cycles: this machine has no such counter\n");
	assert_int_equal(nposted, 0);
	press(t, ":event cycles\n");
	assert_shows(t, "\n cycles: this machine has no such counter\n");
	assert_int_equal(nposted, 0);
	press(t, ":event faults\n");
	assert_int_equal(nposted, 1);
	lack(t, -EACCES);
	f7(t);
	assert_shows(t, "the kernel does not permit it");
}

/* --- units ------------------------------------------------------------------------------------ */

static void commit(struct typist *t, struct profile_health *h, const struct cpu_use *use)
{
	const struct profile_cell cell = {
		t->feed.postgres, 5310, t->feed.stacks[4], PROFILE_NO_STACK, 100, 0, 0};

	t->feed.time += MACHINE_SECOND;
	h->time = t->feed.time;
	profile_lock(t->feed.p);
	assert_int_equal(profile_commit(t->feed.p, &cell, 1, h), 0);
	if (use)
		assert_int_equal(profile_cpu_use(t->feed.p, use, 2), 0);
	profile_unlock(t->feed.p);
	t->ui->now += MACHINE_SECOND;
	assert_int_equal(ui_refresh(t->ui), 0);
}

static void figures_are_in_the_events_unit(void **state)
{
	struct typist *t = *state;
	static const struct cpu_use use[] = {{0, 400, 200}, {1, 600, 300}}; /* thousandths */
	struct profile_health h;

	machine_health(&t->feed, &h, 100, 0, 100);
	h.taken = 100;
	snprintf(h.event, sizeof(h.event), "page-faults");
	h.counted = 29800;
	profile_lock(t->feed.p);
	profile_rewind(t->feed.p);
	profile_unlock(t->feed.p);
	for (int i = 0; i < 11; i++)
		commit(t, &h, use);
	for (size_t i = 0; typist_resize(t, i); i++) {
		assert_shows(t, "faults 29.8k/s");
		assert_shows(t, "FLT/s");
		assert_hides(t, "SMP/s");
		assert_hides(t, "samples 100/s");
		assert_shows(t, t->g->rows < 20 ? "cpu 75%" : "user 50%  kernel 25%");
	}
	assert_string_equal(units_of(&h)->name, "faults");
	/* So are those of functions: each of the 1000 samples stands for 298. */
	grid_resize(t->g, 30, 160);
	for (const char *view = "23"; *view; view++) {
		const char key[2] = {*view};

		type(t, key);
		assert_int_equal(ui_refresh(t->ui), 0);
		assert_shows(t, " 298k faults ");
		assert_shows(t, " EVENTS ");
		assert_shows(t, "  298k ");
		assert_hides(t, "SAMPLES");
	}
	type(t, "1");
	assert_int_equal(ui_refresh(t->ui), 0);
	/* Of a unit that begins as "samples" does. */
	snprintf(h.event, sizeof(h.event), "context-switches");
	commit(t, &h, use);
	assert_shows(t, "switches 29.8k/s");
	snprintf(h.event, sizeof(h.event), "page-faults");
	/* Recordings by older versions know neither. */
	h.counted = 0;
	for (int i = 0; i < 11; i++)
		commit(t, &h, NULL);
	for (size_t i = 0; typist_resize(t, i); i++) {
		assert_shows(t, "samples 100/s");
		assert_shows(t, "SMP/s");
		assert_hides(t, "FLT/s");
		assert_hides(t, "cpu 75%");
		if (t->g->rows >= 20)
			assert_shows(t, "user -  kernel -");
	}
}

static void numbers_are_short(void **state)
{
	static const struct {
		double n;
		const char *text;
	} cases[] = {
		{0, "0"},	    {298, "298"},	{9999, "9999"},
		{9999.6, "10.0k"},  {12345, "12.3k"},	{99949, "99.9k"},
		{99951, "100k"},    {1234567, "1235k"}, {12345678, "12.3M"},
		{1e18, "1000000T"},
	};
	char text[32];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		units_number(cases[i].n, text, sizeof(text));
		assert_string_equal(text, cases[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SHARES_TEST(each_event_is_told),
		SHARES_TEST(what_is_missing_says_so),
		SHARES_TEST(figures_are_in_the_events_unit),
		cmocka_unit_test(numbers_are_short),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
