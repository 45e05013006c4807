/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cells by process and thread, against a search for the next process by PID and image each time,
 * and for its next thread: all cells of each thread are there in the order in which they were
 * given, none without samples. The order is that of another profile, which has other ids. And where
 * those of one process or thread are, against a look at all of them.
 * Covers: tui/profile/slice_order.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/feed.h"
#include "tui/profile/slice_order.h"

#define CELLS  400
#define PROCS  120
#define ROUNDS 300
#define TIDS   6

/* They differ in their lowest bits only, in their highest, and in between; 0: not known. */
static const uint32_t tids[TIDS] = {0, 1, 2, 0x00001801, 0x7ffff801, UINT32_MAX};

/* Two images of each PID, in an order that depends on the seed. */
static struct profile *profile_with(uint64_t random, uint32_t *ids)
{
	struct profile *p = profile_new(10, 1000);
	bool made[PROCS] = {false};

	assert_non_null(p);
	for (int n = 0; n < PROCS;) {
		uint32_t i = feed_random(&random, PROCS);

		if (made[i])
			continue;
		made[i] = true;
		n++;
		ids[i] = feed_proc(p, (pid_t)(1000 - i / 2), 1 + i % 2, "a", false);
	}
	return p;
}

/* proc: of the list above. The few processes of a round have all of its cells, or each of many has
 * few. */
static void make_cells(uint64_t *random, struct profile_cell *cells, size_t n)
{
	uint32_t nprocs = feed_random(random, 2) ? 1 + feed_random(random, 3) : PROCS;

	for (size_t i = 0; i < n; i++)
		cells[i] = (struct profile_cell){.proc = feed_random(random, nprocs),
						 .tid = tids[feed_random(random, TIDS)],
						 .ustack = feed_random(random, 8),
						 .kstack = PROFILE_NO_STACK,
						 .count = feed_random(random, 3)};
}

static size_t expect(const struct profile_cell *cells, size_t n, struct profile_cell *expected)
{
	size_t left = 0;

	for (uint32_t pid = 1000 - PROCS / 2; pid <= 1000; pid++)
		for (uint32_t image = 1; image <= 2; image++)
			for (int tid = 0; tid < TIDS; tid++)
				for (size_t i = 0; i < n; i++)
					if (cells[i].count && 1000 - cells[i].proc / 2 == pid &&
					    1 + cells[i].proc % 2 == image &&
					    cells[i].tid == tids[tid])
						expected[left++] = cells[i];
	return left;
}

/* tid 0: of the process. */
static void check_range(const struct profile *p, const struct profile_cell *cells, size_t n,
			uint32_t proc, uint32_t tid)
{
	struct cells_range range = cells_of(p, cells, n, proc, tid);
	size_t expected = 0;

	assert_true(range.from <= range.to);
	assert_true(range.to <= n);
	for (size_t i = 0; i < n; i++)
		expected += cells[i].proc == proc && (!tid || cells[i].tid == tid);
	assert_int_equal(range.to - range.from, expected);
	for (size_t i = range.from; i < range.to; i++) {
		assert_int_equal(cells[i].proc, proc);
		assert_true(!tid || cells[i].tid == tid);
	}
}

static void check(const struct profile *p, const uint32_t *ids, const struct profile_cell *cells,
		  size_t n)
{
	static struct profile_cell given[CELLS], expected[CELLS], got[CELLS];
	size_t left = expect(cells, n, expected);

	for (size_t i = 0; i < n; i++) {
		given[i] = cells[i];
		given[i].proc = ids[cells[i].proc];
	}
	for (size_t i = 0; i < left; i++)
		expected[i].proc = ids[expected[i].proc];
	assert_int_equal(cells_in_order(p, given, n, got), left);
	assert_memory_equal(got, expected, left * sizeof(got[0]));
	for (size_t i = 1; i < left; i++)
		assert_int_equal(cells_before(p, got[i - 1].proc, got[i].proc),
				 got[i - 1].proc != got[i].proc);
	for (int proc = 0; proc < PROCS; proc += n % 7 ? 17 : 1)
		for (int tid = 0; tid < TIDS; tid++)
			check_range(p, got, left, ids[proc], tids[tid]);
}

static void order_is_not_that_of_ids(void **state)
{
	static struct profile_cell cells[CELLS];
	uint64_t random = 0x3434343434;
	uint32_t ids[PROCS], others[PROCS];
	struct profile *p = profile_with(0x1111, ids), *other = profile_with(0x2222, others);

	(void)state;
	assert_memory_not_equal(ids, others, sizeof(ids));
	for (int round = 0; round < ROUNDS; round++) {
		size_t n = feed_random(&random, CELLS + 1);

		make_cells(&random, cells, n);
		check(p, ids, cells, n);
		check(other, others, cells, n);
		for (size_t i = 0; i < n; i++)
			cells[i].count = 0;
		check(p, ids, cells, n);
	}
	profile_free(p);
	profile_free(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_is_not_that_of_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
