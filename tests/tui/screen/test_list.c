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

static void item_nobody_chose_leaves_the_first_page(void **state)
{
	struct list list = {.count = 25, .page = 10, .held = true};

	(void)state;
	list.cursor = 9; /* where its item went */
	list_follow(&list);
	assert_int_equal(list.cursor, 9);
	list.cursor = 10;
	list_follow(&list);
	assert_int_equal(list.cursor, 0);
	assert_int_equal(list.top, 0);
}

static void chosen_item_is_followed(void **state)
{
	struct list list = {.count = 25, .page = 10};

	(void)state;
	list_move(&list, ACTION_DOWN);
	assert_true(list.held);
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
		cmocka_unit_test(item_nobody_chose_leaves_the_first_page),
		cmocka_unit_test(chosen_item_is_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
