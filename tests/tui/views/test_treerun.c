// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs of frames without a fork are one row of Tree and Callers, recursion is one row, and both
 * unfold. Processes are the first level of what shows several of them. At each size what is under
 * the cursor is said below, and the whole name comes by a key.
 * Covers: tui/views/treerun.c tui/views/treerun.h tui/views/treerows.c tui/views/calltree.c
 * Covers: tui/views/tree_draw.c tui/ui/framedetails.c tui/ui/framedetails.h tui/views/tree_plain.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/screens.h"
#include "tui/app/dispatch.h"
#include "tui/ui/plain_list.h"
#include "tui/ui/view.h"

#define TURNS 100 /* of descend and odd_step */
#define DEEP  40  /* of again */
#define NAME                                                                                       \
	"v8::internal::(anonymous namespace)::ElementsAccessorBase<v8::internal::Fast, "           \
	"v8::internal::ElementsKindTraits<(v8::internal::ElementsKind)0> >::Set"

static uint32_t stack_of(struct typist *t, const char *trunk, int turns, const char *leaf)
{
	char frames[8192];
	size_t n = (size_t)snprintf(frames, sizeof(frames), "_start@python3");

	for (int i = 1; i <= 14; i++)
		n += (size_t)snprintf(frames + n, sizeof(frames) - n, ";step%d@python3", i);
	n += (size_t)snprintf(frames + n, sizeof(frames) - n, ";_PyEval_EvalFrame@python3%s",
			      trunk);
	for (int i = 0; i < turns; i++)
		n += (size_t)snprintf(frames + n, sizeof(frames) - n, "%s",
				      strcmp(leaf, "deepest") == 0
					      ? ";again@python3"
					      : ";descend@python3;odd_step@python3");
	snprintf(frames + n, sizeof(frames) - n, ";%s@python3", leaf);
	return machine_stack(&t->feed, frames);
}

/* A second of python3, which recurses and then forks, and of node. */
static void second(struct typist *t, uint32_t python, uint32_t node)
{
	struct profile_health h;
	struct profile_cell cells[] = {
		{python, 10201, stack_of(t, "", TURNS, "left"), PROFILE_NO_STACK, 40, 0, 0},
		{python, 10201, stack_of(t, "", TURNS, "right"), PROFILE_NO_STACK, 10, 0, 0},
		{python, 10201, stack_of(t, "", TURNS / 2, "descend"), PROFILE_NO_STACK, 10, 0, 0},
		{python, 10201, stack_of(t, ";other@python3", DEEP, "deepest"), PROFILE_NO_STACK,
		 10, 0, 0},
		{node, 10203,
		 machine_stack(&t->feed, "main@node;twice@node;twice@node;" NAME "@node"),
		 PROFILE_NO_STACK, 20, 0, 0},
		{node, 10203, machine_stack(&t->feed, "main@node"), PROFILE_NO_STACK, 10, 0, 0},
	};
	const size_t count = node ? 6 : 4;

	t->feed.time += MACHINE_SECOND;
	machine_health(&t->feed, &h, 100, 0, 100);
	assert_int_equal(profile_commit(t->feed.p, cells, count, &h), 0);
	for (size_t i = 0; i < 6; i++)
		profile_stack_put(t->feed.p, cells[i].ustack);
}

static void seconds(struct typist *t, int n, bool with_node)
{
	profile_lock(t->feed.p);
	for (int i = 0; i < n; i++)
		second(t, machine_proc(&t->feed, 10201, "me", "python3", "python3 hot.py", 1),
		       with_node ? machine_proc(&t->feed, 10203, "app", "node", "node a.js", 1)
				 : 0);
	profile_unlock(t->feed.p);
	assert_int_equal(ui_refresh(t->ui), 0);
}

static int setup(void **state)
{
	struct typist *t = typist_new();

	seconds(t, 12, true);
	*state = t;
	return 0;
}

static void press_named(struct typist *t, const char *name)
{
	ui_key(t->ui, keys_parse(name, strlen(name)));
}

