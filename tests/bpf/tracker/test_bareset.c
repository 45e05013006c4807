// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Places of walks in code that nothing describes, and what they have in common. The frames are as
 * gdb shows them in the programs named.
 * Covers: bpf/tracker/bareset.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/prog/layout.h"
#include "bpf/tracker/bareset.h"

#define CODE   0x7f0000000000ull
#define BIT(n) (1ull << (n))

static struct bareset *set;
static struct code_constant found[CODE_CONSTANTS_MAX];

static int setup(void **state)
{
	(void)state;
	set = calloc(1, sizeof(*set));
	return set ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	free(set);
	return 0;
}

static void see(uint64_t pc, uint64_t words, unsigned int times)
{
	const struct bare_place place = {.pc = pc, .tgid = 1, .words = words, .ra = pc + 1000};

	while (times--)
		bareset_add(set, &place);
}

static void check_constant(unsigned int n, uint64_t start, uint64_t end, uint32_t word)
{
	assert_true(found[n].start == start);
	assert_true(found[n].end == end);
	assert_int_equal(found[n].word, word);
}

static void test_new(void **state)
{
	static uint64_t places[CODE_BARE_MAX];
	struct bare_place place = {.pc = CODE | BARE_EXACT, .tgid = 1, .words = BIT(3)};
	unsigned int again = 0;

	(void)state;
	assert_true(bareset_add(set, &place));
	assert_false(bareset_add(set, &place));
	/* as a return address it is another one */
	place.pc = CODE;
	assert_true(bareset_add(set, &place));
	/* from time to time there may be more to say */
	for (int i = 0; i < 40; i++)
		again += bareset_add(set, &place);
	assert_int_equal(again, 10);
	place.words = 0;
	for (int i = 0; i < 40; i++)
		assert_false(bareset_add(set, &place));
	assert_int_equal(bareset_places(set, places), 2);
	assert_true(places[0] + places[1] == 2 * CODE + BARE_EXACT);
	/* a row that is wrong again and again, while the code has not been read anew */
	place.pc |= BARE_STALE;
	for (int i = 0; i < 9; i++)
		assert_true(bareset_add(set, &place));
	/* and though the code was read each time */
	for (int i = 0; i < 3; i++) {
		set->readings++;
		assert_int_equal(bareset_places(set, places), 2);
		assert_true(places[0] + places[1] == 2 * CODE + BARE_EXACT);
		assert_true(bareset_add(set, &place));
	}
	assert_int_equal(bareset_places(set, places), 2);
	assert_true(places[0] + places[1] == 2 * CODE + BARE_EXACT + BARE_STALE);
	/* by now other code may be there, whose rows are tried as often */
	set->readings += 65;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(bareset_places(set, places), 2);
		assert_true(places[0] + places[1] == 2 * CODE + BARE_EXACT);
		set->readings++;
		assert_true(bareset_add(set, &place));
	}
	assert_int_equal(bareset_places(set, places), 2);
	assert_true(places[0] + places[1] == 2 * CODE + BARE_EXACT + BARE_STALE);
	/* written once as new */
	assert_int_equal(bareset_fresh(set, places), 0);
	bareset_add(set, &(struct bare_place){.pc = CODE + 64, .tgid = 1});
	assert_int_equal(bareset_fresh(set, places), 1);
	assert_int_equal(places[0], CODE + 64);
	assert_int_equal(bareset_fresh(set, places), 0);
}

/* A word left over by other calls is rare, however long the process runs. */
static void test_rare(void **state)
{
	(void)state;
	for (uint64_t i = 1; i < 6; i++)
		see(CODE + 0x40 * i, BIT(19), 6);
	for (int i = 0; i < 1000; i++) {
		see(CODE, BIT(19), 50);
		assert_int_equal(bareset_constants(set, found), 1);
		see(CODE, BIT(5), 1);
		assert_int_equal(bareset_constants(set, found), 1);
	}
}

