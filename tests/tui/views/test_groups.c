// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows of Procs that count for several processes: those that have exited, those of a program or a
 * user, and those below a parent. Sums are added up here from what was fed.
 * Covers: tui/views/procgroups.c tui/views/proctree.c tui/views/procrows.c tui/views/view_procs.c
 * Covers: tui/views/procs_draw.c
 * Covers: tui/profile/parents.c tui/screen/columns.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/crowd.h"
#include "tests/support/screens.h"
#include "tui/app/dispatch.h"
#include "tui/profile/parents.h"
#include "tui/views/procgroups.h"

/* Two busy processes; thirty of a compiler, and six of two other programs, that end. */
static void feed_compiles(struct crowd *c, struct typist *t)
{
	crowd_open(c, t, 38);
	c->samples[0] = 50;
	c->samples[1] = 40;
	for (int i = 2; i < 38; i++) {
		const char *name = i < 32 ? "cc1" : i < 36 ? "ls" : "true";

		crowd_names(c, i, name, name, 1000);
		c->samples[i] = i < 32 ? 3 : 1;
	}
	crowd_seconds(c, 1);
	for (int i = 2; i < 38; i++)
		crowd_exits(c, i);
	crowd_seconds(c, 2);
}

static void what_has_exited_is_one_row_a_program(void **state)
{
	for (size_t i = 0; i < SIZES; i++) {
		struct typist *t = typist_new();
		struct crowd c;

		feed_compiles(&c, t);
		typist_resize(t, i);
		/* 90 of 3 seconds with 99 ticks each. */
		assert_beside(t, "×30", "cc1 (exi");
		assert_beside(t, "×30", " 30.3 ");
		assert_beside(t, "×30", "z ");
		/* Both have less than 20 samples; the one with more comes first. */
		assert_beside(t, "×6", "ls, true (");
		assert_beside(t, "×6", " 2.0 ");
		assert_shows(t, "job-00");
		assert_shows(t, "job-01");
		/* The functions of all of them. */
		type(t, "jj");
		assert_cursor_on(t, "cc1");
		assert_shows(t, "work_10");
		assert_shows(t, "work_11");
		crowd_close(&c);
		typist_free(t);
	}
	(void)state;
}

static void enter_shows_each_that_has_exited(void **state)
{
	struct typist *t = *state;
	struct crowd c;

	feed_compiles(&c, t);
	grid_resize(t->g, 50, 80);
	type(t, "jj\n");
	assert_hides(t, "×30");
	assert_beside(t, "1002 ", "cc1");
	assert_shows(t, " 1003 ");
	/* All but the one that the cursor is on. */
	ui_key(t->ui, KEYCODE_ESCAPE);
	assert_shows(t, "×29");
	crowd_close(&c);
}

/* A process that ended at once has a user, too. */
static void what_was_not_read_of_a_process_is_not_known(void **state)
{
	static const struct profile_proc gone = {
		.pid = 1000, .image = 1, .nthreads = 1, .comm = "gone"};
	struct typist *t = *state;
	struct crowd c;

	crowd_open(&c, t, 2);
	profile_lock(t->feed.p);
	assert_true(profile_proc(t->feed.p, &gone) >= 0);
	profile_unlock(t->feed.p);
	c.samples[0] = 50;
	c.samples[1] = 40;
	crowd_seconds(&c, 2);
	type(t, "cc");
	assert_shows(t, "no container or unit known");
	type(t, "c");
	assert_shows(t, "user not known");
	type(t, "3");
	assert_shows(t, "user not known");
	crowd_close(&c);
}