static void processes_come_first(void **state)
{
	struct typist *t = *state;

	for (size_t i = 0; typist_resize(t, i); i++) {
		type(t, "3");
		assert_shows(t, "[-] 10201 python3");
		type(t, "G");
		assert_shows(t, "[-] 10203 node");
		type(t, "4g");
		assert_hides(t, "] 10201 python3");
		type(t, "5");
		screen(t);
		type(t, "g"); /* the cursor came along */
		assert_int_equal(ui_refresh(t->ui), 0);
		assert_shows(t, "10201 python3  70.0%");
		assert_shows(t, "10203 node");
		/* Not where only one of them is shown. */
		type(t, "1g\n3");
		assert_shows(t, "> 10201 python3");
		assert_hides(t, "[-] 10201");
		type(t, "5");
		assert_int_equal(ui_refresh(t->ui), 0);
		assert_hides(t, "10201 python3  70.0%");
		type(t, "\b");
	}
}

static void one_process_needs_no_level(void **state)
{
	struct typist *t = typist_new();

	seconds(t, 3, false);
	type(t, "3");
	assert_hides(t, "10201 python3");
	assert_shows(t, "_start");
	/* What is unfolded stays so when there is another process. */
	type(t, "gl");
	assert_shows(t, "[-] step1");
	seconds(t, 1, true);
	assert_shows(t, "[-] 10201 python3");
	assert_shows(t, "[-] step1");
	typist_free(t);
	(void)state;
}

static void a_group_is_a_level(void **state)
{
	struct typist *t = *state;

	type(t, "1c3");
	assert_shows(t, "[-] python3");
	assert_hides(t, "10201 python3");
	type(t, "1cc3");
	assert_shows(t, "[-] me");
	assert_hides(t, "10201 python3");
}

static void a_trunk_is_one_row(void **state)
{
	struct typist *t = *state;

	for (size_t i = 0; typist_resize(t, i); i++) {
		t->ui->ascii = false;
		type(t, "3g");
		assert_shows(t, "_start \u203a 14 more \u203a _PyEval");
		assert_hides(t, "step1");
		assert_shows(t, "descend \u21c4 odd_step \u00d7100");
		assert_shows(t, "again \u00d740");
		t->ui->ascii = true;
		assert_shows(t, "_start > 14 more > _PyEval");
		assert_shows(t, "descend <> odd_step x100");
		assert_shows(t, "again x40");
		/* Both forks are in sight. */
		assert_shows(t, "left");
		assert_shows(t, "right");
		assert_shows(t, "other");
	}
}

static void what_has_samples_of_its_own_is_seen(void **state)
{
	struct typist *t = *state;

	for (size_t i = 0; typist_resize(t, i); i++) {
		type(t, "3G");
		assert_shows(t, "[-] main");
		assert_hides(t, "main \u203a");
		/* Not recursion yet. */
		assert_shows(t, "twice \u203a");
		assert_hides(t, "twice \u00d7");
		/* Of all its frames. */
		type(t, "g");
		assert_shows(t, "    60.0    10.0 ");
	}
}

static void shares_of_a_run_are_of_what_called_its_first_frame(void **state)
{
	struct typist *t = *state;

	grid_resize(t->g, 30, 100);
	t->ui->ascii = false;
	type(t, "3g");
	/* A full bar is the row with most samples. */
	assert_shows(t, "70.0     0.0     700 ███████████ ");
	assert_shows(t, "60.0    10.0     600 ");
	type(t, "%");
	/* 600 and 100 of the 700 samples of _PyEval_EvalFrame; 200 of the 300 of main. */
	assert_shows(t, "85.7    14.3     600 ");
	assert_shows(t, "66.7    66.7     200 ");
}

static void a_run_unfolds_and_folds(void **state)
{
	struct typist *t = *state;

	for (size_t i = 0; typist_resize(t, i); i++) {
		type(t, "3gj");
		press_named(t, i % 2 ? "Right" : "+");
		assert_cursor_on(t, "[-] _start");
		assert_hides(t, "14 more");
		assert_shows(t, "[-] step2");
		seconds(t, 1, true);
		assert_cursor_on(t, "[-] _start");
		assert_hides(t, "14 more");
		assert_shows(t, "[-] step2");
		type(t, "jj");
		press_named(t, "Left");
		assert_cursor_on(t, "14 more");
		assert_hides(t, "[-] step2");
		press_named(t, "Left");
		assert_cursor_on(t, "[+] _start \u203a 14 more");
		press_named(t, "Right");
		assert_cursor_on(t, "[-] _start \u203a 14 more");
		/* Recursion is a run of its own. */
		type(t, "j");
		assert_cursor_on(t, "descend \u21c4");
		press_named(t, "Right");
		assert_cursor_on(t, "[-] descend");
		assert_hides(t, "descend \u21c4");
		press_named(t, "Left");
		assert_cursor_on(t, "descend \u21c4");
	}
}

