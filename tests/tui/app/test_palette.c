// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The list over `:`: which commands the letters find, in which order, and what keys do there.
 * Covers: tui/app/palette.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/shares.h"
#include "tui/app/dispatch.h"
#include "tui/app/palette.h"

/* --- letters ---------------------------------------------------------------------------------- */

static int score(const char *query, const char *name)
{
	uint64_t places;

	return palette_score(query, name, &places);
}

static void letters_are_found_in_their_order(void **state)
{
	char long_name[200];
	uint64_t places;

	(void)state;
	assert_true(palette_score("ft", "filter", &places) > 0);
	assert_int_equal(places, 1 | 1 << 3);
	assert_int_equal(score("tf", "filter"), 0);
	assert_int_equal(score("", "filter"), 0);
	assert_int_equal(score("filters", "filter"), 0);
	assert_true(score("FILTER", "filter") > 0);
	/* Word starts before other letters, runs before letters apart, whole names first. */
	assert_true(score("sn", "search-next") > score("sn", "listen"));
	assert_true(palette_score("fu", "find-four-uses-full", &places) > 0);
	assert_int_equal(places, 1 | 1 << 10);
	assert_true(score("set", "setup") > score("set", "sort-eat-t"));
	assert_true(score("set", "set") > score("set", "setup"));
	assert_true(score("tree", "tree") > score("tree", "view-tree"));
	memset(long_name, 'a', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	assert_int_equal(score(long_name, long_name), 0);
	assert_true(score("aaa", long_name) > 0);
}

/* --- the list --------------------------------------------------------------------------------- */

static void hit(struct typist *t, int key, const char *line)
{
	ui_key(t->ui, key);
	assert_string_equal(t->ui->prompt.text, line);
}

static void the_list_follows_the_letters(void **state)
{
	struct typist *t = *state;

	for (size_t i = 0; typist_resize(t, i); i++) {
		press(t, "1g:");
		assert_shows(t, " commands ");
		assert_shows(t, "to the view Procs");
		press(t, "flt");
		assert_shows(t, "> filter [REGEX] ");
		assert_shows(t, "filter-cgroup");
		assert_shows(t, "F4 \\"); /* the key that it is bound to */
		assert_hides(t, "to the view Procs");
		press(t, "zq");
		assert_hides(t, " commands ");
		press(t, "\033");
		/* By what it does. */
		press(t, ":clipboard");
		assert_shows(t, "> copy");
		press(t, "\033:");
		press(t, "theme ");
		assert_shows(t, "theme NAME");
		assert_hides(t, "setup");
		press(t, "\033");
		assert_hides(t, " commands ");
	}
	assert_no_size_breaks(t);
	press(t, ":e");
	assert_no_size_breaks(t);
}

static void what_is_chosen_is_done(void **state)
{
	struct typist *t = *state;

	press(t, ":vfl\n");
	assert_int_equal(t->ui->view, VIEW_FLAME);
	/* The word that is typed whole goes first, unless another one is chosen. */
	press(t, ":tree\n");
	assert_int_equal(t->ui->view, VIEW_TREE);
	press(t, ":view-f");
	hit(t, KEYCODE_DOWN, "view-f");
	press(t, "\n");
	assert_int_equal(t->ui->view, VIEW_FLAME);
	press(t, ":fun");
	hit(t, KEYCODE_DOWN, "fun");
	hit(t, KEYCODE_UP, "fun");
	press(t, "\n");
	assert_int_equal(t->ui->view, VIEW_FUNCS);
	/* What it was is what comes back. */
	press(t, ":");
	hit(t, KEYCODE_UP, "funcs");
	press(t, "\033:the\n");
	assert_string_equal(t->ui->prompt.text, "theme ");
	press(t, "nord\n");
	assert_string_equal(t->ui->config.theme, "nord");
	press(t, ":\t");
	assert_string_equal(t->ui->prompt.text, "");
	assert_mark_on(t, "procs");
	press(t, "\t");
	assert_string_equal(t->ui->prompt.text, "procs ");
	press(t, "\n");
	assert_int_equal(t->ui->view, VIEW_PROCS);
	press(t, ":qqq\t");
	assert_shows(t, "no command has the letters 'qqq'");
	press(t, "\n");
	assert_shows(t, "there is no command 'qqq'");
}

/* Nothing is done by Enter that was not asked for. */
static void an_empty_line_does_nothing(void **state)
{
	struct typist *t = *state;

	press(t, "3:\n");
	assert_int_equal(t->ui->view, VIEW_TREE);
	assert_null(t->ui->prompt.question);
	press(t, ":turn\n");
	assert_shows(t, "turn has no meaning in this view");
	press(t, ":zero 5\n");
	assert_shows(t, "zero takes no argument");
}

static void earlier_commands_come_back(void **state)
{
	struct typist *t = *state;

	press(t, ":theme nord\n:funcs\n:");
	hit(t, KEYCODE_UP, "funcs");
	hit(t, KEYCODE_UP, "theme nord");
	hit(t, KEYCODE_DOWN, "funcs");
	hit(t, KEYCODE_DOWN, "");
	hit(t, KEYCODE_UP, "funcs");
	/* What is changed is chosen for again; ^P recalls always. */
	ui_key(t->ui, KEYCODE_BACKSPACE);
	hit(t, KEYCODE_DOWN, "func");
	hit(t, CTRL('P'), "theme nord");
	hit(t, CTRL('N'), "func");
	press(t, "\033:tre");
	hit(t, CTRL('P'), "funcs");
	press(t, "1\b\033");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(letters_are_found_in_their_order),
		SHARES_TEST(the_list_follows_the_letters),
		SHARES_TEST(what_is_chosen_is_done),
		SHARES_TEST(an_empty_line_does_nothing),
		SHARES_TEST(earlier_commands_come_back),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