/* One that ended keeps its row while the cursor is on it. */
static void the_cursor_keeps_its_process_out_of_the_fold(void **state)
{
	struct typist *t = *state;
	struct crowd c;

	crowd_open(&c, t, 4);
	for (int i = 0; i < 4; i++) {
		crowd_names(&c, i, i ? "cc1" : "make", i ? "cc1" : "make", 0);
		c.samples[i] = (uint32_t)(40 - i);
	}
	crowd_seconds(&c, 3);
	type(t, "j");
	assert_cursor_on(t, "1001");
	for (int i = 1; i < 4; i++)
		crowd_exits(&c, i);
	crowd_seconds(&c, 1);
	assert_cursor_on(t, "1001");
	assert_beside(t, "×2", "cc1 (exited)");
	type(t, "k");
	crowd_seconds(&c, 1);
	assert_beside(t, "×3", "cc1 (exited)");
	crowd_close(&c);
}

static void one_alone_that_has_exited_is_not_folded(void **state)
{
	struct typist *t = *state;
	struct crowd c;

	crowd_open(&c, t, 3);
	for (int i = 0; i < 3; i++)
		c.samples[i] = (uint32_t)(40 - i);
	crowd_seconds(&c, 2);
	crowd_exits(&c, 1);
	crowd_seconds(&c, 1);
	assert_beside(t, "1001 ", "job-01");
	assert_beside(t, "1001 ", "z ");
	assert_hides(t, "×");
	crowd_close(&c);
}

/* Fewer samples than PROCGROUPS_FEW make no row of their own, unless it would be the only one. */
static void programs_of_few_samples_share_a_row(void **state)
{
	static const char *const names[] = {"sh", "cc1", "cc1", "ls", "true"};
	struct typist *t = *state;
	struct crowd c;

	crowd_open(&c, t, 5);
	for (int i = 0; i < 5; i++)
		crowd_names(&c, i, names[i], names[i], 0);
	c.samples[0] = 50;
	c.samples[1] = c.samples[2] = PROCGROUPS_FEW / 2;
	c.samples[3] = PROCGROUPS_FEW - 1;
	crowd_seconds(&c, 1);
	for (int i = 1; i < 4; i++)
		crowd_exits(&c, i);
	crowd_seconds(&c, 1);
	assert_beside(t, "cc1", "×2");
	/* It stands for itself. */
	assert_beside(t, "1003 ", "ls");
	assert_hides(t, "ls (exited)");
	c.samples[4] = 1;
	crowd_seconds(&c, 1);
	crowd_exits(&c, 4);
	crowd_seconds(&c, 1);
	assert_beside(t, "cc1", "×2");
	assert_beside(t, "ls, true", "×2");
	assert_hides(t, "1003 ");
	crowd_close(&c);
}

static void c_groups_by_program_first(void **state)
{
	for (size_t i = 0; i < SIZES; i++) {
		struct typist *t = typist_new();
		struct crowd c;

		feed_compiles(&c, t);
		crowd_names(&c, 0, "python3", "python3 a.py", 0);
		crowd_names(&c, 1, "python3", "python3 b.py", 0);
		crowd_seconds(&c, 1);
		typist_resize(t, i);
		type(t, "c");
		/* 4 seconds of 50 and 40. */
		assert_beside(t, "> python3", " 90.9 ");
		assert_beside(t, "> python3", "×2");
		assert_hides(t, "a.py");
		/* Exited ones of any program are one row. */
		assert_beside(t, "×36", "cc1, ls, tru");
		type(t, "\n");
		assert_shows(t, "comm:^python3$");
		assert_shows(t, "1000 ");
		assert_shows(t, "1001 ");
		assert_hides(t, "×36");
		crowd_close(&c);
		typist_free(t);
	}
	(void)state;
}

/* Enter on a program of one process shows that one. */
static void a_program_of_one_process_is_entered_as_that(void **state)
{
	struct typist *t = *state;
	struct crowd c;

	crowd_open(&c, t, 2);
	c.samples[0] = 50;
	c.samples[1] = 20;
	crowd_seconds(&c, 2);
	type(t, "c");
	assert_beside(t, "> job-00", "1000 ");
	type(t, "\n");
	assert_shows(t, "[2 Funcs]");
	assert_shows(t, "1000 job-00");
	crowd_close(&c);
}