/* What a person closes in the middle ends the run there; opened, it is whole again. */
static void a_run_ends_where_it_is_closed(void **state)
{
	struct typist *t = *state;

	screen(t);
	type(t, "3gjj");
	assert_cursor_on(t, "descend \u21c4");
	type(t, "+j-");
	assert_cursor_on(t, "[+] odd_step");
	assert_hides(t, "left  <==");
	press_named(t, "Left");
	assert_cursor_on(t, "[+] descend \u203a odd_step");
	press_named(t, "Right");
	assert_cursor_on(t, "descend \u21c4 odd_step \u00d7100");
	assert_shows(t, "left  <==");
}

static void a_search_looks_into_runs(void **state)
{
	struct typist *t = *state;

	for (size_t i = 0; typist_resize(t, i); i++) {
		type(t, "3g/step7\n");
		assert_cursor_on(t, "[-] step7");
		type(t, "/_PyEval\n");
		assert_cursor_on(t, "_PyEval_EvalFrame");
		press_named(t, "Left");
		assert_cursor_on(t, "14 more");
		/* The row is about its last frame: nothing has to unfold. */
		type(t, "g/_PyEval\n");
		assert_cursor_on(t, "14 more");
	}
}

static void keys_are_about_the_last_frame(void **state)
{
	struct typist *t = *state;
	const struct profile_func *func;

	type(t, "3gj");
	func = view_get(t->ui)->function(t->ui);
	assert_non_null(func);
	assert_string_equal(func->name, "_PyEval_EvalFrame");
	type(t, "y");
	assert_non_null(strstr(t->ui->copied, "_start;step1;"));
	assert_non_null(strstr(t->ui->copied, ";step14;_PyEval_EvalFrame"));
	/* A process is no function. */
	type(t, "g");
	assert_null(view_get(t->ui)->function(t->ui));
	type(t, "a");
	assert_shows(t, "there is no function under the cursor");
	type(t, "s");
	assert_shows(t, "there is no function under the cursor");
}

/* Of the process that the row is below. */
static void a_walk_is_of_the_process(void **state)
{
	struct typist *t = *state;

	type(t, "3gjji");
	assert_int_equal(posted, SOURCE_INSPECT);
	assert_non_null(strstr(posted_arg, "10201"));
	type(t, "3Gi");
	assert_non_null(strstr(posted_arg, "10203"));
	/* Callers are of all of them. */
	type(t, "4i");
	assert_shows(t, "the walk of which process?");
}

static void the_hottest_leaf_is_one_key_away(void **state)
{
	struct typist *t = *state;

	for (size_t i = 0; typist_resize(t, i); i++) {
		type(t, "3Cgp");
		assert_cursor_on(t, "left");
		assert_shows(t, "<==");
		type(t, "4Gp");
		assert_cursor_on(t, "left");
		type(t, "5");
		assert_int_equal(ui_refresh(t->ui), 0);
		screen(t);
		type(t, "p");
		screen(t);
		assert_string_equal(view_get(t->ui)->function(t->ui)->name, "left");
	}
}

static void callers_fold_too(void **state)
{
	struct typist *t = *state;

	for (size_t i = 0; typist_resize(t, i); i++) {
		type(t, "4gp+");
		/* The function itself is not part of it. */
		assert_cursor_on(t, "[-] left");
		assert_shows(t, "odd_step \u21c4 descend \u00d7100");
		type(t, "j+");
		assert_shows(t, "_PyEval");
		assert_shows(t, "14 more");
		type(t, "C");
	}
}

/* The row above the function keys. */
static const char *last_row(struct typist *t)
{
	static char row[1024];
	const char *line = screen(t);

	for (int i = 0; i < t->g->rows - 2; i++)
		line = strchr(line, '\n') + 1;
	snprintf(row, sizeof(row), "%.*s", (int)strcspn(line, "\n"), line);
	return row;
}

