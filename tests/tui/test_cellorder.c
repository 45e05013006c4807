/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cells in order, against the bytes of their keys, sorted by the C library: each is there as often
 * as it was given, none without samples, and where a process begins is where a linear search finds
 * it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tui/profile_feed.h"
#include "tui/cellorder.h"

#define CELLS	   400
#define ROUNDS	   300
#define KEY_DIGITS 36

struct key {
	char text[64];
};

static struct key key_of(const struct profile_cell *cell)
{
	struct key key;

	snprintf(key.text, sizeof(key.text), "%08x%08x%08x%08x%04x %llu", cell->proc, cell->ustack,
		 cell->kstack, cell->tid, (unsigned int)cell->cpu, (unsigned long long)cell->count);
	return key;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* The few processes of a round have all of its cells, or each of many has few. */
static uint32_t make_cells(uint64_t *random, struct profile_cell *cells, size_t n)
{
	uint32_t nprocs = feed_random(random, 2) ? 1 + feed_random(random, 3) : 200;

	for (size_t i = 0; i < n; i++) {
		cells[i] = (struct profile_cell){.proc = feed_random(random, nprocs),
						 .tid = feed_random(random, 4),
						 .ustack = feed_random(random, 8),
						 .kstack = feed_random(random, 3),
						 .count = feed_random(random, 3)};
		cells[i].cpu = feed_random(random, 3);
		if (!cells[i].kstack)
			cells[i].kstack = PROFILE_NO_STACK;
	}
	return nprocs;
}

static size_t sorted_keys(const struct profile_cell *cells, size_t n, struct key *keys)
{
	size_t left = 0;

	for (size_t i = 0; i < n; i++)
		if (cells[i].count)
			keys[left++] = key_of(&cells[i]);
	qsort(keys, left, sizeof(*keys), by_text);
	return left;
}

/* Of two that differ in their samples alone either may be first. */
static bool in_order(const struct profile_cell *a, const struct profile_cell *b)
{
	return memcmp(key_of(a).text, key_of(b).text, KEY_DIGITS) <= 0;
}

static void check(const struct profile_cell *cells, size_t n, uint32_t nprocs)
{
	static struct profile_cell ordered[CELLS];
	static struct key expected[CELLS], keys[CELLS];
	size_t left = sorted_keys(cells, n, expected);

	assert_int_equal(cells_in_order(ordered, cells, n, nprocs), left);
	for (size_t i = 1; i < left; i++)
		assert_true(in_order(&ordered[i - 1], &ordered[i]));
	assert_int_equal(sorted_keys(ordered, left, keys), left);
	for (size_t i = 0; i < left; i++)
		assert_string_equal(keys[i].text, expected[i].text);
	for (uint32_t proc = 0; proc <= nprocs; proc++) {
		size_t first = 0;

		while (first < left && ordered[first].proc < proc)
			first++;
		assert_int_equal(cells_of_process(ordered, left, proc), first);
	}
}

static void cells_are_in_order(void **state)
{
	static struct profile_cell cells[CELLS];
	uint64_t random = 0x3434343434;
	int swapped = 0;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		size_t n = feed_random(&random, CELLS + 1);
		uint32_t nprocs = make_cells(&random, cells, n);

		for (size_t i = 1; i < n; i++)
			swapped += !in_order(&cells[i - 1], &cells[i]);
		check(cells, n, nprocs);
		for (size_t i = 0; i < n; i++)
			cells[i].count = 0;
		check(cells, n, nprocs);
	}
	assert_true(swapped > ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cells_are_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