static void no_grouping_ends_on_an_empty_screen(void **state)
{
	struct typist *t = *state;
	struct crowd c;

	feed_compiles(&c, t);
	for (int i = 0; i < 12; i++) {
		type(t, "c");
		assert_hides(t, "Nothing uses the CPU");
		assert_hides(t, "Nothing is known");
		assert_cursor_on(t, ">");
	}
	crowd_close(&c);
}

/* make and its compilers under a shell that sleeps, whose parents sleep, too. */
static void the_tree_puts_parents_above_with_sums(void **state)
{
	static const struct profile_parent parents[] = {
		{1, 0, "init"}, {300, 1, "sshd"}, {400, 300, "bash"}};

	for (size_t i = 0; i < SIZES; i++) {
		struct typist *t = typist_new();
		struct crowd c;
		const char *text;

		crowd_open(&c, t, 5);
		profile_lock(t->feed.p);
		assert_int_equal(profile_parents(t->feed.p, parents, 3), 0);
		profile_unlock(t->feed.p);
		crowd_names(&c, 0, "make", "make", 400);
		crowd_names(&c, 1, "gcc", "gcc a", 1000);
		crowd_names(&c, 2, "cc1", "cc1 a", 1001);
		crowd_names(&c, 3, "cc1", "cc1 b", 1000);
		crowd_names(&c, 4, "db", "db --serve", 1);
		for (int job = 0; job < 5; job++)
			c.samples[job] = (uint32_t)(10 * (job + 1));
		crowd_seconds(&c, 3);
		typist_resize(t, i);
		type(t, "cccc");
		/* 10 + 20 + 30 + 40 of 99. */
		assert_beside(t, "bash", "101.0 ");
		assert_beside(t, "bash", "> ");
		/* The hottest of all below. */
		if (screen_sizes[i][1] >= 100) {
			assert_beside(t, "bash", "work_3");
			assert_beside(t, "gcc a", "work_2");
		}
		assert_beside(t, "└─ make", "101.0 ");
		text = strstr(t->text, "make");
		assert_non_null(strstr(text, "├─ gcc a"));
		assert_beside(t, "gcc a", " 50.5 ");
		assert_beside(t, "│ └─ cc1 a", " 30.3 ");
		if (screen_sizes[i][0] > 15)
			assert_beside(t, "  └─ cc1 b", " 40.4 ");
		/* A parent that sleeps and has one child that does says nothing. */
		assert_hides(t, "sshd");
		assert_hides(t, "init");
		if (screen_sizes[i][0] > 15) {
			assert_beside(t, "db --serve", " 50.5 ");
			assert_hides(t, "─ db");
		}
		/* The functions of all below. */
		assert_shows(t, "work_3");
		assert_shows(t, "work_2");
		text = strstr(screen(t), "bash and below");
		assert_null(strstr(text, "work_4"));
		type(t, "jj");
		assert_cursor_on(t, "gcc");
		/* Those of cc1 and gcc, 90 and 60 samples. */
		assert_beside(t, " 60.0 ", "work_2");
		assert_beside(t, " 40.0    40.0", "work_1");
		crowd_close(&c);
		typist_free(t);
	}
	(void)state;
}

/* The family of above; returns with the tree on the screen. */
static void feed_family(struct crowd *c, struct typist *t)
{
	static const struct profile_parent parents[] = {{400, 1, "bash"}};

	crowd_open(c, t, 5);
	profile_lock(t->feed.p);
	assert_int_equal(profile_parents(t->feed.p, parents, 1), 0);
	profile_unlock(t->feed.p);
	crowd_names(c, 0, "make", "make", 400);
	crowd_names(c, 1, "gcc", "gcc a", 1000);
	crowd_names(c, 2, "cc1", "cc1 a", 1001);
	crowd_names(c, 3, "cc1", "cc1 b", 1000);
	crowd_names(c, 4, "db", "db --serve", 1);
	for (int job = 0; job < 5; job++)
		c->samples[job] = 10;
	crowd_seconds(c, 3);
	type(t, "cccc");
}

