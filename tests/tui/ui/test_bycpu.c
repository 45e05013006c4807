// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CPUs apart: the filter, the words, and the screen of a made-up machine, which is compared with
 * the shares that its samples give.
 * Covers: tui/ui/bycpu.c tui/query/query_cpus.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/typist.h"
#include "tui/ui/bycpu.h"
#include "tui/app/dispatch.h"

#define SLICES 12
#define WINDOW 10

/* --- the filter ------------------------------------------------------------------------------ */

static void a_cpu_is_matched_as_a_whole(void **state)
{
	static const struct {
		const char *text;
		unsigned int cpu;
		bool keeps;
	} cases[] = {
		{"cpu:3", 3, true},	{"cpu:3", 13, false},	 {"cpu:3", 31, false},
		{"cpu:1|12", 12, true}, {"cpu:1|12", 1, true},	 {"cpu:1|12", 2, false},
		{"cpu:[0-3]", 2, true}, {"cpu:[0-3]", 4, false}, {"!cpu:3", 3, false},
		{"!cpu:3", 13, true},	{"cpu:.*", 8191, true},	 {"pid:3", 3, false},
		{"3", 3, false},	{"cpu:(1)", 1, true},	 {"cpu:x", 1, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct filter f = {0};
		char why[128];

		assert_true(filter_set(&f, cases[i].text, why, sizeof(why)));
		if (filter_keeps_cpu(&f, cases[i].cpu) != cases[i].keeps)
			fail_msg("%s, CPU %u", cases[i].text, cases[i].cpu);
		filter_clear(&f);
	}
}

static void where_it_ran_in_words(void **state)
{
	static const struct {
		struct cpu_row rows[4];
		size_t n;
		const char *words;
	} cases[] = {
		{{{.cpu = 0, .samples = 5}}, 1, ""},
		{{{.cpu = 4, .samples = 5}}, 1, "3"},
		{{{.cpu = 1, .samples = 5}, {.cpu = 0, .samples = 95}}, 2, "0"},
		{{{.cpu = 2, .samples = 62}, {.cpu = 1, .samples = 38}}, 2, "1 62% 0 38%"},
		{{{.cpu = 2, .samples = 60},
		  {.cpu = 0, .samples = 1000},
		  {.cpu = 1, .samples = 20},
		  {.cpu = 9, .samples = 20}},
		 4,
		 "1 60% +2"},
		{{{.cpu = 8192, .samples = 1}, {.cpu = 8191, .samples = 1}},
		 2,
		 "8191 50% 8190 50%"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char words[24], little[6];

		bycpu_words(cases[i].rows, cases[i].n, words, sizeof(words));
		assert_string_equal(words, cases[i].words);
		bycpu_words(cases[i].rows, cases[i].n, little, sizeof(little));
		assert_true(strncmp(little, cases[i].words, strlen(little)) == 0);
	}
}

/* --- the screen ------------------------------------------------------------------------------ */

/* A second: nginx' first thread goes from CPU 0 to CPU 1, its second one stays on CPU 12. */
static const struct {
	int proc, tid, stack, cpu;
	uint64_t count;
	const char *leaf;
} second[] = {
	{0, 4121, 0, 0, 60, "ngx_parse_header"}, {0, 4121, 0, 1, 20, "ngx_parse_header"},
	{0, 4133, 8, 12, 30, "rare_one"},	 {1, 5310, 4, 0, 30, "ExecInterpExpr"},
	{2, 7781, 6, 1, 9, "node::Parse"},
};

#define SECOND (sizeof(second) / sizeof(second[0]))

static uint64_t of_second(int cpu, const char *leaf)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < SECOND; i++)
		if ((cpu < 0 || second[i].cpu == cpu) && (!leaf || !strcmp(second[i].leaf, leaf)))
			sum += second[i].count;
	return sum;
}

