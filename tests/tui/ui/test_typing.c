// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A search and a filter act at each key, and go back to what was there before; what a person types
 * as an expression cannot stop the screen.
 * Covers: tui/ui/typing.c tui/ui/pattern.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/shares.h"
#include "tui/app/dispatch.h"
#include "tui/ui/pattern.h"
#include "tui/ui/typing.h"

/* As press(), with `\b` for Backspace. */
static void hit(struct typist *t, const char *keys)
{
	for (; *keys; keys++)
		ui_key(t->ui, *keys == '\n'	? KEYCODE_ENTER
			      : *keys == '\b'	? KEYCODE_BACKSPACE
			      : *keys == '\033' ? KEYCODE_ESCAPE
						: *keys);
}

static void each_size(struct typist *t, void (*check)(struct typist *t))
{
	for (size_t i = 0; typist_resize(t, i); i++) {
		check(t);
		hit(t, "\033\0331gg");
	}
}

static void search_a_process(struct typist *t)
{
	hit(t, "1gj");
	assert_mark_on(t, "postgres");
	hit(t, "/n");
	assert_mark_on(t, "node"); /* from the cursor on, not from the top */
	hit(t, "g");
	assert_mark_on(t, "nginx");
	hit(t, "\b");
	assert_mark_on(t, "node");
	hit(t, "odex");
	assert_mark_on(t, "postgres"); /* nothing is found: where it was */
	assert_shows(t, " not found");
	hit(t, "\033");
	assert_mark_on(t, "postgres");
	assert_hides(t, "not found");
	hit(t, "/ngi\n");
	assert_mark_on(t, "nginx");
	/* Not valid for a moment: Enter takes what it is in the end. */
	hit(t, "j/(");
	assert_shows(t, "not valid yet");
	hit(t, "ngi)\n");
	assert_hides(t, "not valid");
	assert_mark_on(t, "nginx");
	hit(t, "n");
	assert_mark_on(t, "nginx");
}

static void a_search_moves_at_each_key(void **state)
{
	each_size(*state, search_a_process);
}

static void filter_the_rows(struct typist *t)
{
	hit(t, "1g\\g");
	assert_hides(t, "node server");
	assert_mark_on(t, "nginx");
	hit(t, "\bpo");
	assert_shows(t, "[filter po]");
	assert_hides(t, " 4121 ");
	assert_mark_on(t, "5310");
	hit(t, "(");
	assert_shows(t, "not valid yet, so the last one stays: Unmatched");
	assert_shows(t, "[filter po]");
	assert_hides(t, " 4121 ");
	hit(t, "\b");
	assert_hides(t, "not valid");
	hit(t, "\033");
	assert_shows(t, " 4121 ");
	assert_hides(t, "[filter");
	assert_mark_on(t, "4121");
	hit(t, "\\node\n");
	assert_shows(t, "[filter node]");
	assert_hides(t, " 4121 ");
	/* Another one, which is given up. */
	hit(t, "\\nginx");
	assert_shows(t, "[filter nginx]");
	hit(t, "\033");
	assert_shows(t, "[filter node]");
	assert_mark_on(t, "7781");
	/* What is no filter changes nothing. */
	hit(t, "\\ngi[\n");
	assert_shows(t, "[filter node]");
	assert_hides(t, "not valid");
	hit(t, "\033");
	assert_hides(t, "[filter");
}

static void a_filter_acts_at_each_key(void **state)
{
	each_size(*state, filter_the_rows);
}

static void assert_same(const char *is, const char *was)
{
	size_t n = 0;

	while (is[n] && is[n] == was[n])
		n++;
	if (is[n] || was[n])
		fail_msg("'%.100s' was '%.100s'", is + n, was + n);
}

/* Also while a slice comes in between, and in every view. */
static void esc_goes_back_in_every_view(void **state)
{
	struct typist *t = *state;

	for (size_t i = 0; typist_resize(t, i); i++) {
		for (const char *view = "1234567"; *view; view++) {
			const char keys[] = {*view, 'g', 'j', 0};
			char *before;

			hit(t, keys);
			before = strdup(screen(t));
			hit(t, "/libc");
			hit(t, "\b\b\bs");
			hit(t, "\033");
			assert_same(screen(t), before);
			hit(t, "\\me");
			hit(t, "\033");
			assert_same(screen(t), before);
			free(before);
		}
	}
	hit(t, "2gj/shrink");
	assert_mark_on(t, "shrink_folio");
	assert_int_equal(machine_slice(&t->feed, 0), 0);
	assert_int_equal(ui_refresh(t->ui), 0);
	assert_mark_on(t, "shrink_folio");
	hit(t, "\033");
	assert_hides(t, "> shrink");
}

/* Branches that only an unfinished word led to are closed again. */
static void a_tree_keeps_what_was_open(void **state)
{
	struct typist *t = *state;

	grid_resize(t->g, 30, 100);
	hit(t, "3Cg");
	assert_hides(t, "memmove");
	hit(t, "/mem");
	assert_mark_on(t, "memmove");
	hit(t, "\b\b\buv_r");
	assert_mark_on(t, "uv_run");
	assert_hides(t, "memmove");
	hit(t, "\n");
	assert_mark_on(t, "uv_run");
	hit(t, "Cg/memm\033");
	assert_hides(t, "memmove");
	assert_hides(t, "uv_run");
}

