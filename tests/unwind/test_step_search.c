// SPDX-License-Identifier: GPL-2.0-or-later
/* build: -fno-sanitize=alignment */
/*
 * Both searches of the step at their edges: for the row of an address in a span, and for the entry
 * of an address in a process's list. The expected results come from a plain loop over a plain
 * array.
 *
 * The step reads words where the stack says, aligned or not, as BPF on x86 may.
 * Covers: unwind/step.h unwind/walk.h unwind/lookup.h
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/unwind/stepfake.h"

/* --- the search in a span -------------------------------------------------------------- */

#define SPAN_GRANULES 7u
#define SPAN_BYTES    (SPAN_GRANULES * 256u)

/*
 * Rows at both ends of granules, granules without rows, one with 255, one that begins with its own
 * row and one that does not. The CFA of row i is 8 * (i + 1), which identifies the row found.
 */
static uint32_t edge_rows(struct row *rows)
{
	static const uint32_t at[] = {0, 1, 0x10, 0xff, 0x200, 0x2fe, 0x2ff};
	uint32_t n = 0;

	for (; n < sizeof(at) / sizeof(at[0]); n++)
		rows[n].pc = at[n];
	for (uint32_t i = 0; i < 255; i++) /* granule 3; none in 1 and 4 */
		rows[n++].pc = 0x300 + i;
	rows[n++].pc = 0x501;
	rows[n++].pc = 0x580;
	rows[n++].pc = 0x600;
	for (uint32_t i = 0; i < n; i++)
		rows[i].rule = RULE_FRAME(ROW_SP, 8 * (i + 1), 0);
	return n;
}

static void check_span(uint32_t word, uint64_t start, const struct row *rows, uint32_t n)
{
	uint32_t row = 0;

	fake.nentries = 0;
	add_map(start, TEXT + SPAN_BYTES + 512, TEXT, word, MAP_META(MAP_CFI, SPAN_GRANULES));
	for (uint32_t pc = 0; pc < SPAN_BYTES + 512; pc++) {
		while (row + 1 < n && rows[row + 1].pc <= pc)
			row++;
		for (int exact = 0; exact < 2; exact++) {
			/* A return address after the byte, or the byte itself. */
			struct walk *w = begin(TEXT + pc + !exact, SP, 0, exact);
			int reason = walk_step(w);

			if (TEXT + pc < start) {
				assert_int_equal(reason, WALK_NO_MAPPING);
			} else if (pc >= SPAN_BYTES) {
				assert_int_equal(reason, WALK_NOT_COVERED);
			} else {
				assert_int_equal(reason, WALK_CONTINUE);
				assert_int_equal(w->sp, SP + 8 * (row + 1));
			}
		}
	}
}

static void test_search_in_span(void **state)
{
	static struct row rows[300];
	uint32_t n = edge_rows(rows), size;

	(void)state;
	size = put_block(0, SPAN_GRANULES, rows, n);
	assert_int_equal(size, 7 + 265);
	check_span(0, TEXT, rows, n);
	/* The words around a block belong to others and may be anything. */
	memset(host.shards[0], 0xff, SHARD_BYTES);
	put_block(1000, SPAN_GRANULES, rows, n);
	check_span(1000, TEXT, rows, n);
	memset(host.shards[1], 0, SHARD_BYTES);
	put_block(2 * SHARD_WORDS - size, SPAN_GRANULES, rows, n);
	check_span(2 * SHARD_WORDS - size, TEXT, rows, n);
	/* The mapping begins in the middle of the span. */
	put_block(SHARD_WORDS, SPAN_GRANULES, rows, n);
	check_span(SHARD_WORDS, TEXT + 0x2ff, rows, n);
}

/* A call that does not return is the last instruction: its return address belongs to the next. */
static void test_call_at_the_end(void **state)
{
	static const struct row rows[] = {
		{0, RULE_FRAME(ROW_SP, 64, 0)},
		{0x80, RULE_FRAME(ROW_SP, 8, 0)},
	};
	struct walk *w;

	(void)state;
	put_block(0, 1, rows, 2);
	add_map(TEXT, TEXT + 256, TEXT, 0, MAP_META(MAP_CFI, 1));
	w = begin(TEXT + 0x80, SP, FP, 0);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_int_equal(w->sp, SP + 64);
	assert_int_equal(w->frames[0], TEXT + 0x80); /* without FRAME_EXACT */
	w = begin(TEXT + 0x80, SP, FP, 1);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_int_equal(w->sp, SP + 8);
}