static void feed_cpus(struct typist *t, int seconds, bool by_cpu)
{
	struct machine *f = &t->feed;
	const uint32_t procs[] = {f->nginx, f->postgres, f->node};
	struct profile_health h;

	for (int n = 0; n < seconds; n++) {
		struct profile_cell cells[SECOND];

		for (size_t i = 0; i < SECOND; i++)
			cells[i] = (struct profile_cell){
				.proc = procs[second[i].proc],
				.tid = (uint32_t)second[i].tid,
				.ustack = f->stacks[second[i].stack],
				.kstack = PROFILE_NO_STACK,
				.count = second[i].count,
				.cpu = by_cpu ? (unsigned int)second[i].cpu + 1 : 0};
		f->time += MACHINE_SECOND;
		machine_health(f, &h, of_second(-1, NULL), 0, of_second(-1, NULL));
		h.ncpus = 16;
		h.by_cpu = by_cpu;
		profile_lock(f->p);
		assert_int_equal(profile_commit(f->p, cells, SECOND, &h), 0);
		profile_unlock(f->p);
	}
	assert_int_equal(ui_refresh(t->ui), 0);
}

static void press(struct typist *t, const char *keys)
{
	for (; *keys; keys++)
		ui_key(t->ui, *keys == '\n'	? KEYCODE_ENTER
			      : *keys == '\033' ? KEYCODE_ESCAPE
						: *keys);
}

static int setup(void **state)
{
	*state = typist_new();
	return 0;
}

static void assert_share(struct typist *t, const char *of, uint64_t part, uint64_t whole)
{
	char share[16];

	snprintf(share, sizeof(share), " %.1f ", 100.0 * (double)part / (double)whole);
	assert_beside(t, of, share);
}

static void the_key_asks_the_engine(void **state)
{
	struct typist *t = *state;

	feed_cpus(t, WINDOW, false);
	press(t, "W");
	assert_int_equal(nposted, 1);
	assert_int_equal(posted, SOURCE_BY_CPU);
	assert_string_equal(posted_arg, "1");
	assert_shows(t, "samples are counted per CPU:");
	press(t, "W");
	assert_int_equal(nposted, 2);
	assert_string_equal(posted_arg, "0");
	assert_shows(t, "nginx: worker");
	press(t, ":by-cpu\n");
	assert_int_equal(nposted, 3);
	assert_string_equal(posted_arg, "1");
}

/* CPUs are not told apart yet. */
static void what_to_do_is_said(void **state)
{
	static const char *const views[] = {"1", "2", "3", "4", "5"};
	struct typist *t = *state;

	feed_cpus(t, WINDOW, false);
	assert_hides(t, "ON CPU");
	/* c offers no rows that would be empty. */
	for (int i = 0; i < 7; i++) {
		press(t, "c");
		assert_hides(t, "Nothing is known");
		assert_hides(t, "by CPU");
	}
	press(t, "\\cpu:0\n");
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		press(t, views[i]);
		assert_shows(t, "W turns that on");
	}
	/* what is said is true at once, from the rows of users, too */
	press(t, "\0331cccW");
	assert_int_equal(nposted, 1);
	assert_string_equal(posted_arg, "1");
	assert_shows(t, "next refresh");
	feed_cpus(t, 1, true);
	assert_hides(t, "Nothing is known");
	assert_shows(t, "cpu0");
}

static void a_recording_says_what_it_lacks(void **state)
{
	struct typist *t = *state;
	const struct profile_replay replay = {.speed = 1, .length = MACHINE_SECOND * 20};

	profile_lock(t->feed.p);
	profile_set_replay(t->feed.p, &replay);
	profile_unlock(t->feed.p);
	feed_cpus(t, WINDOW, false);
	press(t, "W");
	assert_int_equal(nposted, 0);
	assert_shows(t, "recorded without CPUs");
	press(t, "\\cpu:0\n2");
	assert_shows(t, "recorded without CPUs");
	press(t, "\033");
	feed_cpus(t, WINDOW, true);
	press(t, "1W");
	assert_int_equal(nposted, 0);
	assert_shows(t, "cpu12");
	press(t, "W");
	assert_hides(t, "cpu12");
}

static void cpus_are_rows(void **state)
{
	struct typist *t = *state;
	const int cpus[] = {0, 1, 12};

	feed_cpus(t, SLICES, true);
	press(t, "W");
	for (size_t i = 0; typist_resize(t, i); i++) {
		compare(t, "bycpu");
		for (int k = 0; k < 3; k++) {
			char name[16];

			snprintf(name, sizeof(name), " cpu%d ", cpus[k]);
			assert_share(t, name, of_second(cpus[k], NULL), 99);
		}
	}
	/* Of all, what is hot there, and the functions of the one under the cursor. */
	assert_beside(t, " cpu0 ", " all: 60.4%");
	assert_beside(t, " cpu1 ", "ngx_parse_header");
	assert_beside(t, " cpu12 ", "rare_one");
	press(t, "gj");
	assert_shows(t, " CPU 12: hottest functions");
	assert_beside(t, " 100.0   100.0 ", "rare_one");
}

