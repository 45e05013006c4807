/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pieces laid over one another, against a board on which every address is painted by itself.
 * Covers: symbols/names/codemap.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/names/codemap.h"

#define BOARD 3000u
#define BASE  0x7f0000000000u

static uint32_t random_below(uint64_t *seed, uint32_t below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % below;
}

static void add(struct codemap *map, uint64_t start, uint64_t size, const char *name)
{
	assert_int_equal(codemap_add(map, CODEMAP_NO_INDEX, start, size, name, strlen(name)), 0);
}

static void assert_name(struct codemap *map, uint64_t addr, const char *name)
{
	const char *found = codemap_find(map, addr);

	if (!name) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_string_equal(found, name);
}

static void assert_board(struct codemap *map, const uint32_t *board)
{
	char name[16];

	for (uint32_t i = 0; i < BOARD; i++) {
		snprintf(name, sizeof(name), "f%u", board[i]);
		assert_name(map, BASE + i, board[i] ? name : NULL);
	}
}

static void test_the_last_wins(void **state)
{
	(void)state;
	for (uint64_t round = 1; round <= 60; round++) {
		struct codemap *map = codemap_new(1 << 20);
		uint32_t board[BOARD] = {0}, number = 0;
		uint64_t seed = round;

		assert_non_null(map);
		for (int looks = 0; looks < 4; looks++) {
			uint32_t n = random_below(&seed, round < 30 ? 12 : 400);

			while (n--) {
				uint32_t start = random_below(&seed, BOARD);
				uint32_t size = random_below(&seed, round % 2 ? 40 : BOARD);
				char name[16];

				if (size > BOARD - start)
					size = BOARD - start;
				snprintf(name, sizeof(name), "f%u", ++number);
				add(map, BASE + start, size, name);
				for (uint32_t i = start; i < start + size; i++)
					board[i] = number;
			}
			assert_board(map, board);
		}
		codemap_free(map);
	}
}

static void test_moves(void **state)
{
	struct codemap *map = codemap_new(1 << 20);

	(void)state;
	assert_non_null(map);
	assert_int_equal(codemap_add(map, 7, 0x1000, 0x100, "seven", 5), 0);
	assert_int_equal(codemap_add(map, 8, 0x2000, 0x100, "eight", 5), 0);
	assert_int_equal(codemap_move(map, 7, 0x3000, 0x80), 0);
	assert_int_equal(codemap_move(map, 9, 0x4000, 0x80), -ENOENT);
	assert_name(map, 0x307f, "seven");
	assert_name(map, 0x3080, NULL);
	assert_int_equal(codemap_add(map, 7, 0x5000, 0x10, "again", 5), 0);
	assert_int_equal(codemap_move(map, 7, 0x2010, 0x10), 0);
	assert_name(map, 0x200f, "eight");
	assert_name(map, 0x2010, "again");
	assert_name(map, 0x2020, "eight");
	codemap_free(map);
}

static void test_edges(void **state)
{
	struct codemap *map = codemap_new(1 << 20);

	(void)state;
	assert_non_null(map);
	assert_name(map, 0, NULL);
	add(map, 0x1000, 0, "empty");
	add(map, UINT64_MAX - 0x10, 0x100, "beyond");
	add(map, UINT64_MAX - 0x10, 0x10, "last");
	assert_name(map, 0x1000, NULL);
	assert_name(map, UINT64_MAX, NULL);
	assert_name(map, UINT64_MAX - 1, "last");
	assert_name(map, 5, NULL);
	add(map, 0, 10, "_ZN5space3fooEi");
	assert_name(map, 5, "space::foo");
	add(map, 0, 10, "a\033[31mb");
	assert_name(map, 5, "a?[31mb");
	codemap_clear(map);
	assert_name(map, 5, NULL);
	add(map, 0, 10, "after");
	assert_name(map, 9, "after");
	codemap_free(map);
	codemap_free(NULL);
}

static void test_names_are_cut(void **state)
{
	struct codemap *map = codemap_new(1 << 20);
	size_t length = 3 << 20;
	char *name = malloc(length);

	(void)state;
	assert_non_null(map);
	assert_non_null(name);
	memset(name, 'n', length);
	assert_int_equal(codemap_add(map, 1, 0x1000, 16, name, length), 0);
	assert_int_equal(strlen(codemap_find(map, 0x1000)), CODEMAP_NAME_MAX);
	memcpy(name, "_Z", 2);
	assert_int_equal(codemap_add(map, 1, 0x2000, 16, name, length), 0);
	assert_non_null(codemap_find(map, 0x2000));
	assert_true(codemap_bytes(map) < 8192);
	free(name);
	codemap_free(map);
}

