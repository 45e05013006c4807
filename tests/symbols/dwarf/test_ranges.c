// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lists of ranges byte by byte, in all their forms, and the innermost of ranges that lie in one
 * another.
 * Covers: symbols/dwarf/debugtree.c symbols/dwarf/rangemap.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>

#include "symbols/dwarf/debugtree.h"
#include "symbols/dwarf/rangemap.h"

#define BASE 0x400000u

/* Of eight bytes, as addresses are. */
#define WORD(n) (n) & 0xff, (n) >> 8 & 0xff, (n) >> 16 & 0xff, 0, 0, 0, 0, 0
#define ONES	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff

struct range {
	uint64_t start, end;
};

/* The ranges up to one that starts at 0, then the end or, if so, an entry of another kind. */
static void expect(const uint8_t *section, size_t size, unsigned int version,
		   const struct range *ranges, enum rangelist_next last)
{
	struct rangelist list;
	uint64_t start, end;

	assert_true(rangelist_open(&list, section, size, 0, version, BASE));
	for (; ranges->start; ranges++) {
		assert_int_equal(rangelist_next(&list, &start, &end), RANGELIST_RANGE);
		assert_int_equal(start, ranges->start);
		assert_int_equal(end, ranges->end);
	}
	assert_int_equal(rangelist_next(&list, &start, &end), last);
}

static void test_dwarf_4(void **state)
{
	static const uint8_t section[] = {
		WORD(0x10), WORD(0x20), WORD(0x30), WORD(0x48), ONES,	 WORD(0x500000),
		WORD(0x10), WORD(0x11), WORD(0),    WORD(0),	WORD(1), WORD(2),
	};
	static const struct range ranges[] = {{BASE + 0x10, BASE + 0x20},
					      {BASE + 0x30, BASE + 0x48},
					      {0x500010, 0x500011},
					      {0, 0}};

	(void)state;
	expect(section, sizeof(section), 4, ranges, RANGELIST_END);
}

static void test_dwarf_5(void **state)
{
	static const uint8_t section[] = {
		4,
		0x10,
		0xa0,
		0x01, /* DW_RLE_offset_pair */
		7,
		WORD(0x600000),
		0x80,
		0x02, /* DW_RLE_start_length */
		5,
		WORD(0x500000), /* DW_RLE_base_address */
		4,
		0x08,
		0x09,
		6,
		WORD(0x700000),
		WORD(0x700004), /* DW_RLE_start_end */
		0,
		4,
		1,
		2,
	};
	static const uint8_t other[] = {4, 0x10, 0x20, 3, 0, 1}; /* DW_RLE_startx_length */
	static const struct range ranges[] = {{BASE + 0x10, BASE + 0xa0},
					      {0x600000, 0x600100},
					      {0x500008, 0x500009},
					      {0x700000, 0x700004},
					      {0, 0}};
	static const struct range first[] = {{BASE + 0x10, BASE + 0x20}, {0, 0}};

	(void)state;
	expect(section, sizeof(section), 5, ranges, RANGELIST_END);
	expect(other, sizeof(other), 5, first, RANGELIST_OTHER);
}

/* A list that is cut off ends there. */
static void test_cut(void **state)
{
	static const uint8_t old[] = {WORD(0x10), WORD(0x20), WORD(0x30), WORD(0x48)};
	static const uint8_t new[] = {4, 0x10, 0x20, 7, WORD(0x600000), 0x80, 0x02};
	static const struct range first[] = {{BASE + 0x10, BASE + 0x20}, {0, 0}};
	struct rangelist list;

	(void)state;
	for (size_t size = 16; size < sizeof(old); size++)
		expect(old, size, 4, first, RANGELIST_END);
	for (size_t size = 3; size < sizeof(new); size++)
		expect(new, size, 5, first, RANGELIST_END);
	assert_false(rangelist_open(&list, new, sizeof(new), sizeof(new), 5, BASE));
	assert_false(rangelist_open(&list, new, sizeof(new), UINT64_MAX, 5, BASE));
}

/* Whether the range is the one to be found, rather than that which was found so far. */
static bool is_inner(const struct rangemap_range *range, const struct rangemap_range *than)
{
	if (range->start != than->start)
		return range->start > than->start;
	return range->end <= than->end; /* it was added later */
}

/* A few ranges in a small space, in any order: each address is looked for in all of them. */
static void test_innermost(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct rangemap map = {0};
		struct rangemap_range ranges[8];
		uint32_t n = (uint32_t)round % 8 + 1;

		for (uint32_t i = 0; i < n; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			ranges[i].start = seed >> 40 & 15;
			ranges[i].end = ranges[i].start + (seed >> 50 & 15);
			assert_int_equal(rangemap_add(&map, ranges[i].start, ranges[i].end, i), 0);
		}
		assert_int_equal(rangemap_build(&map), 0);
		for (uint64_t address = 0; address < 32; address++) {
			uint32_t want = RANGEMAP_NONE;

			for (uint32_t i = 0; i < n; i++)
				if (address >= ranges[i].start && address < ranges[i].end &&
				    (want == RANGEMAP_NONE || is_inner(&ranges[i], &ranges[want])))
					want = i;
			assert_int_equal(rangemap_find(&map, address), want);
		}
		rangemap_free(&map);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dwarf_4),
		cmocka_unit_test(test_dwarf_5),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_innermost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
