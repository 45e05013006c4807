// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cells, not bytes: widths, clipping, and what hostile names turn into.
 * Covers: tui/screen/grid.c
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tui/screen/grid.h"

static void expect_text(const struct grid *g, const char *want)
{
	char *text = grid_text(g);

	assert_non_null(text);
	assert_string_equal(text, want);
	free(text);
}

static void put_clips_at_the_edges(void **state)
{
	struct grid *g = grid_new(2, 5);

	(void)state;
	assert_int_equal(grid_put(g, 0, 3, 10, ROLE_TEXT, "abc"), 2);
	assert_int_equal(grid_put(g, 1, 0, 2, ROLE_TEXT, "xyz"), 2);
	assert_int_equal(grid_put(g, 2, 0, 5, ROLE_TEXT, "out"), 0);
	assert_int_equal(grid_put(g, -1, 0, 5, ROLE_TEXT, "out"), 0);
	assert_int_equal(grid_put(g, 0, 5, 5, ROLE_TEXT, "out"), 0);
	expect_text(g, "   ab\nxy\n");
	grid_free(g);
}

static void wide_characters_take_two_cells(void **state)
{
	struct grid *g = grid_new(1, 5);

	(void)state;
	assert_int_equal(grid_width(g, "漢字"), 4);
	assert_int_equal(grid_put(g, 0, 0, 5, ROLE_TEXT, "漢字漢"), 4);
	assert_int_equal(g->cells[1].ch, 0);
	expect_text(g, "漢字\n");
	/* Half of one that is overwritten does not stay. */
	grid_put(g, 0, 1, 1, ROLE_TEXT, "x");
	expect_text(g, " x字\n");
	grid_put(g, 0, 2, 1, ROLE_TEXT, "y");
	expect_text(g, " xy\n");
	grid_free(g);
}

static void combining_characters_take_none(void **state)
{
	struct grid *g = grid_new(1, 6);

	(void)state;
	assert_int_equal(grid_width(g, "e\xcc\x81t\xcc\x81"), 2);
	grid_put(g, 0, 0, 6, ROLE_TEXT, "e\xcc\x81t");
	expect_text(g, "e\xcc\x81t\n");
	grid_clear(g);
	/* Nor can a name pile up more of them than a cell holds. */
	grid_put(g, 0, 0, 6, ROLE_TEXT, "e\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81z");
	expect_text(g, "e\xcc\x81\xcc\x81z\n");
	grid_free(g);
}

static void fit_marks_the_cut(void **state)
{
	struct grid *g = grid_new(1, 8);

	(void)state;
	grid_put(g, 0, 0, 8, ROLE_TEXT, "########");
	grid_fit(g, 0, 0, 5, ROLE_TEXT, "abcdefgh");
	expect_text(g, "abcd…###\n");
	grid_fit(g, 0, 0, 5, ROLE_TEXT, "ab");
	expect_text(g, "ab   ###\n");
	grid_right(g, 0, 0, 5, ROLE_TEXT, "42");
	expect_text(g, "   42###\n");
	g->ascii = true;
	grid_fit(g, 0, 0, 5, ROLE_TEXT, "abcdefgh");
	expect_text(g, "abcd~###\n");
	grid_free(g);
}

static void words_are_broken_between(void **state)
{
	static const char text[] = "one  two three";
	static const char longer[] = "a word-of-fifteen b";
	struct grid *g = grid_new(4, 12);

	(void)state;
	assert_int_equal(grid_words(g, 0, 0, 0, 12, 2, ROLE_TEXT, text), 2);
	expect_text(g, "\n\n\n\n");
	assert_int_equal(grid_words(g, 0, 3, 1, 9, 2, ROLE_TEXT, text), 2);
	expect_text(g, " one  two\n   three\n\n\n");
	/* What does not fit is seen to be missing; a long word has a row of its own. */
	grid_clear(g);
	assert_int_equal(grid_words(g, 0, 1, 0, 8, 2, ROLE_TEXT, text), 2);
	expect_text(g, "one  tw…\n\n\n\n");
	grid_clear(g);
	assert_int_equal(grid_words(g, 0, 4, 0, 12, 2, ROLE_TEXT, longer), 3);
	expect_text(g, "a\n  word-of-f…\n  b\n\n");
	grid_clear(g);
	assert_int_equal(grid_words(g, 0, 4, 0, 6, 2, ROLE_TEXT, "日本 語 x"), 2);
	expect_text(g, "日本\n  語 x\n\n\n");
	assert_int_equal(grid_words(g, 0, 4, 0, 6, 2, ROLE_TEXT, ""), 0);
	assert_true(grid_words(g, 0, 4, 0, 0, 2, ROLE_TEXT, text) == 3);
	grid_free(g);
}

