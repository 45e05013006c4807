// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which nodes are open: what a person decided goes before the mode, and what was hot stays open.
 * Covers: tui/views/treerows.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/views/treerows.h"

static void what_was_hot_stays_open(void **state)
{
	struct openset set = {0};

	(void)state;
	assert_false(openset_get(&set, 1, 1, false));
	assert_true(openset_get(&set, 1, 1, true));
	assert_true(openset_get(&set, 1, 1, false));
	assert_false(openset_get(&set, 2, 1, false));
	openset_reset(&set, OPENSET_HOT);
	assert_false(openset_get(&set, 1, 1, false));
	openset_reset(&set, OPENSET_HOT);
}

static void a_person_goes_first(void **state)
{
	static const enum openset_mode modes[] = {OPENSET_HOT, OPENSET_ALL, OPENSET_NONE};
	struct openset set = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		openset_reset(&set, modes[i]);
		assert_int_equal(openset_get(&set, 3, 1, true), modes[i] != OPENSET_NONE);
		assert_int_equal(openset_get(&set, 4, 1, false), modes[i] == OPENSET_ALL);
		assert_int_equal(openset_put(&set, 1, true), 0);
		assert_int_equal(openset_put(&set, 2, false), 0);
		assert_true(openset_get(&set, 1, 9, false));
		assert_false(openset_get(&set, 2, 1, true));
		assert_int_equal(openset_put(&set, 1, false), 0);
		assert_false(openset_get(&set, 1, 1, true));
	}
	openset_reset(&set, OPENSET_HOT);
}

static void levels_are_counted_from_one(void **state)
{
	struct openset set = {0};

	(void)state;
	openset_depth(&set, 3);
	assert_true(openset_get(&set, 1, 1, false));
	assert_true(openset_get(&set, 2, 2, false));
	assert_false(openset_get(&set, 3, 3, true));
	assert_int_equal(openset_put(&set, 3, true), 0);
	assert_true(openset_get(&set, 3, 3, false));
	openset_reset(&set, OPENSET_HOT);
}

/* Days of changing work. */
static void memory_is_bounded(void **state)
{
	struct openset set = {0};

	(void)state;
	for (uint64_t path = 1; path <= 100000; path++)
		assert_int_equal(openset_put(&set, path, true), 0);
	assert_true(openset_get(&set, 100000, 1, false));
	assert_false(openset_get(&set, 1, 1, false));
	openset_reset(&set, OPENSET_HOT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_hot_stays_open),
		cmocka_unit_test(a_person_goes_first),
		cmocka_unit_test(levels_are_counted_from_one),
		cmocka_unit_test(memory_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
