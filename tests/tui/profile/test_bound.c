/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Deep stacks of functions with long names that never come again, as a process makes them that
 * rewrites its perf map: memory stays within its bound, as the heap tells, and no sample is lost.
 * Covers: tui/profile/profile_fold.c tui/profile/profile_names.c
 */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/feed.h"
#include "tui/profile/profile_priv.h"
#include "tui/query/query.h"

#define MIB    (1ull << 20)
#define BOUND  (4 * MIB)
#define STACKS 20
#define FRAMES 40
#define SLICES 60

/* Of all that malloc has given out; 0 where a sanitizer has its own. */
static size_t heap_bytes(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return 0;
#else
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
#endif
}

static uint64_t samples(const struct profile *p, enum span span)
{
	struct query q = {.span = span, .proc = QUERY_ALL};

	return query_samples(p, &q, NULL);
}

/* A stack whose frames have names of a kilobyte that no other has. */
static uint32_t new_stack(struct profile *p, unsigned int number, bool kernel)
{
	uint32_t frames[FRAMES];
	char name[1001];

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	for (unsigned int i = 0; i < FRAMES; i++) {
		name[snprintf(name, 32, "f%u_%u", number, i)] = '_';
		frames[i] = feed_func(p, kernel ? FUNC_KERNEL : FUNC_JIT, name);
	}
	return feed_stack(p, kernel, number % 2, frames, FRAMES);
}

/* One slice; every other stack is a kernel stack. Beside them a stack that always comes. */
static uint64_t feed_slice(struct profile *p, uint32_t proc, unsigned int slice)
{
	struct profile_cell cells[STACKS + 1];
	uint64_t fed = 0;
	size_t n = 0;

	profile_lock(p);
	for (; n < STACKS; n++) {
		bool kernel = n % 2;
		uint32_t stack = new_stack(p, slice * STACKS + (unsigned int)n, kernel);

		cells[n] = (struct profile_cell){.proc = proc,
						 .tid = 7,
						 .ustack = kernel ? PROFILE_NO_STACK : stack,
						 .kstack = kernel ? stack : PROFILE_NO_STACK,
						 .count = 1};
	}
	cells[n] = (struct profile_cell){.proc = proc,
					 .tid = 7,
					 .ustack = feed_names(p, false, "main;work"),
					 .kstack = PROFILE_NO_STACK,
					 .count = 1000};
	for (size_t i = 0; i <= n; i++)
		fed += cells[i].count;
	assert_int_equal(feed_commit(p, cells, n + 1), 0);
	for (size_t i = 0; i <= n; i++)
		profile_stack_put(p, cells[i].ustack != PROFILE_NO_STACK ? cells[i].ustack
									 : cells[i].kstack);
	profile_unlock(p);
	return fed;
}

static uint64_t named(const struct profile *p, const char *name)
{
	struct query q = {.span = SPAN_TOTAL, .proc = QUERY_ALL};
	struct func_row *rows;
	uint64_t total = 0;
	size_t n;

	assert_int_equal(query_funcs(p, &q, &rows, &n), 0);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(query_func(p, rows[i].func)->name, name))
			total += rows[i].total;
	free(rows);
	return total;
}

/* keep: history is kept, as on a screen. */
static void check(bool keep)
{
	struct profile *p = profile_new(2, 50000);
	const size_t before = heap_bytes();
	uint64_t fed = 0;
	uint32_t proc;

	profile_bound(p, BOUND);
	if (keep)
		profile_keep(p, 600, 64 * MIB);
	proc = feed_proc(p, 7, 1, "attack", false);
	for (unsigned int slice = 0; slice < SLICES; slice++) {
		fed += feed_slice(p, proc, slice);
		assert_int_equal(samples(p, SPAN_TOTAL), fed);
		/* what one stack more may take beyond it */
		assert_true(p->bound_bytes <= BOUND + 2048 * FRAMES);
		if (heap_bytes())
			assert_in_range(heap_bytes() - before, 0, BOUND + BOUND / 2 + MIB);
	}
	/* each was counted, with its stack or as folded away, and what is hot has kept its own */
	assert_int_equal(fed, SLICES * (STACKS + 1000));
	assert_int_equal(named(p, "work"), SLICES * 1000);
	assert_true(named(p, "folded away") > 0);
	profile_free(p);
}

static void test_report(void **state)
{
	(void)state;
	check(false);
}

static void test_screen(void **state)
{
	(void)state;
	check(true);
}

/* What is recent alone is more than the bound: its samples count, without their stacks. */
static void test_recent(void **state)
{
	struct profile *p = profile_new(600, 50000);
	uint64_t fed = 0;
	uint32_t proc;

	(void)state;
	profile_bound(p, BOUND);
	proc = feed_proc(p, 7, 1, "attack", false);
	for (unsigned int slice = 0; slice < SLICES; slice++)
		fed += feed_slice(p, proc, slice);
	assert_int_equal(samples(p, SPAN_WINDOW), fed);
	assert_int_equal(samples(p, SPAN_TOTAL), fed);
	assert_true(p->bound_bytes <= BOUND + 2048 * FRAMES);
	assert_int_equal(named(p, "work"), SLICES * 1000);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_screen),
		cmocka_unit_test(test_recent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
