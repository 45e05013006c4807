/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers of byte strings: equal ones have the same, in the order of their first sight.
 * Covers: tui/util/interner.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/feed.h"
#include "tui/util/interner.h"

static void assert_is(const struct interner *t, uint32_t number, const void *data, size_t size)
{
	size_t n = 77;
	const uint8_t *got = interner_get(t, number, &n);

	assert_int_equal(n, size);
	assert_non_null(got);
	if (size)
		assert_memory_equal(got, data, size);
}

static void test_empty(void **state)
{
	struct interner t = {0};

	(void)state;
	/* Where nothing has a byte yet. */
	assert_int_equal(interner_add(&t, NULL, 0), 0);
	assert_is(&t, 0, "", 0);
	assert_int_equal(interner_text(&t, ""), 0);
	assert_int_equal(interner_add(&t, "x", 0), 0);
	assert_int_equal(t.count, 1);
	assert_int_equal(interner_text(&t, "a"), 1);
	assert_int_equal(interner_text(&t, ""), 0);
	assert_is(&t, 0, "", 0);
	assert_is(&t, 1, "a", 1);
	interner_free(&t);
	/* It is empty again. */
	assert_int_equal(t.count, 0);
	assert_int_equal(interner_text(&t, "b"), 0);
	assert_is(&t, 0, "b", 1);
	interner_free(&t);
	interner_free(&t);
}

/* Neither a beginning, nor the same bytes cut otherwise, nor a NUL ends one. */
static void test_alike(void **state)
{
	static const struct {
		const char *data;
		size_t size;
	} all[] = {{"ab", 2},  {"a", 1},  {"b", 1},   {"abc", 3}, {"a\0b", 3},
		   {"a\0", 2}, {"\0", 1}, {"\0a", 2}, {"", 0}};
	struct interner t = {0};

	(void)state;
	for (int twice = 0; twice < 2; twice++)
		for (uint32_t i = 0; i < 9; i++)
			assert_int_equal(interner_add(&t, all[i].data, all[i].size), i);
	for (uint32_t i = 0; i < 9; i++)
		assert_is(&t, i, all[i].data, all[i].size);
	assert_int_equal(t.count, 9);
	assert_false(t.failed);
	interner_free(&t);
}

static void test_many(void **state)
{
	enum { MANY = 50000 };
	struct interner t = {0};
	uint64_t seed = 3;

	(void)state;
	for (uint32_t i = 0; i < MANY; i++) {
		char text[32];

		snprintf(text, sizeof(text), "name %u", i);
		assert_int_equal(interner_text(&t, text), i);
	}
	for (uint32_t i = 0; i < MANY; i++) {
		uint32_t which = feed_random(&seed, MANY);
		char text[32];
		int n = snprintf(text, sizeof(text), "name %u", which);

		assert_int_equal(interner_text(&t, text), which);
		assert_is(&t, which, text, (size_t)n);
	}
	assert_int_equal(t.count, MANY);
	interner_free(&t);
}

static void test_parts(void **state)
{
	struct interner t = {0};
	struct outbytes part = {0};

	(void)state;
	assert_int_equal(interner_part(&t, &part), 0);
	bytes_put(&part, "ab", 2);
	assert_int_equal(interner_part(&t, &part), 1);
	assert_int_equal(part.size, 0);
	bytes_put(&part, "ab", 2);
	assert_int_equal(interner_part(&t, &part), 1);
	assert_false(t.failed);
	/* What is not whole is no entry that counts. */
	part.failed = true;
	interner_part(&t, &part);
	assert_true(t.failed);
	assert_int_equal(interner_text(&t, "more"), 0);
	bytes_free(&part);
	interner_free(&t);
	assert_false(t.failed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_alike),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
