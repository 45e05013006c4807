/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Going back in time by keys: a minute in which postgres has a spike of six seconds, and the four
 * keys that say what happened there. Shares are those of machine_slice, counted by hand: nginx has
 * 100 + 50 + 50 + 1 samples a second while it is heavy, all of them 298.
 * Covers: tui/ui/scrub.c tui/ui/timespan.c tui/ui/replay_keys.c tui/profile/profile_history.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/support/typist.h"
#include "tui/app/dispatch.h"

#define NOON (43200 * MACHINE_SECOND) /* of the first of January 1970 */

static int setup(void **state)
{
	*state = typist_new();
	return 0;
}

/* One second of the made-up machine with a time of day. */
static void second(struct typist *t, int heavy)
{
	struct machine *f = &t->feed;
	uint64_t much = heavy ? 10 : 100;
	struct profile_cell cells[] = {
		{f->nginx, 4121, f->stacks[0], PROFILE_NO_STACK, much, 0, 0},
		{f->nginx, 4133, f->stacks[2], f->stacks[3], much / 2, 0, 0},
		{f->postgres, 5310, f->stacks[4], PROFILE_NO_STACK, heavy ? 240 : 50, 0, 0},
	};
	struct profile_health h;

	f->time += MACHINE_SECOND;
	machine_health(f, &h, heavy ? 250 : 150, much / 2, heavy ? 250 : 150);
	h.clock = NOON + (f->time - MACHINE_NOW);
	profile_lock(f->p);
	assert_int_equal(profile_commit(f->p, cells, 3, &h), 0);
	profile_unlock(f->p);
	t->ui->now = f->time;
	ui_refresh(t->ui);
}

/* Forty quiet seconds, ten of the spike. */
static void spike(struct typist *t)
{
	for (int i = 0; i < 40; i++)
		second(t, 0);
	for (int i = 0; i < 10; i++)
		second(t, 1);
}

static void screens_are_as_expected(void **state)
{
	static const struct {
		const char *name, *keys;
	} screens[] = {
		{"scrub-procs", "1z{,"}, {"scrub-range", "2ZzM{{"}, {"diff-procs", "1Zz{BX"},
		{"diff-funcs", "2"},	 {"diff-tree", "3E"},	    {"diff-flame", "5"},
	};
	struct typist *t = *state;

	spike(t);
	for (size_t i = 0; i < sizeof(screens) / sizeof(screens[0]); i++) {
		type(t, screens[i].keys);
		for (size_t s = 0; typist_resize(t, s); s++)
			compare(t, screens[i].name);
		t->ui->ascii = true;
		grid_resize(t->g, 24, 80);
		compare(t, screens[i].name);
		t->ui->ascii = false;
	}
}

/* A frozen view tells of its moment: what a process did before it exited, and when that was. */
static void ages_are_those_of_the_moment(void **state)
{
	struct typist *t = *state;

	for (int i = 0; i < 20; i++)
		second(t, 0);
	typist_exits(t);
	for (int i = 0; i < 4; i++)
		second(t, 0);
	grid_resize(t->g, 30, 100);
	assert_shows(t, "exited 5s ago");
	type(t, "z");
	t->ui->now += 7 * MACHINE_SECOND;
	ui_refresh(t->ui);
	assert_shows(t, "exited 5s ago");
	type(t, ",,,");
	assert_shows(t, "exited 2s ago");
	type(t, "{");
	assert_hides(t, "exited");
	assert_hides(t, "\nz"); /* it ran then */
	type(t, "Z");
	assert_shows(t, "exited 12s ago");
}

/* Of a recording nothing is sampled, and nothing is asked that is refused then. */
static void a_recording_says_what_it_is(void **state)
{
	struct profile_replay replay = {.speed = 1};
	struct typist *t = *state;

	second(t, 0);
	profile_lock(t->feed.p);
	profile_set_replay(t->feed.p, &replay);
	profile_unlock(t->feed.p);
	ui_refresh(t->ui);
	type(t, "z");
	t->ui->notice[0] = '\0';
	assert_shows(t, "FROZEN, the replay goes on:");
	replay.paused = true;
	profile_lock(t->feed.p);
	profile_set_replay(t->feed.p, &replay);
	profile_unlock(t->feed.p);
	type(t, "Zz");
	t->ui->notice[0] = '\0';
	assert_shows(t, " FROZEN:  , . a second");
	type(t, "A");
	assert_shows(t, "this is a recording: its processes are fixed");
	type(t, "R");
	assert_shows(t, "this is a recording: its shards cannot be reset");
	assert_null(t->ui->prompt.question);
}