/* --- frames ---------------------------------------------------------------------------- */

#define NUMBER 0x2abcdefull /* of the object: 26 bits */
#define VADDR  0x800001000ull

/*
 * A frame in a mapped file is its object's number and the address in the file, in the layout of
 * unwind/walk.h; elsewhere it is the address. A walk with such an address belongs to its process
 * alone.
 */
static void test_frames(void **state)
{
	const struct row row = {0, RULE_FRAME(ROW_SP, 8, 0)};
	const uint64_t object = 1ull << 62 | NUMBER << 36;
	struct walk *w;

	(void)state;
	put_block(0, 1, &row, 1);
	fake.nentries = 0;
	add_map(TEXT, TEXT + 256, TEXT, 0, MAP_META(MAP_CFI, 1));
	add_map(TEXT + 0x1000, TEXT + 0x2000, 0, 0, MAP_META(MAP_NO_CFI, 0));
	host.entries[0].frame = FRAME_OF(NUMBER, TEXT - VADDR);
	store(SP, TEXT + 256); /* a call at the very end of the mapping */
	store(SP + 8, 0);
	w = begin(TEXT + 0x40, SP, FP, 1);
	assert_int_equal(host_walk(w), WALK_ZERO);
	assert_int_equal(w->nframes, 2);
	assert_true(w->frames[0] == (1ull << 63 | object | (VADDR + 0x40)));
	assert_true(w->frames[1] == (object | (VADDR + 256)));
	assert_false(w->own);
	assert_int_equal(FRAME_OBJECT(w->frames[0]), NUMBER);
	assert_true(FRAME_VADDR(w->frames[0]) == VADDR + 0x40);

	/* in anonymous memory, and unmapped: no number on a stack makes a frame of an object */
	store(SP, TEXT + 0x1040);
	store(SP + 8, ~0ull);
	w = begin(TEXT + 0x40, SP, FP, 1);
	assert_int_equal(host_walk(w), WALK_NO_FRAME_POINTER);
	assert_true(w->frames[1] == TEXT + 0x1040);
	assert_true(w->own);
	store(SP, 1ull << 62 | 1ull << 61 | 1ull << 36 | 0x40);
	w = begin(TEXT + 0x40, SP, FP, 1);
	assert_int_equal(host_walk(w), WALK_NO_MAPPING);
	assert_true(w->frames[1] == (1ull << 36 | 0x40));
	assert_true(w->own);
	assert_true(FRAME_IS_ADDRESS(w->frames[1]));
	assert_false(FRAME_IS_ADDRESS(w->frames[0]));
}

/* An entry that the kernel does not confirm counts as no mapping, with that reason. */
static void test_changed(void **state)
{
	struct walk *w;

	(void)state;
	put_rule(RULE_FRAME(ROW_SP, 8, 0));
	store(SP, 0);
	w = begin(TEXT + 0x40, SP, FP, 1);
	assert_int_equal(walk_search_map(w, TEXT + 0x40), 1);
	assert_int_equal(w->map_at, 0);
	walk_distrust(w);
	assert_int_equal(walk_search_map(w, TEXT + 0x1000), 0);
	assert_false(w->changed);
	assert_int_equal(walk_step(w), WALK_ZERO);
}