static void what_is_under_the_cursor_is_said_once(void **state)
{
	struct typist *t = *state;

	for (size_t i = 0; typist_resize(t, i); i++) {
		bool small = screen_sizes[i][0] < 30;

		type(t, "3gj");
		assert_true(!strstr(last_row(t),
				    " _PyEval_EvalFrame  self 0.0%  total 70.0%  python3") ==
			    !small);
		type(t, "4gp");
		assert_true(!strstr(last_row(t), " left  total 40.0%  python3") == !small);
		type(t, "5");
		assert_int_equal(ui_refresh(t->ui), 0);
		screen(t);
		type(t, "p");
		assert_true(!strstr(last_row(t), " left  self 40.0%  total 40.0%  python3") ==
			    !small);
		type(t, "2g");
		assert_non_null(strstr(last_row(t), "self 40.0%  total 40.0%"));
		type(t, "1g");
		/* Its row has room for the command: the row says what to do next. */
		assert_non_null(
			strstr(last_row(t), screen_sizes[i][1] < 80
						    ? " 10201 python3 hot.py"
						    : " Enter functions  4 callers  a code"));
	}
}

static void warnings_go_before_it(void **state)
{
	struct typist *t = typist_new();

	slices(t, 3, 0);
	grid_resize(t->g, 24, 80);
	type(t, "3");
	assert_non_null(strstr(last_row(t), "of user stacks are not complete"));
	typist_free(t);
	(void)state;
}

static void the_whole_name_is_one_key_away(void **state)
{
	struct typist *t = *state;

	for (size_t i = 0; typist_resize(t, i); i++) {
		const char *part = NAME;

		type(t, "2g/Elements\n");
		if (screen_sizes[i][1] < 200) {
			assert_hides(t, "ElementsKindTraits");
			assert_shows(t, "::Set");
		}
		type(t, "s");
		screen(t);
		/* In rows, one after another. */
		for (int row = 0; row < t->g->rows && *part; row++) {
			char line[1024];
			size_t n = 0;

			for (int c = 1; c < t->g->cols && n < sizeof(line) - 1; c++)
				line[n++] = (char)t->g->cells[row * t->g->cols + c].ch;
			while (n && line[n - 1] == ' ' && strncmp(line, part, n) != 0)
				n--;
			line[n] = '\0';
			if (n > 20 && strncmp(line, part, n) == 0)
				part += n;
			else if (n && strncmp(line, part, strlen(part)) == 0)
				part += strlen(part);
		}
		assert_string_equal(part, "");
		type(t, "k");
		if (screen_sizes[i][1] < 200)
			assert_hides(t, "ElementsKindTraits");
	}
}

/* What more a row says, "" when there is none of that name. */
static const char *more_of(const struct plain_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->rows[i].name, name) == 0)
			return list->rows[i].more;
	return "";
}

static void words_say_the_same(void **state)
{
	struct typist *t = *state;
	struct plain_list list;

	type(t, "3");
	assert_int_equal(plain_list_make(&list, t->ui), 0);
	assert_non_null(strstr(more_of(&list, "process 10201 python3"), "level 1"));
	assert_non_null(strstr(more_of(&list, "_start calls step1 calls 13 more calls "
					      "_PyEval_EvalFrame"),
			       "level 2"));
	assert_non_null(
		strstr(more_of(&list, "descend and odd_step call each other"), "100 times"));
	assert_non_null(strstr(more_of(&list, "again calls itself"), "40 deep"));
}

#define RUN_TEST(function) cmocka_unit_test_setup_teardown(function, setup, typist_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RUN_TEST(processes_come_first),
		RUN_TEST(one_process_needs_no_level),
		RUN_TEST(a_group_is_a_level),
		RUN_TEST(a_trunk_is_one_row),
		RUN_TEST(what_has_samples_of_its_own_is_seen),
		RUN_TEST(shares_of_a_run_are_of_what_called_its_first_frame),
		RUN_TEST(a_run_unfolds_and_folds),
		RUN_TEST(a_run_ends_where_it_is_closed),
		RUN_TEST(a_search_looks_into_runs),
		RUN_TEST(keys_are_about_the_last_frame),
		RUN_TEST(a_walk_is_of_the_process),
		RUN_TEST(the_hottest_leaf_is_one_key_away),
		RUN_TEST(callers_fold_too),
		RUN_TEST(what_is_under_the_cursor_is_said_once),
		RUN_TEST(warnings_go_before_it),
		RUN_TEST(the_whole_name_is_one_key_away),
		RUN_TEST(words_say_the_same),
	};

	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