/* Ever new names at the same places are forgotten; at ever new places they find no room. */
static void test_memory_is_bounded(void **state)
{
	const size_t most = 256 << 10;
	struct codemap *map = codemap_new(most);
	char name[64];
	int err = 0;

	(void)state;
	assert_non_null(map);
	for (unsigned int i = 0; i < 50000; i++) {
		snprintf(name, sizeof(name), "a function of the name %u", i);
		assert_int_equal(codemap_add(map, i, 0x1000 + i % 100 * 16, 16, name, strlen(name)),
				 0);
		assert_true(codemap_bytes(map) <= most);
	}
	assert_name(map, 0x1000 + 99 * 16, name);
	for (unsigned int i = 0; i < 50000 && !err; i++) {
		snprintf(name, sizeof(name), "another of the name %u", i);
		err = codemap_add(map, CODEMAP_NO_INDEX, 0x10000 + i * 16, 16, name, strlen(name));
		assert_true(codemap_bytes(map) <= most);
	}
	assert_int_equal(err, -ENOSPC);
	assert_name(map, 0x10000, "another of the name 0");
	codemap_free(map);
}

/* Each is cut by all that come later: two pieces each at most remain. */
static void test_nested_pieces(void **state)
{
	struct codemap *map = codemap_new(64 << 20);
	const uint64_t n = 200000;
	char name[16];

	(void)state;
	assert_non_null(map);
	for (uint64_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "n%u", (unsigned int)i % 1000);
		add(map, BASE + i, 2 * (n - i), name);
	}
	assert_name(map, BASE, "n0");
	assert_name(map, BASE + 12345, "n345");
	assert_name(map, BASE + n, "n999");
	assert_name(map, BASE + 2 * n - 1, "n0");
	assert_true(codemap_bytes(map) <= 64 << 20);
	codemap_free(map);
}

/* Which pieces took the place of others, and when. */
static void test_rewritten(void **state)
{
	struct codemap *map = codemap_new(1 << 20);

	(void)state;
	assert_non_null(map);
	add(map, 0x1000, 0x100, "old"); /* before anything was sampled */
	add(map, 0x1000, 0x80, "older than the samples");
	assert_int_equal(codemap_rewritten(map, 0x1000), 0);
	codemap_set_round(map, 4);
	add(map, 0x2000, 0x100, "first there");
	add(map, 0x1080, 0x80, "old"); /* the same again */
	assert_int_equal(codemap_rewritten(map, 0x2000), 0);
	assert_int_equal(codemap_rewritten(map, 0x1080), 0);
	assert_int_equal(codemap_last_rewritten(map), 0);
	codemap_set_round(map, 5);
	add(map, 0x20f0, 0x20, "over its end");
	assert_name(map, 0x20ef, "first there");
	assert_int_equal(codemap_rewritten(map, 0x20ef), 0);
	assert_name(map, 0x210f, "over its end");
	assert_int_equal(codemap_rewritten(map, 0x210f), 5);
	assert_int_equal(codemap_rewritten(map, 0x1000), 0);
	assert_int_equal(codemap_last_rewritten(map), 5);
	codemap_set_round(map, 9);
	add(map, 0x3000, 0x10, "another");
	assert_int_equal(codemap_rewritten(map, 0x210f), 5);
	assert_int_equal(codemap_rewritten(map, 0x3000), 0);
	assert_int_equal(codemap_rewritten(map, 0x9000), 0); /* nothing is there */
	codemap_free(map);
}

/* Between two looks the address was another function's, and is again what it was. */
static void test_rewritten_there_and_back(void **state)
{
	struct codemap *map = codemap_new(1 << 20);

	(void)state;
	assert_non_null(map);
	codemap_set_round(map, 1);
	add(map, 0x1000, 0x100, "alpha");
	assert_int_equal(codemap_rewritten(map, 0x1000), 0);
	codemap_set_round(map, 2);
	add(map, 0x1000, 0x100, "bravo");
	add(map, 0x1000, 0x100, "alpha");
	assert_name(map, 0x1000, "alpha");
	assert_int_equal(codemap_rewritten(map, 0x1000), 2);
	codemap_set_round(map, 3);
	add(map, 0x1000, 0x100, "alpha");
	assert_int_equal(codemap_rewritten(map, 0x1000), 2);
	codemap_free(map);
}

