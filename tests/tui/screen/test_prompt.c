// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What was typed before at a prompt comes back by Up and Down, and what is being typed stays.
 * Covers: tui/screen/prompt.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/screens.h"
#include "tui/screen/prompt.h"
#include "tui/app/dispatch.h"

#define CTRL(letter) ((letter) - '@')

static void up(struct typist *t)
{
	ui_key(t->ui, KEYCODE_UP);
}

static void down(struct typist *t)
{
	ui_key(t->ui, KEYCODE_DOWN);
}

static void assert_line(struct typist *t, const char *want)
{
	assert_non_null(t->ui->prompt.question);
	assert_string_equal(t->ui->prompt.text, want);
	assert_int_equal(t->ui->prompt.length, strlen(want));
	assert_true(t->ui->prompt.cursor <= t->ui->prompt.length);
	assert_shows(t, want);
}

static void leave(struct typist *t)
{
	ui_key(t->ui, KEYCODE_ESCAPE);
	assert_null(t->ui->prompt.question);
}

static void each_prompt_has_its_own(void **state)
{
	struct typist *t = *state;

	slices(t, 2, 0);
	type(t, ":theme nord\n:view-funcs\n/main\n/ngx\n\\nginx\n\\\b\b\b\b\bpostgres\n");
	type(t, ":");
	up(t);
	assert_line(t, "view-funcs");
	up(t);
	assert_line(t, "theme nord");
	up(t);
	assert_line(t, "theme nord");
	assert_shows(t, "there is no earlier answer");
	down(t);
	assert_hides(t, "typed here");
	assert_line(t, "view-funcs");
	down(t);
	assert_line(t, "");
	down(t);
	assert_shows(t, "there is no later answer");
	leave(t);
	type(t, "/");
	up(t);
	assert_line(t, "ngx");
	up(t);
	type(t, "\n");
	assert_string_equal(t->ui->search.pattern, "main");
	/* That was the last one now. */
	ui_key(t->ui, KEYCODE_F0 + 3);
	ui_key(t->ui, CTRL('P'));
	assert_line(t, "main");
	ui_key(t->ui, CTRL('P'));
	assert_line(t, "ngx");
	up(t);
	assert_line(t, "ngx");
	ui_key(t->ui, CTRL('N'));
	assert_line(t, "main");
	leave(t);
	/* The filter that is offered is not told twice. */
	type(t, "\\");
	assert_line(t, "postgres");
	up(t);
	assert_line(t, "nginx");
	down(t);
	assert_line(t, "postgres");
	up(t);
	type(t, "x\n");
	assert_shows(t, "[filter nginxx]");
}

static void what_is_typed_is_not_lost(void **state)
{
	struct typist *t = *state;

	slices(t, 2, 0);
	type(t, "/one\n/two\n/");
	type(t, "half of it");
	ui_key(t->ui, KEYCODE_HOME);
	up(t);
	type(t, "X"); /* behind "two" */
	up(t);
	assert_line(t, "one");
	down(t);
	assert_line(t, "twoX");
	down(t);
	assert_line(t, "half of it");
	type(t, "!");
	leave(t);
	/* What was changed on the way is not what was answered. */
	type(t, "/");
	up(t);
	assert_line(t, "two");
	leave(t);
	/* Nor is what was left. */
	type(t, "/gone");
	leave(t);
	type(t, "/");
	up(t);
	assert_line(t, "two");
	leave(t);
	type(t, "/\n/");
	up(t);
	assert_line(t, "two");
}

static void other_prompts_have_none(void **state)
{
	struct typist *t = *state;

	slices(t, 2, 0);
	type(t, ":theme nord\n2Aone\nAtwo");
	up(t);
	assert_line(t, "two");
	assert_hides(t, "typed here");
	down(t);
	assert_line(t, "two");
	type(t, "\n:");
	up(t);
	assert_line(t, "theme nord");
}

static void they_are_bounded_and_differ(void **state)
{
	struct typist *t = *state;
	char text[32];
	int n = 0;

	slices(t, 1, 0);
	for (int i = 0; i < 2 * PROMPT_HISTORY_MAX; i++) {
		snprintf(text, sizeof(text), "/word%d\n/again\n", i);
		type(t, text);
	}
	type(t, "/typed");
	up(t);
	assert_line(t, "again");
	for (n = 1; !t->ui->notice[0]; n++)
		up(t);
	assert_int_equal(n - 1, PROMPT_HISTORY_MAX);
	snprintf(text, sizeof(text), "word%d", PROMPT_HISTORY_MAX + 1);
	assert_line(t, text);
	for (int i = 0; i < PROMPT_HISTORY_MAX; i++)
		down(t);
	assert_line(t, "typed");
}

/* As long as there is room for, and of any bytes that a terminal sends. */
static void long_lines_come_back_whole(void **state)
{
	struct typist *t = *state;
	char want[PROMPT_TEXT];

	slices(t, 1, 0);
	type(t, "/");
	for (int i = 0; i < 300; i++)
		ui_key(t->ui, i % 3 ? 0x6f22 : 'q');
	snprintf(want, sizeof(want), "%s", t->ui->prompt.text);
	assert_true(strlen(want) > PROMPT_TEXT - 4);
	type(t, "\n/\n/");
	up(t);
	assert_string_equal(t->ui->prompt.text, want);
	assert_no_size_breaks(t);
	type(t, "qqqq\b\b");
	down(t);
	assert_line(t, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCREEN_TEST(each_prompt_has_its_own),	 SCREEN_TEST(what_is_typed_is_not_lost),
		SCREEN_TEST(other_prompts_have_none),	 SCREEN_TEST(they_are_bounded_and_differ),
		SCREEN_TEST(long_lines_come_back_whole),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
