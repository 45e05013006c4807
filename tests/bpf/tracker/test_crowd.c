// SPDX-License-Identifier: GPL-2.0-or-later
/* Covers: bpf/tracker/mapsreader.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "bpf/tracker/mapsreader.h"

#define MANY 60000u

/* Two libraries among 60,000 mappings of one file, one at either end, come first. */
static void rare_files_come_first(void **state)
{
	static struct file_id files[MANY + 3];
	static uint32_t order[MANY + 3];

	(void)state;
	for (uint32_t i = 0; i < MANY + 3; i++)
		files[i] = (struct file_id){8, 100};
	files[0] = (struct file_id){8, 999}; /* once */
	files[7] = files[MANY + 2] = (struct file_id){8, 5};
	assert_int_equal(crowd_order(files, MANY + 3, order), 0);
	assert_int_equal(order[0], 0);
	assert_int_equal(order[1], 7);
	assert_int_equal(order[2], MANY + 2);
	assert_int_equal(order[3], 1);
	assert_int_equal(order[MANY + 2], MANY + 1);
}

/* Memory without a file counts as one; the same number on two devices is two files. */
static void files_are_told_apart(void **state)
{
	static const struct file_id files[] = {{0, 0}, {8, 1}, {0, 0}, {9, 1}, {0, 0}, {8, 1}};
	static const uint32_t expected[] = {3, 1, 5, 0, 2, 4};
	uint32_t order[6];

	(void)state;
	assert_int_equal(crowd_order(files, 6, order), 0);
	assert_memory_equal(order, expected, sizeof(expected));
}

static void none_is_none(void **state)
{
	(void)state;
	assert_int_equal(crowd_order(NULL, 0, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rare_files_come_first),
		cmocka_unit_test(files_are_told_apart),
		cmocka_unit_test(none_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
