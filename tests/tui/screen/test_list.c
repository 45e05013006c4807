// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where the cursor of a list goes by keys and when its item moves.
 * Covers: tui/screen/list.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/screen/list.h"

static void keys_stay_inside(void **state)
{
	struct list list = {.count = 25, .page = 10};

	(void)state;
	assert_true(list_move(&list, ACTION_UP));
	assert_int_equal(list.cursor, 0);
	assert_true(list_move(&list, ACTION_PAGE_DOWN));
	assert_int_equal(list.cursor, 10);
	assert_int_equal(list.top, 10);
	assert_true(list_move(&list, ACTION_PAGE_DOWN));
	assert_true(list_move(&list, ACTION_PAGE_DOWN));
	assert_int_equal(list.cursor, 24);
	assert_int_equal(list.top, 15);
	assert_true(list_move(&list, ACTION_HALF_UP));
	assert_int_equal(list.cursor, 19);
	assert_true(list_move(&list, ACTION_FIRST));
	assert_int_equal(list.cursor, 0);
	assert_int_equal(list.top, 0);
	assert_true(list_move(&list, ACTION_LAST));
	assert_int_equal(list.cursor, 24);
	assert_false(list_move(&list, ACTION_QUIT));
}

static void cursor_is_on_the_first_row_until_a_key_moves_it(void **state)
{
	struct list list = {.count = 25, .page = 10};

	(void)state;
	list.cursor = 1; /* where its item went */
	list_follow(&list);
	assert_int_equal(list.cursor, 0);
	assert_int_equal(list.top, 0);
}

static void first_rows_stay_though_the_cursor_sinks(void **state)
{
	struct list list = {.count = 25, .page = 10, .pins = true};

	(void)state;
	list_move(&list, ACTION_DOWN);
	list.cursor = 20; /* where its item went */
	list_follow(&list);
	assert_int_equal(list.cursor, 20);
	assert_int_equal(list.top, 0);
	for (int i = 0; i < 9; i++)
		assert_int_equal(list_at(&list, i), i);
	assert_int_equal(list_at(&list, 9), 20);
	/* The line above is the one that is seen there. */
	list_move(&list, ACTION_UP);
	assert_int_equal(list.cursor, 8);
	assert_int_equal(list.top, 0);
	assert_int_equal(list_at(&list, 9), 9);
	list.cursor = 20;
	list_move(&list, ACTION_PAGE_UP);
	assert_int_equal(list.cursor, 0);
	list.cursor = 20;
	list_move(&list, ACTION_HALF_UP);
	assert_int_equal(list.cursor, 4);
	/* Going on down from there is scrolling. */
	list.cursor = 20;
	list_follow(&list);
	list_move(&list, ACTION_DOWN);
	assert_int_equal(list.cursor, 21);
	assert_int_equal(list.top, 12);
	assert_int_equal(list_at(&list, 9), 21);
	list.cursor = 23;
	list_follow(&list);
	assert_int_equal(list.top, 14);
	/* Its item rises to the first rows, and sinks again. */
	list.cursor = 0;
	list_follow(&list);
	list.cursor = 20;
	list_follow(&list);
	assert_int_equal(list.top, 0);
}

static void chosen_item_is_followed(void **state)
{
	struct list list = {.count = 25, .page = 10};

	(void)state;
	list_move(&list, ACTION_DOWN);
	assert_true(list.chosen);
	list.cursor = 20;
	list_follow(&list);
	assert_int_equal(list.cursor, 20);
	assert_int_equal(list.top, 11);
	list.count = 5; /* it vanished with others */
	list_follow(&list);
	assert_int_equal(list.cursor, 4);
	assert_int_equal(list.top, 0);
	list.count = 0;
	list_follow(&list);
	assert_int_equal(list.cursor, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_stay_inside),
		cmocka_unit_test(cursor_is_on_the_first_row_until_a_key_moves_it),
		cmocka_unit_test(first_rows_stay_though_the_cursor_sinks),
		cmocka_unit_test(chosen_item_is_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