/* What is told after a map was emptied may have come in between. */
static void test_rewritten_as_a_whole(void **state)
{
	struct codemap *map = codemap_new(1 << 20);

	(void)state;
	assert_non_null(map);
	codemap_set_round(map, 6);
	add(map, 0x1000, 0x100, "alpha");
	codemap_set_round(map, 7);
	codemap_clear(map);
	assert_int_equal(codemap_last_rewritten(map), 7);
	add(map, 0x1000, 0x100, "alpha");
	assert_int_equal(codemap_rewritten(map, 0x1000), 7);
	codemap_set_round(map, 8);
	add(map, 0x2000, 0x100, "bravo");
	assert_int_equal(codemap_rewritten(map, 0x2000), 8);
	codemap_set_round(map, 9);
	add(map, 0x3000, 0x100, "charlie");
	assert_int_equal(codemap_rewritten(map, 0x3000), 0);
	codemap_free(map);
}

/* Where there is no room for a name, that of what was there before goes, too. */
static void test_no_old_name_where_a_new_one_has_no_room(void **state)
{
	const size_t most = 64 << 10;
	struct codemap *map = codemap_new(most);
	char name[64], large[1000];
	int err = 0;

	(void)state;
	assert_non_null(map);
	for (unsigned int i = 0; !err; i++) {
		snprintf(name, sizeof(name), "one of many that fill the map %u", i);
		err = codemap_add(map, i, 0x10000 + i * 16, 16, name, strlen(name));
	}
	assert_int_equal(err, -ENOSPC);
	assert_name(map, 0x10000, "one of many that fill the map 0");
	memset(large, 'n', sizeof(large));
	do { /* a sweep may find a little room */
		large[0]++;
		err = codemap_add(map, CODEMAP_NO_INDEX, 0x10000, 8, large, sizeof(large));
	} while (!err);
	assert_int_equal(err, -ENOSPC);
	assert_name(map, 0x10000, NULL);
	assert_name(map, 0x10008, "one of many that fill the map 0");
	/* Nor is that a way to take more memory. */
	for (unsigned int i = 0; i < 100000; i++) {
		snprintf(name, sizeof(name), "too many %u", i);
		codemap_add(map, CODEMAP_NO_INDEX, 0x1000000 + i * 32, 16, name, strlen(name));
		assert_true(codemap_bytes(map) <= 2 * most);
	}
	assert_name(map, 0x1000000, NULL);
	codemap_free(map);
}

/* The part that no other code has replaced. */
static void test_extents(void **state)
{
	struct codemap *map = codemap_new(1 << 20);
	uint64_t start = 1, end = 2;

	(void)state;
	assert_null(codemap_extent(map, 0x1000, &start, &end));
	add(map, 0x1000, 0x100, "old");
	add(map, 0x1080, 0x10, "new");
	assert_string_equal(codemap_extent(map, 0x1000, &start, &end), "old");
	assert_int_equal(start, 0x1000);
	assert_int_equal(end, 0x1080);
	assert_string_equal(codemap_extent(map, 0x108f, &start, &end), "new");
	assert_int_equal(start, 0x1080);
	assert_int_equal(end, 0x1090);
	assert_string_equal(codemap_extent(map, 0x10ff, &start, &end), "old");
	assert_int_equal(start, 0x1090);
	assert_int_equal(end, 0x1100);
	assert_null(codemap_extent(map, 0x1100, &start, &end));
	codemap_free(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_extents),
		cmocka_unit_test(test_the_last_wins),
		cmocka_unit_test(test_moves),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_names_are_cut),
		cmocka_unit_test(test_memory_is_bounded),
		cmocka_unit_test(test_nested_pieces),
		cmocka_unit_test(test_rewritten),
		cmocka_unit_test(test_rewritten_there_and_back),
		cmocka_unit_test(test_rewritten_as_a_whole),
		cmocka_unit_test(test_no_old_name_where_a_new_one_has_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