/* The mark of a frozen view tells its own moment, and how far the player is by now. */
static void a_recording_is_frozen_at_its_own_time(void **state)
{
	struct profile_replay replay = {
		.speed = 1, .position = 20 * MACHINE_SECOND, .length = 60 * MACHINE_SECOND};
	struct typist *t = *state;

	for (int i = 0; i < 20; i++)
		second(t, 0);
	replay.clock = NOON + 20 * MACHINE_SECOND;
	profile_lock(t->feed.p);
	profile_set_replay(t->feed.p, &replay);
	profile_unlock(t->feed.p);
	ui_refresh(t->ui);
	assert_shows(t, "PLAY 1x 0:20/1:00  12:00:20\n");
	type(t, "B");
	assert_shows(t, "the baseline is 10 s to 12:00:20;");
	type(t, "z{,");
	replay.position += 5 * MACHINE_SECOND;
	replay.clock += 5 * MACHINE_SECOND;
	profile_lock(t->feed.p);
	profile_set_replay(t->feed.p, &replay);
	profile_unlock(t->feed.p);
	for (int i = 0; i < 5; i++)
		second(t, 0);
	assert_shows(t, "FROZEN  12:00:09  PLAY 1x 0:25/1:00\n");
	assert_shows(t, "[frozen -16s]");
	assert_hides(t, "12:00:2");
	type(t, "B");
	assert_shows(t, "the baseline is 10 s to 12:00:09;");
	grid_resize(t->g, 15, 60);
	assert_shows(t, "FROZEN  12:00:09  PLAY 1x 0:25/1:00\n");
	assert_shows(t, "[frozen -16s]");
	type(t, "Z");
	assert_shows(t, "PLAY 1x 0:25/1:00  12:00:25\n");
}

/* The sum that a frozen view keeps when its slices are gone has no threads. */
static void threads_that_are_forgotten_have_no_rows(void **state)
{
	struct typist *t = *state;

	for (int i = 0; i < 20; i++)
		second(t, 0);
	grid_resize(t->g, 30, 100);
	type(t, "zH");
	assert_shows(t, "    4133 www");
	type(t, "jj0");
	assert_hides(t, "    4133 www");
	assert_shows(t, "    4121 www");
	assert_shows(t, "keeps what it has");
	type(t, "H");
	assert_shows(t, "threads are counted with their process");
	type(t, "H");
	assert_shows(t, "too long ago: threads are no longer known");
	for (int i = 0; i < 2; i++)
		second(t, 0);
	type(t, "zH");
	assert_shows(t, "    4133 www");
}

/* A low bar says that a process did nothing; a second that was forgotten has no bar. */
/* The timeline above the table may have some. */
static void assert_no_low_bars(struct typist *t)
{
	const char *table = strstr(screen(t), "PID");

	assert_non_null(table);
	assert_null(strstr(table, "▁"));
}

static void seconds_that_are_forgotten_have_no_bars(void **state)
{
	struct typist *t = *state;

	grid_resize(t->g, 30, 100);
	for (int i = 0; i < 2; i++)
		second(t, 0);
	assert_shows(t, "            ██ ");
	assert_no_low_bars(t);
	for (int i = 0; i < 6; i++)
		second(t, 0);
	assert_shows(t, "      ████████ ");
	type(t, "z0");
	assert_shows(t, "the frozen view keeps what it has");
	assert_shows(t, "151.5                  33 ");
	assert_no_low_bars(t);
	type(t, "H");
	assert_no_low_bars(t);
	type(t, "Z");
	second(t, 0);
	assert_shows(t, "             █ ");
}

static void frozen_is_unmistakable(void **state)
{
	struct typist *t = *state;

	spike(t);
	type(t, "z");
	assert_shows(t, "FROZEN  12:00:50");
	assert_shows(t, "[frozen -0s]");
	assert_shows(t, "history: 50 of 600 s, 0.");
	assert_shows(t, " of 64 MiB");
	assert_shows(t, "8Resume");
	assert_shows(t, "[#]");
	type(t, "{,,");
	assert_shows(t, "FROZEN  12:00:38");
	assert_shows(t, "[frozen -12s]");
	type(t, ".");
	assert_shows(t, "FROZEN  12:00:39");
	assert_shows(t, "[frozen -11s]");
	/* Sampling goes on, and so does the time since then. */
	for (int i = 0; i < 7; i++)
		second(t, 0);
	assert_shows(t, "FROZEN  12:00:39");
	assert_shows(t, "[frozen -18s]");
	grid_resize(t->g, 15, 60);
	assert_shows(t, "[frozen -18s]");
	assert_shows(t, "[#]");
	type(t, "Z");
	assert_shows(t, "LIVE");
	assert_hides(t, "[#]");
	/* Keys that go back freeze; the ends are told. */
	type(t, ",");
	assert_shows(t, "[frozen -1s]");
	type(t, "}");
	assert_shows(t, "[frozen -0s]");
	type(t, "}");
	assert_shows(t, "newest moment");
	type(t, "{{{{{{{");
	assert_shows(t, "12:00:01");
	type(t, "{");
	assert_shows(t, "oldest moment");
}