/* Whichever was known first; a parent that sleeps is shown for two children. */
static void sums_do_not_depend_on_who_came_first(void **state)
{
	static const struct profile_parent parents[] = {{300, 1, "sshd"}, {400, 300, "bash"}};
	struct typist *t = *state;
	struct crowd c;

	crowd_open(&c, t, 4);
	profile_lock(t->feed.p);
	assert_int_equal(profile_parents(t->feed.p, parents, 2), 0);
	profile_unlock(t->feed.p);
	crowd_names(&c, 0, "cc1", "cc1 a", 1001);
	crowd_names(&c, 1, "gcc", "gcc a", 1002);
	crowd_names(&c, 2, "make", "make", 400);
	crowd_names(&c, 3, "scp", "scp", 300);
	for (int job = 0; job < 4; job++)
		c.samples[job] = (uint32_t)(10 * (job + 1));
	crowd_seconds(&c, 3);
	type(t, "cccc");
	assert_beside(t, "gcc a", " 30.3 ");
	assert_beside(t, "make", " 60.6 ");
	assert_beside(t, "bash", " 60.6 ");
	assert_beside(t, "sshd", "101.0 ");
	assert_beside(t, "scp", " 40.4 ");
	crowd_close(&c);
}

/* What a filter finds is shown with all that is above it, and nothing else. */
static void a_filter_keeps_parents_in_the_tree(void **state)
{
	static const char *const filters[] = {"\\func:work_2\n", "\\cc1 a\n"};
	struct typist *t = *state;
	struct crowd c;

	feed_family(&c, t);
	for (size_t i = 0; i < 2; i++) {
		type(t, filters[i]);
		assert_shows(t, "bash");
		assert_shows(t, "make");
		assert_shows(t, "gcc a");
		assert_shows(t, "cc1 a");
		assert_hides(t, "cc1 b");
		assert_hides(t, "db --serve");
		ui_key(t->ui, KEYCODE_ESCAPE);
		assert_shows(t, "cc1 b");
	}
	crowd_close(&c);
}

/* Under the same load nothing has changed, in the sums either. */
static void sums_of_the_tree_are_compared_with_sums(void **state)
{
	struct typist *t = *state;
	struct crowd c;

	feed_family(&c, t);
	crowd_seconds(&c, 12);
	grid_resize(t->g, 30, 130);
	type(t, "BX");
	crowd_seconds(&c, 12);
	assert_beside(t, "make", " = 0.0 ");
	assert_beside(t, "bash", " = 0.0 ");
	crowd_close(&c);
}

static int rows_with(struct typist *t, const char *text)
{
	int n = 0;

	for (const char *at = screen(t); (at = strstr(at, text)); at++)
		n++;
	return n;
}

/* A word that is filtered for is looked for in the processes of a group, too. */
static void a_group_stays_for_one_of_its_processes(void **state)
{
	struct typist *t = *state;
	struct crowd c;

	feed_compiles(&c, t);
	type(t, "\\job-00\n");
	for (int i = 0; i < 6; i++) {
		assert_cursor_on(t, ">");
		type(t, "c");
	}
	crowd_close(&c);
}

/* A difference, and a filter by frames, tell exited processes apart, but not in a group. */
static void a_group_is_one_row_whatever_is_compared(void **state)
{
	struct typist *t = *state;
	struct crowd c;

	feed_compiles(&c, t);
	grid_resize(t->g, 24, 80); /* no column of users */
	type(t, "ccc");
	assert_int_equal(rows_with(t, " ann "), 1);
	type(t, "BX");
	assert_int_equal(rows_with(t, " ann "), 1);
	type(t, "X\\func:work\n");
	assert_int_equal(rows_with(t, " ann "), 1);
	crowd_close(&c);
}