/* Where the process's list has no rule, rows of its own may have one, behind that list. */
static void test_code(void **state)
{
	static const uint32_t rules[] = {RULE_FRAME(ROW_SP, 8, 0), RULE_FRAME(ROW_SP, 16, 0)};

	(void)state;
	for (int i = 0; i < 8; i++) {
		const int covered = i & 1, code = i >> 1 & 1, file = i >> 2;
		const struct row row = {0, covered ? rules[0] : RULE(ROW_END, 0)};
		const struct row made = {0, rules[1]};
		struct walk *w;

		put_block(0, 1, &row, 1);
		put_block(64, 1, &made, 1);
		fake.nentries = 0;
		add_map(TEXT, TEXT + 256, TEXT, 0, MAP_META(MAP_CFI, 1));
		add_map(TEXT, TEXT + 128, TEXT, 64, MAP_META(MAP_CFI, 1));
		if (file)
			host.entries[0].frame = FRAME_OF(NUMBER, TEXT - VADDR);
		store(SP, TEXT + 0x81);
		store(SP + 8, TEXT + 0x82);
		w = begin(TEXT + 0x40, SP, FP, 1);
		w->list_count = 1;
		w->code_count = (uint32_t)code;
		if (!covered && !code) {
			assert_int_equal(walk_step(w), WALK_NOT_COVERED);
			continue;
		}
		assert_int_equal(walk_step(w), WALK_CONTINUE);
		assert_state(w, covered ? TEXT + 0x81 : TEXT + 0x82, SP + (covered ? 8 : 16), FP);
		assert_int_equal(w->list_count, 1);
		assert_true(FRAME_IS_ADDRESS(w->frames[0]) == !file);
		/* beyond what they cover there is none */
		w = begin(TEXT + 0x80, SP, 0, 1);
		w->list_count = 1;
		w->code_count = (uint32_t)code;
		assert_int_equal(walk_step(w), covered ? WALK_CONTINUE : WALK_NOT_COVERED);
		assert_int_equal(walk_covered(w, TEXT + 0x40), 1);
		assert_int_equal(walk_covered(w, TEXT + 0x80), covered);
	}
}

/* A mapping that begins within a span finds the same rows as the whole. */
static void test_part_of_a_span(void **state)
{
	const struct row rows[] = {{0, RULE(ROW_SP, 1)},
				   {0x140, RULE(ROW_SP, 2)},
				   {0x230, RULE(ROW_SP, 3)},
				   {0x350, RULE(ROW_SP, 4)}};

	(void)state;
	put_block(64, 4, rows, 4);
	for (uint64_t skip = 0; skip < 0x400; skip += 0x100) {
		fake.nentries = 0;
		add_map(TEXT + skip, TEXT + 0x400, TEXT, 64, MAP_META(MAP_CFI, 4));
		for (uint64_t at = skip; at < 0x400; at++) {
			struct walk *w = begin(TEXT + at, SP, FP, 1);

			assert_int_equal(walk_find_map(w, TEXT + at), 1);
			assert_int_equal(walk_find_rule(w, TEXT + at),
					 rows[(at >= 0x140) + (at >= 0x230) + (at >= 0x350)].rule);
		}
	}
}

/* --- the search in a list -------------------------------------------------------------- */

/* Every third entry is followed by the next without a gap. */
static uint64_t entry_start(uint32_t i)
{
	return 0x10000 + 0x3000ull * i;
}

static uint64_t entry_end(uint32_t i)
{
	return entry_start(i) + 0x1000 * (i % 3 + 1);
}

static void check_address(uint32_t at, uint32_t n, uint64_t addr, int expected)
{
	struct walk *w = begin(addr, SP, FP, 1);

	w->list_at = at;
	w->list_count = n;
	assert_int_equal(walk_find_map(w, addr), expected >= 0);
	if (expected >= 0)
		assert_int_equal(w->map.word, expected);
}

static void check_list(uint32_t at, uint32_t n)
{
	/* The neighbours, entries of other processes, would match every address. */
	for (uint32_t i = at > 10 ? at - 10 : 0; i < at + n + 10 && i < MAP_ENTRIES_MAX; i++)
		host.entries[i] = (struct map_entry){.end = ~0ull, .word = 0x123456};
	for (uint32_t i = 0; i < n; i++)
		host.entries[at + i] =
			(struct map_entry){entry_start(i), entry_end(i), 0, i, MAP_META(0, 1)};
	check_address(at, n, 0, -1);
	check_address(at, n, ~0ull, -1);
	check_address(at, n, entry_start(0) - 1, -1);
	for (uint32_t i = 0; i < n; i++) {
		check_address(at, n, entry_start(i), (int)i);
		check_address(at, n, entry_end(i) - 1, (int)i);
		check_address(at, n, entry_end(i), i % 3 == 2 && i + 1 < n ? (int)i + 1 : -1);
	}
}

static void test_search_in_list(void **state)
{
	static const uint32_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 63, 64, 65, 4095, 4096, MAP_LIST_MAX};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		check_list(0, sizes[i]);
		check_list(1000, sizes[i]);
		check_list(MAP_ENTRIES_MAX - sizes[i], sizes[i]);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(frames),	      TEST(changed),	     TEST(part_of_a_span),
		TEST(search_in_span), TEST(call_at_the_end), TEST(search_in_list),
		TEST(code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