static void a_cpu_is_kept_in_all_views(void **state)
{
	static const char *const views[] = {"2", "3", "4"};
	struct typist *t = *state;
	const uint64_t all = of_second(-1, NULL);

	feed_cpus(t, SLICES, true);
	grid_resize(t->g, 40, 150);
	press(t, "Wgjj\n"); /* CPU 1 */
	assert_shows(t, "[cpu 1]");
	assert_hides(t, " 5310 ");
	assert_share(t, " 4121 ", of_second(1, "ngx_parse_header"), 99);
	assert_beside(t, " 7781 ", " 9.1 ");
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		press(t, views[i]);
		press(t, i ? "E" : "");
		assert_share(t, "ngx_parse_header", of_second(1, "ngx_parse_header"), all);
		assert_hides(t, "ExecInterpExpr");
		assert_hides(t, "rare_one");
	}
	press(t, "5");
	assert_shows(t, "node::Parse");
	assert_hides(t, "ExecInterpExpr");
	press(t, "7");
	assert_beside(t, " 4121 ", " 200 "); /* walks, all of them complete */
	assert_beside(t, " 7781 ", " 90 ");
	assert_hides(t, " 5310 ");
	press(t, "z2");
	assert_share(t, "ngx_parse_header", of_second(1, "ngx_parse_header"), all);
	press(t, "z\\cpu:0|12\n2");
	assert_share(t, "rare_one", of_second(12, "rare_one"), all);
	assert_share(t, "ngx_parse_header", of_second(0, "ngx_parse_header"), all);
	assert_hides(t, "node::Parse");
	press(t, "\\!cpu:0\n");
	assert_hides(t, "ExecInterpExpr");
	assert_shows(t, "node::Parse");
	press(t, "\033");
	assert_shows(t, "ExecInterpExpr");
}

static void processes_and_threads_say_where_they_ran(void **state)
{
	struct typist *t = *state;

	feed_cpus(t, SLICES, true);
	grid_resize(t->g, 40, 150);
	assert_shows(t, "ON CPU");
	assert_beside(t, " 4121 ", " 0 55% +2 ");
	assert_beside(t, " 5310 ", " 0 ");
	press(t, "H");
	assert_beside(t, " 4133 ", " 12 ");
	assert_beside(t, "\342\224\224\342\224\200 nginx", " 0 75% 1 25% ");
	/* The sums of all have no CPUs, the window still has. */
	press(t, "Hm");
	assert_beside(t, " 4121 ", " 0 55% +2 ");
}

static void cpus_need_the_window(void **state)
{
	struct typist *t = *state;

	feed_cpus(t, SLICES, true);
	press(t, "m\\cpu:0\n");
	assert_shows(t, "only known in the window, which is shown now");
	press(t, "m");
	assert_shows(t, "only known in the window");
	press(t, "\033m");
	assert_shows(t, "[all since zero]");
	press(t, "W");
	assert_shows(t, "cpu12");
	press(t, "m");
	assert_shows(t, "only known in the window");
	press(t, "Wz");
	press(t, "\\cpu:12\n");
	assert_shows(t, " 4121 ");
	assert_hides(t, " 5310 ");
}

/* Whatever was chosen, the label says what the figures are of. */
static void the_label_is_of_what_is_shown(void **state)
{
	struct typist *t = *state;

	feed_cpus(t, SLICES, false);
	press(t, "m");
	assert_shows(t, "[all since zero]");
	press(t, "\\cpu:0\n");
	feed_cpus(t, SLICES, true); /* is known from now on */
	assert_shows(t, "last 10 s");
	press(t, ":set window total\n");
	assert_shows(t, "CPUs are only known in the window");
	assert_shows(t, "last 10 s");
	assert_hides(t, "all since zero");
	press(t, "2");
	assert_shows(t, "last 10 s");
	assert_share(t, "ngx_parse_header", of_second(0, "ngx_parse_header"), of_second(-1, NULL));
	press(t, "\033");
	assert_shows(t, "[all since zero]");
	/* frozen with the total, which has no CPUs: these are chosen meanwhile */
	press(t, "z\\cpu:0\n");
	assert_shows(t, "z shows it");
	assert_shows(t, "[all since zero]");
	press(t, "z");
	assert_shows(t, "last 10 s");
	assert_share(t, "ngx_parse_header", of_second(0, "ngx_parse_header"), of_second(-1, NULL));
	press(t, "\0331");
	press(t, ":set window sliding\nH:set window total\n");
	assert_shows(t, "threads are only known in the window");
	assert_shows(t, "last 10 s");
	press(t, "H");
	assert_shows(t, "[all since zero]");
}