static void the_row_of_a_cpu_is_no_process(void **state)
{
	struct typist *t = *state;
	struct profile_cell cell = {
		t->feed.nginx, 4121, t->feed.stacks[0], PROFILE_NO_STACK, 9, 2, 0};
	struct profile_health h;

	machine_health(&t->feed, &h, 9, 0, 9);
	h.by_cpu = true;
	profile_lock(t->feed.p);
	assert_int_equal(profile_commit(t->feed.p, &cell, 1, &h), 0);
	profile_unlock(t->feed.p);
	assert_int_equal(ui_refresh(t->ui), 0);
	type(t, "W");
	assert_cursor_on(t, "cpu1");
	type(t, "t");
	assert_shows(t, "this is a group");
	type(t, "i");
	assert_shows(t, "this is a group");
	type(t, "A");
	assert_shows(t, "cannot be attached by a word");
}

/* What /proc says in two moments need not agree. */
static void parents_of_each_other_are_cut(void **state)
{
	struct typist *t = *state;
	struct crowd c;

	crowd_open(&c, t, 3);
	crowd_names(&c, 0, "a", "aa", 1001);
	crowd_names(&c, 1, "b", "bb", 1000);
	crowd_names(&c, 2, "c", "cc", 1002);
	for (int i = 0; i < 3; i++)
		c.samples[i] = 10;
	crowd_seconds(&c, 2);
	type(t, "cccc");
	assert_shows(t, "aa");
	assert_shows(t, "bb");
	assert_shows(t, "cc");
	assert_no_size_breaks(t);
	crowd_close(&c);
}

static void columns_stand_as_the_user_put_them(void **state)
{
	struct typist *t = *state;
	struct crowd c;
	const char *header;

	crowd_open(&c, t, 2);
	c.samples[0] = 10;
	crowd_seconds(&c, 2);
	grid_resize(t->g, 24, 80);
	header = screen_line(t, "CPU%");
	assert_true(strstr(header, "CPU%") < strstr(header, "PID"));
	assert_true(strstr(header, "PID") < strstr(header, "COMMAND"));
	type(t, ":set order.procs PID, COMMAND\n");
	header = screen_line(t, "CPU%");
	assert_true(strstr(header, "PID") < strstr(header, "COMMAND"));
	assert_true(strstr(header, "COMMAND") < strstr(header, "CPU%"));
	assert_beside(t, "1000 ", "job-00");
	crowd_close(&c);
}

/* A column that rows are sorted by is seen, however narrow the screen is. */
static void the_sorted_column_is_shown(void **state)
{
	for (size_t i = 0; i < SIZES; i++) {
		struct typist *t = typist_new();
		struct crowd c;

		crowd_open(&c, t, 2);
		c.samples[0] = 10;
		crowd_seconds(&c, 2);
		typist_resize(t, i);
		for (int column = 0; column < 12; column++) {
			bool marked = strstr(screen(t), "▼") || strstr(t->text, "▲");

			assert_true(marked);
			type(t, ">");
		}
		crowd_close(&c);
		typist_free(t);
	}
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_has_exited_is_one_row_a_program),
		SCREEN_TEST(enter_shows_each_that_has_exited),
		SCREEN_TEST(the_cursor_keeps_its_process_out_of_the_fold),
		SCREEN_TEST(one_alone_that_has_exited_is_not_folded),
		SCREEN_TEST(programs_of_few_samples_share_a_row),
		cmocka_unit_test(c_groups_by_program_first),
		SCREEN_TEST(a_program_of_one_process_is_entered_as_that),
		SCREEN_TEST(no_grouping_ends_on_an_empty_screen),
		cmocka_unit_test(the_tree_puts_parents_above_with_sums),
		SCREEN_TEST(sums_do_not_depend_on_who_came_first),
		SCREEN_TEST(a_filter_keeps_parents_in_the_tree),
		SCREEN_TEST(sums_of_the_tree_are_compared_with_sums),
		SCREEN_TEST(a_group_stays_for_one_of_its_processes),
		SCREEN_TEST(a_group_is_one_row_whatever_is_compared),
		SCREEN_TEST(the_row_of_a_cpu_is_no_process),
		SCREEN_TEST(parents_of_each_other_are_cut),
		SCREEN_TEST(what_was_not_read_of_a_process_is_not_known),
		SCREEN_TEST(columns_stand_as_the_user_put_them),
		cmocka_unit_test(the_sorted_column_is_shown),
	};

	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