static void ascii_has_nothing_else(void **state)
{
	struct grid *g = grid_new(2, 20);
	char *text;

	(void)state;
	g->ascii = true;
	grid_put(g, 0, 0, 20, ROLE_TEXT, "caf\xc3\xa9 漢 e\xcc\x81");
	for (int i = 0; i < GLYPH_COUNT; i++)
		grid_put(g, 1, i, 1, ROLE_TEXT, grid_glyph(g, (enum glyph)i));
	text = grid_text(g);
	for (const char *c = text; *c; c++)
		assert_true((unsigned char)*c < 0x7f);
	assert_non_null(strstr(text, "caf? ? e"));
	free(text);
	grid_free(g);
}

static void hostile_text_is_harmless(void **state)
{
	static const char *const hostile[] = {
		"\x1b[2J\x1b]0;title\x07",
		"\xc2\x9b"
		"31m",
		"a\nb\tc\rd",
		"\x7f\x01\x1f",
		"\xe2\x80\xae"
		"evil",
		"\xff\xfe\xc0\x80",
		"\xed\xa0\x80",
		"\xf4\x90\x80\x80",
		"\xe2\x82",
		"\xf0\x9f",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		struct grid *g = grid_new(1, 40);

		grid_put(g, 0, 0, 40, ROLE_TEXT, hostile[i]);
		for (int c = 0; c < 40; c++) {
			uint32_t ch = g->cells[c].ch;

			assert_false(ch < 0x20 || (ch >= 0x7f && ch < 0xa0));
			assert_false(ch >= 0x202a && ch <= 0x202e);
			assert_false(ch >= 0xd800 && ch < 0xe000);
			assert_true(ch <= 0x10ffff);
			for (int m = 0; m < CELL_MARKS; m++)
				assert_false(g->cells[c].marks[m] >= 0x202a &&
					     g->cells[c].marks[m] <= 0x202e);
		}
		grid_free(g);
	}
}

/* Each byte that belongs to no character is one replaced cell, as is each that reorders others. */
static void what_is_replaced_takes_a_cell(void **state)
{
	static const struct {
		const char *text;
		int cells;
	} texts[] = {
		{"\xff", 1},
		{"\xc0\x80", 2},
		{"\xed\xa0\x80", 3},
		{"\xe0\x80\x80", 3},
		{"\xf4\x90\x80\x80", 4},
		{"\xf8\x80\x80\x80\x80", 5},
		{"\u061c", 1},
		{"\u200e\u200f", 2},
		{"\u2028\u2029", 2},
		{"\u202a\u202b\u202c\u202d\u202e", 5},
		{"\u2066\u2067\u2068\u2069", 4},
		{"\ufeff", 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct grid *g = grid_new(1, 10);
		uint32_t replaced;

		grid_put(g, 0, 0, 10, ROLE_TEXT, "\xff");
		replaced = g->cells[0].ch;
		assert_int_equal(grid_put(g, 0, 0, 10, ROLE_TEXT, texts[i].text), texts[i].cells);
		for (int c = 0; c < texts[i].cells; c++) {
			assert_int_equal(g->cells[c].ch, replaced);
			assert_int_equal(g->cells[c].marks[0], 0);
		}
		grid_free(g);
	}
}

static void bars_stay_in_their_frame(void **state)
{
	struct grid *g = grid_new(1, 12);

	(void)state;
	g->ascii = true;
	grid_bar(g, 0, 0, 12, ROLE_TEXT, 0.5);
	expect_text(g, "[#####     ]\n");
	grid_bar(g, 0, 0, 12, ROLE_TEXT, 17);
	expect_text(g, "[##########]\n");
	grid_bar(g, 0, 0, 12, ROLE_TEXT, 0.0 / 1.0 - 1);
	expect_text(g, "[          ]\n");
	grid_free(g);
}

static void sizes_are_bounded(void **state)
{
	struct grid *g = grid_new(0, -3);

	(void)state;
	assert_int_equal(g->rows, 1);
	assert_int_equal(g->cols, 1);
	assert_int_equal(grid_resize(g, 3, 1000000), 0);
	assert_int_equal(g->cols, 2000);
	grid_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(put_clips_at_the_edges),
		cmocka_unit_test(wide_characters_take_two_cells),
		cmocka_unit_test(combining_characters_take_none),
		cmocka_unit_test(fit_marks_the_cut),
		cmocka_unit_test(words_are_broken_between),
		cmocka_unit_test(ascii_has_nothing_else),
		cmocka_unit_test(hostile_text_is_harmless),
		cmocka_unit_test(what_is_replaced_takes_a_cell),
		cmocka_unit_test(bars_stay_in_their_frame),
		cmocka_unit_test(sizes_are_bounded),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