static void an_earlier_answer_acts_as_well(void **state)
{
	struct typist *t = *state;

	hit(t, "1g/node\ng/");
	ui_key(t->ui, KEYCODE_UP);
	assert_mark_on(t, "node");
	hit(t, "\033");
	assert_mark_on(t, "nginx");
	hit(t, "n");
	assert_mark_on(t, "node");
}

/* --- expressions ----------------------------------------------------------------------------- */

static bool found(const char *pattern, const char *text, size_t from, size_t to)
{
	struct pattern p = {0};
	size_t a = 0, b = 0;
	char why[128];
	bool any, same;

	if (!pattern_set(&p, pattern, why, sizeof(why)))
		fail_msg("%s: %s", pattern, why);
	any = pattern_find(&p, text, &a, &b);
	same = any == pattern_matches(&p, text);
	pattern_clear(&p);
	assert_true(same);
	return any && a == from && b == to;
}

static void words_and_expressions_agree(void **state)
{
	(void)state;
	assert_true(found("abc", "xABCx", 1, 4));
	assert_true(found("^abc", "abcabc", 0, 3));
	assert_true(found("abc$", "abcabc", 3, 6));
	assert_true(found("^abc$", "aBc", 0, 3));
	assert_true(found("abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", 0, 26));
	assert_true(found("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz", 0, 26));
	/* Next to the letters, and as far from each other as a capital and a small one. */
	assert_false(found("@", "`", 0, 0));
	assert_false(found("\\[", "{", 0, 0));
	assert_false(found("^abc$", "abcabc", 0, 3));
	assert_false(found("abc", "ab", 0, 0));
	assert_true(found("\\(int\\)", "Parse(int)", 5, 10));
	assert_true(found("a.c", "xxABC", 2, 5));
	assert_true(found("[[:digit:]]+$", "a12", 1, 3));
	assert_true(found("[]a]b", "xab", 1, 3));
	assert_true(found("(a|b){2,3}$", "cabab", 2, 5));
	/* More than ASCII: one character, in any case. */
	assert_true(found("^.$", "\xc3\xa4", 0, 2));
	assert_true(found("\xc3\x84", "x\xc3\xa4", 1, 3));
	assert_true(found("a.c",
			  "a\xc3\xa4"
			  "c",
			  0, 4));
	assert_true(found("b\\{", "b{", 0, 2));
}

static void what_takes_too_long_is_refused(void **state)
{
	static const char *const hostile[] = {
		"(.*)\\1",
		"((a{1,100}){1,100}){1,100}",
		"a{30000}",
		"(a{200}|b{200}){2}",
		"(((((x{9}){9}){9}){9}){9}){9}",
		"a{99}{99}{99}",
		"(",
		"[a",
		"a\\",
	};
	struct pattern p = {0};
	char why[128], long_one[2 * PROMPT_TEXT];

	(void)state;
	assert_true(pattern_set(&p, "old", why, sizeof(why)));
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		why[0] = '\0';
		if (pattern_set(&p, hostile[i], why, sizeof(why)))
			fail_msg("%s was taken", hostile[i]);
		assert_true(why[0]);
		assert_true(pattern_matches(&p, "an old one"));
	}
	memset(long_one, '(', sizeof(long_one) - 1);
	long_one[sizeof(long_one) - 1] = '\0';
	assert_false(pattern_set(&p, long_one, why, sizeof(why)));
	assert_true(pattern_set(&p, "", why, sizeof(why)));
	assert_false(p.set);
}

/* Nothing matches when the time is over, and the screen says so. */
static void time_is_limited(void **state)
{
	struct typist *t = *state;
	struct pattern_watch watch;
	struct pattern p = {.watch = &watch};
	char why[128];

	assert_true(pattern_set(&p, "a.*b", why, sizeof(why)));
	pattern_watch_begin(&watch, 60000);
	assert_true(pattern_matches(&p, "ab"));
	watch.deadline = 1;
	watch.runs = 0;
	assert_false(pattern_matches(&p, "ab"));
	assert_true(watch.late);
	pattern_clear(&p);
	/* A filter that was too slow when the view was loaded. */
	filter(t, "nginx");
	filter(t, "p.*g");
	assert_shows(t, "[filter p.*g]");
	t->ui->watch.late = true;
	assert_true(typing_loaded(t->ui));
	assert_hides(t, "[filter p]");
	assert_shows(t, "p.*g takes too long, and does not filter");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SHARES_TEST(a_search_moves_at_each_key),
		SHARES_TEST(a_filter_acts_at_each_key),
		SHARES_TEST(esc_goes_back_in_every_view),
		SHARES_TEST(a_tree_keeps_what_was_open),
		SHARES_TEST(an_earlier_answer_acts_as_well),
		cmocka_unit_test(words_and_expressions_agree),
		cmocka_unit_test(what_takes_too_long_is_refused),
		SHARES_TEST(time_is_limited),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
