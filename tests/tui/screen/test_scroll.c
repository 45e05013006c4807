// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which rows of a list are shown: in words at the end of its titles, and as a mark at the edge.
 * Covers: tui/screen/list.c
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
#include "tui/screen/list.h"

static void assert_range(size_t count, size_t top, size_t page, const char *want)
{
	struct list list = {.count = count, .cursor = top, .top = top, .page = page};
	char text[LIST_RANGE];

	list_range(&list, text);
	assert_string_equal(text, want);
}

static void ranges_count_from_one(void **state)
{
	(void)state;
	assert_range(0, 0, 10, "");
	assert_range(1, 0, 10, "1 of 1");
	assert_range(64, 30, 8, "31-38 of 64");
	assert_range(64, 62, 2, "63-64 of 64");
	assert_range(64, 63, 1, "64 of 64");
	assert_range(9, 0, 10, "1-9 of 9");
	assert_range(10, 0, 10, "1-10 of 10");
}

/* The range behind titles that leave so many cells. */
static void assert_titled(const char *titles, int cols, size_t count, const char *want)
{
	struct list list = {.count = count, .top = 0, .page = 8};
	struct grid *g = grid_new(1, cols);
	char *text;

	grid_put(g, 0, 0, cols, ROLE_HEADER, titles);
	list_draw_range(&list, g, 0);
	text = grid_text(g);
	assert_string_equal(text, want);
	for (int i = 0; i < cols; i++)
		assert_true(g->cells[i].ch == ' ' || g->cells[i].role == ROLE_HEADER);
	free(text);
	grid_free(g);
}

static void titles_give_way_to_rows_out_of_sight(void **state)
{
	(void)state;
	assert_titled("PID  COMMAND", 40, 64, "PID  COMMAND                  1-8 of 64\n");
	assert_titled("PID  COMMAND", 24, 64, "PID  COMMAND  1-8 of 64\n");
	assert_titled("PID  COMMAND", 23, 64, "PID  COMMAND 1-8 of 64\n");
	assert_titled("PID  COMMAND", 22, 64, "PID  COMMAND   1-8/64\n");
	assert_titled("PID  COMMAND", 20, 64, "PID  COMMAND 1-8/64\n");
	assert_titled("PID  COMMAND", 19, 64, "PID  COMMA… 1-8/64\n");
	assert_titled("PID  COMMAND", 13, 64, "PID   1-8/64\n");
	/* All rows are shown: titles say more. */
	assert_titled("PID  COMMAND", 40, 8, "PID  COMMAND                   1-8 of 8\n");
	assert_titled("PID  COMMAND", 19, 8, "PID  COMMAND 1-8/8\n");
	assert_titled("PID  COMMAND", 18, 8, "PID  COMMAND\n");
	assert_titled("PID  COMMAND", 40, 0, "PID  COMMAND\n");
	/* There is no room for anything. */
	assert_titled("PID", 10, 64, "PID\n");
}

/* Rows of the mark, as text; a row below it belongs to another. */
static void assert_mark(size_t count, size_t top, int rows, const char *want)
{
	struct list list = {.count = count, .cursor = top, .top = top, .page = (size_t)rows};
	struct grid *g = grid_new(rows + 1, 3);
	char found[32] = "";

	g->ascii = true;
	list_draw_scroll(&list, g, 0, rows, 2);
	for (int i = 0; i <= rows; i++)
		found[i] = (char)g->cells[i * 3 + 2].ch;
	assert_string_equal(found, want);
	grid_free(g);
}

static void the_mark_lies_as_the_rows_lie(void **state)
{
	(void)state;
	assert_mark(8, 0, 8, "         ");
	assert_mark(9, 0, 8, "#######  ");
	assert_mark(9, 1, 8, " ####### ");
	assert_mark(16, 0, 8, "####     ");
	assert_mark(16, 4, 8, "  ####   ");
	assert_mark(16, 8, 8, "    #### ");
	assert_mark(1000000, 0, 8, "#        ");
	assert_mark(1000000, 999992, 8, "       # ");
	/* It is at an end of the edge only where the list is at that end, or nearly. */
	assert_mark(32, 12, 8, "   ##    ");
	assert_mark(3, 1, 1, "# ");
}

static void what_reaches_into_the_edge_is_cut(void **state)
{
	struct list list = {.count = 6, .page = 3};
	struct grid *g = grid_new(6, 8);
	char *text;

	(void)state;
	grid_put(g, 0, 0, 8, ROLE_TEXT, "abcdefgh");
	grid_put(g, 1, 0, 8, ROLE_TEXT, "abcdefg");
	grid_put(g, 2, 0, 8, ROLE_TEXT, "abcdefgh");
	list_draw_scroll(&list, g, 0, 3, 7);
	text = grid_text(g);
	assert_string_equal(text, "abcdef…▐\nabcdefg\nabcdefgh\n\n\n\n");
	free(text);
	/* Of a wide character no half stays. */
	list.page = 2;
	grid_put(g, 3, 0, 8, ROLE_TEXT, "abcdef漢");
	list_draw_scroll(&list, g, 3, 2, 7);
	grid_put(g, 5, 0, 8, ROLE_TEXT, "abcde漢h");
	list_draw_scroll(&list, g, 5, 2, 7);
	text = grid_text(g);
	assert_string_equal(text, "abcdef…▐\nabcdefg\nabcdefgh\nabcdef…▐\n\nabcde …▐\n");
	free(text);
	/* Nothing is drawn outside. */
	list_draw_scroll(&list, g, 6, 2, 7);
	list_draw_scroll(&list, g, 0, 2, 8);
	list_draw_scroll(&list, g, 0, -1, 7);
	list_draw_range(&list, g, 6);
	list_draw_range(&list, g, -1);
	grid_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_count_from_one),
		cmocka_unit_test(titles_give_way_to_rows_out_of_sight),
		cmocka_unit_test(the_mark_lies_as_the_rows_lie),
		cmocka_unit_test(what_reaches_into_the_edge_is_cut),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