/* Of a moment that is long ago the reason is another one. */
static void why_a_moment_has_no_cpus(void **state)
{
	static const char *const views[] = {"1", "2", "3", "4", "5"};
	struct typist *t = *state;

	feed_cpus(t, SLICES, false);
	feed_cpus(t, 3, true);
	press(t, "Wz{");
	assert_shows(t, "not yet counted per CPU");
	press(t, "WW");
	assert_shows(t, "not yet counted per CPU");
	assert_hides(t, "next refresh");
	press(t, "}");
	assert_shows(t, "cpu12");
	press(t, "\\cpu:12\n");
	profile_lock(t->feed.p);
	profile_zero(t->feed.p);
	profile_unlock(t->feed.p);
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		press(t, views[i]);
		assert_shows(t, "too long ago");
	}
	press(t, "z");
	feed_cpus(t, 1, true);
	assert_hides(t, "too long ago");
	press(t, "1");
	assert_shows(t, "cpu12 ");
}

/* A filter without a column is of what the rows of CPUs show as their names, and of nothing else.
 */
static void a_filter_is_of_names(void **state)
{
	static const char *const nothing[] = {"all:", "%", "^0$", "4121", "nginx", "\\."};
	struct typist *t = *state;
	char keys[32];

	feed_cpus(t, SLICES, true);
	press(t, "W");
	for (size_t i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++) {
		snprintf(keys, sizeof(keys), "\\%s\n", nothing[i]);
		press(t, keys);
		assert_shows(t, "The filter keeps no");
		assert_hides(t, "cpu0 ");
	}
	press(t, "\\^cpu1\n");
	assert_shows(t, "cpu12");
	assert_hides(t, "cpu0 ");
	press(t, "\\!cpu12\n");
	assert_shows(t, "cpu0 ");
	assert_hides(t, "    cpu12 ");
}

static void what_came_before_is_told_apart(void **state)
{
	struct typist *t = *state;

	feed_cpus(t, 5, false);
	feed_cpus(t, 5, true);
	grid_resize(t->g, 40, 150);
	press(t, "W");
	assert_beside(t, "sampled before", "all: 50.0%");
	press(t, "g\n"); /* which has most samples */
	assert_shows(t, "CPU of these samples is not known");
	press(t, "\\!cpu:0\n2");
	assert_share(t, "rare_one", 5 * of_second(12, "rare_one"), 10 * of_second(-1, NULL));
}

static void no_size_breaks(void **state)
{
	struct typist *t = *state;

	feed_cpus(t, SLICES, true);
	press(t, "W");
	assert_no_size_breaks(t);
	press(t, "W");
	assert_no_size_breaks(t);
}

int main(void)
{
#define SCREEN_TEST(name) cmocka_unit_test_setup_teardown(name, setup, typist_teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cpu_is_matched_as_a_whole),
		cmocka_unit_test(where_it_ran_in_words),
		SCREEN_TEST(the_key_asks_the_engine),
		SCREEN_TEST(what_to_do_is_said),
		SCREEN_TEST(a_recording_says_what_it_lacks),
		SCREEN_TEST(cpus_are_rows),
		SCREEN_TEST(a_cpu_is_kept_in_all_views),
		SCREEN_TEST(processes_and_threads_say_where_they_ran),
		SCREEN_TEST(cpus_need_the_window),
		SCREEN_TEST(the_label_is_of_what_is_shown),
		SCREEN_TEST(why_a_moment_has_no_cpus),
		SCREEN_TEST(a_filter_is_of_names),
		SCREEN_TEST(what_came_before_is_told_apart),
		SCREEN_TEST(no_size_breaks),
	};

	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