static void a_moment_is_the_window_up_to_it(void **state)
{
	struct typist *t = *state;

	spike(t);
	type(t, "2z{");
	assert_shows(t, " 50.0"); /* 100 of 200 a second: ngx_parse_header */
	assert_hides(t, " 94.1");
	type(t, "}");
	assert_shows(t, " 94.1"); /* 240 of 255: ExecInterpExpr */
	type(t, ",,,,,");	  /* five seconds of each: 1450 of 2275 */
	assert_shows(t, " 63.7");
	/* What is zero from now on was not then. */
	type(t, "0");
	assert_shows(t, " 63.7");
	type(t, "z");
	assert_shows(t, "no samples yet");
}

static void a_range_is_weighed_alone(void **state)
{
	struct typist *t = *state;

	grid_resize(t->g, 30, 120);
	spike(t);
	type(t, "2");
	type(t, "M");
	assert_shows(t, "z freezes");
	type(t, "z,,M,,,"); /* four seconds of the spike: numbers 45 to 48 */
	assert_shows(t, "range 4 s");
	assert_shows(t, "[frozen -5s..-2s]");
	assert_shows(t, " 960 ");
	type(t, "{"); /* 35 to 48: 6 * 50 + 8 * 240 of 6 * 200 + 8 * 255 */
	assert_shows(t, "range 14 s");
	assert_shows(t, " 2220 ");
	assert_shows(t, " 68.5");
	type(t, "M");
	assert_shows(t, "last 10 s");
}

static void four_keys_say_what_happened(void **state)
{
	struct typist *t = *state;

	spike(t);
	type(t, "2z{BX");
	assert_shows(t, "[frozen -0s]");
	assert_shows(t, "vs BASE");
	assert_shows(t, "+69.1"); /* 94.1 % of it now, 25 % before */
	assert_shows(t, "-46.1"); /* 3.9 %, 50 % */
	type(t, "1");
	assert_shows(t, "+191.9"); /* 240 samples a second at 99 Hz, 50 before */
	t->ui->config.units = UNITS_MACHINE;
	assert_shows(t, "+48.0"); /* of four CPUs */
	t->ui->config.units = UNITS_CPU;
	type(t, "3E");
	assert_shows(t, "+69.1");
	type(t, "5");
	assert_shows(t, "by difference");
	type(t, "X");
	assert_hides(t, "by difference");
	type(t, "2");
	assert_shows(t, "vs BEFORE");
	/* The same keys say the same again, while the last difference is shown. */
	type(t, "Zz{BXZz{BX");
	assert_shows(t, "vs BASE");
	assert_shows(t, "+69.1");
}

static void without_a_baseline_it_is_the_time_before(void **state)
{
	struct typist *t = *state;

	type(t, "X");
	assert_shows(t, "there is no baseline");
	spike(t);
	type(t, "2X");
	assert_shows(t, "+69.1");
	/* It stays while time goes on. */
	for (int i = 0; i < 30; i++)
		second(t, 0);
	assert_shows(t, "= 0.0");
}

static void three_ways_to_weigh(void **state)
{
	struct typist *t = *state;
	double postgres = 0;
	char samples[16];

	grid_resize(t->g, 30, 120);
	spike(t);
	type(t, "2");
	assert_shows(t, " 2400 ");
	type(t, "m");
	assert_shows(t, " 4400 ");
	type(t, "m");
	assert_shows(t, "decay 5 s");
	/* By hand: a half every five seconds. */
	for (int age = 0; age < 50; age++) {
		double weight = 1;

		for (int i = 0; i < age; i++)
			weight *= 0.87055056329612; /* the fifth root of a half */
		postgres += weight * (age < 10 ? 240 : 50);
	}
	snprintf(samples, sizeof(samples), " %.0f ", postgres);
	assert_shows(t, samples);
	type(t, "z");
	assert_shows(t, samples); /* frozen as it is weighed */
	for (int i = 0; i < 20; i++)
		second(t, 0);
	type(t, "3");
	assert_shows(t, samples);
	type(t, "2,"); /* a moment is a window */
	assert_shows(t, "last 10 s");
}

#define SCRUB_TEST(name) cmocka_unit_test_setup_teardown(name, setup, typist_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRUB_TEST(screens_are_as_expected),
		SCRUB_TEST(ages_are_those_of_the_moment),
		SCRUB_TEST(a_recording_says_what_it_is),
		SCRUB_TEST(a_recording_is_frozen_at_its_own_time),
		SCRUB_TEST(threads_that_are_forgotten_have_no_rows),
		SCRUB_TEST(seconds_that_are_forgotten_have_no_bars),
		SCRUB_TEST(frozen_is_unmistakable),
		SCRUB_TEST(a_moment_is_the_window_up_to_it),
		SCRUB_TEST(a_range_is_weighed_alone),
		SCRUB_TEST(four_keys_say_what_happened),
		SCRUB_TEST(without_a_baseline_it_is_the_time_before),
		SCRUB_TEST(three_ways_to_weigh),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