/* More than there is room for: the oldest go. */
static void test_many(void **state)
{
	static uint64_t places[CODE_BARE_MAX];
	uint32_t n;

	(void)state;
	for (uint64_t i = 0; i < 4 * CODE_BARE_MAX; i++)
		see(CODE + 16 * i, 0, 1);
	n = bareset_places(set, places);
	assert_in_range(n, CODE_BARE_MAX * 9 / 10, CODE_BARE_MAX);
	for (uint64_t i = 4 * CODE_BARE_MAX - 100; i < 4 * CODE_BARE_MAX; i++) {
		const struct bare_place place = {.pc = CODE + 16 * i, .tgid = 1};

		assert_false(bareset_add(set, &place));
	}
}

/* PHP's traces: 19 words above SP, and nearer what another call has left over. */
static void test_left_over(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 6; i++) {
		see(CODE + 0x40 * i, BIT(19), 6);
		see(CODE + 0x40 * i, BIT(19) | BIT(5), 1);
		see(CODE + 0x40 * i, BIT(19) | BIT(3), 2);
	}
	assert_int_equal(bareset_constants(set, found), 1);
	check_constant(0, CODE - 1, CODE + 0x140, 19);
	assert_true(found[0].ras[0] == CODE + 1000);
}

/* LuaJIT's traces return to any of the functions that run them. */
static void test_callers(void **state)
{
	struct bare_place place = {.tgid = 1, .words = BIT(11)};

	(void)state;
	for (uint64_t i = 0; i < 24; i++) {
		place.pc = CODE + 0x10 * i;
		place.ra = CODE - 8 * (i / 5 % 4);
		assert_true(bareset_add(set, &place));
	}
	assert_int_equal(bareset_constants(set, found), 1);
	for (uint64_t i = 0; i < CODE_CALLERS_MAX; i++)
		assert_true(found[0].ras[i] == CODE - 8 * i);
}

/* Traces of LuaJIT have frames of their own; in Guile's code one place pushes a word more. */
static void test_frames(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 6; i++) {
		see((CODE + 0x40 * i) | BARE_EXACT, BIT(11) | BIT(29), 4);
		see((CODE + 0x1000 + 0x40 * i) | BARE_EXACT, BIT(15) | BIT(29), 4);
	}
	see((CODE + 0x50) | BARE_EXACT, BIT(12) | BIT(30), 1);
	assert_int_equal(bareset_constants(set, found), 3);
	check_constant(0, CODE, CODE + 0x41, 11);
	check_constant(1, CODE + 0x80, CODE + 0x141, 11);
	check_constant(2, CODE + 0x1000, CODE + 0x1141, 15);
}

/* The memory has other code, with another frame. */
static void test_reused(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 6; i++)
		see(CODE + 0x40 * i, BIT(11) | BIT(29), 10);
	for (uint64_t i = 0; i < 6; i++)
		see(CODE + 0x40 * i, BIT(15) | BIT(29), 10);
	assert_int_equal(bareset_constants(set, found), 1);
	check_constant(0, CODE - 1, CODE + 0x140, 15);
}

/* Few places, few times, none of the words at all: nothing is said. */
static void test_few(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 5; i++)
		see(CODE + 0x40 * i, BIT(11), 100);
	for (uint64_t i = 0; i < 7; i++) {
		see(CODE + 0x10000000 + 0x40 * i, BIT(12), 3);
		see(CODE + 0x20000000 + 0x40 * i, 0, 100);
		see(CODE + (i << 24), BIT(13), 100); /* far from each other */
	}
	assert_int_equal(bareset_constants(set, found), 0);
	/* one of many frames, as functions of their own have */
	for (uint64_t i = 0; i < 120; i++)
		see(CODE + 0x30000000 + 0x40 * i, BIT(i % 20), 10);
	assert_int_equal(bareset_constants(set, found), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(new),     TEST(rare),   TEST(many),   TEST(left_over),
		TEST(callers), TEST(frames), TEST(reused), TEST(few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
