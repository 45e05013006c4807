// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A line table is read a sequence at a time, by what the beginning of one looks like. Here programs
 * are written whose rows the test knows, among them such as look like two sequences and are one.
 * Covers: symbols/dwarf/linetable.c symbols/dwarf/lineprogram.c symbols/dwarf/linefiles.c
 * Covers: symbols/base/leb128.h symbols/base/grow.h
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "symbols/dwarf/linetable.h"

#define LOW	  0x1000u
#define HIGH	  0x100000u
#define SEQUENCES 64u
#define ROWS	  40u
#define STEP	  4u /* bytes from row to row */
#define SPAN	  (ROWS * STEP)

struct writer {
	uint8_t bytes[65536];
	size_t length;
};

static void put(struct writer *w, const void *bytes, size_t count)
{
	assert_true(count <= sizeof(w->bytes) - w->length);
	memcpy(w->bytes + w->length, bytes, count);
	w->length += count;
}

#define PUT(w, ...) put((w), (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

/* DWARF 4, with the usual opcodes; lists: of folders and files. */
static void lists_write(struct writer *w, uint8_t line_range, const void *lists, size_t size)
{
	uint32_t length = 6 + 12 + (uint32_t)size;

	w->length = 0;
	PUT(w, 0, 0, 0, 0, 4, 0);
	put(w, &length, sizeof(length));
	PUT(w, 1, 1, 1, 0xfb, line_range, 13);
	PUT(w, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1);
	put(w, lists, size);
}

/* Two files, a.c and b.c. */
static void header_write(struct writer *w)
{
	static const uint8_t lists[] = "\0a.c\0\0\0\0b.c\0\0\0\0";

	lists_write(w, 14, lists, sizeof(lists));
}

static struct linetable *table_open(struct writer *w)
{
	struct linetable_source source = {.line = {.data = w->bytes, .size = w->length},
					  .dir = "/d",
					  .low = LOW,
					  .high = HIGH};
	uint32_t length = (uint32_t)w->length - 4;
	struct linetable *table;

	memcpy(w->bytes, &length, sizeof(length));
	assert_int_equal(linetable_new(&source, 0, &table), 0);
	return table;
}

static void address_write(struct writer *w, uint64_t address)
{
	PUT(w, 0, 9, 2);
	put(w, &address, sizeof(address));
}

/* One more line, STEP bytes on; discriminators and columns as compilers put them in between. */
static void row_write(struct writer *w, unsigned int i)
{
	if (i % 3 == 0)
		PUT(w, 5, (uint8_t)(i % 40));
	if (i % 5 == 0)
		PUT(w, 0, 2, 4, 9);
	PUT(w, 2, STEP, 3, 1, 1);
}

/* Lines first to first + ROWS - 1 from the address on. */
static void sequence_write(struct writer *w, uint64_t address, uint8_t first)
{
	PUT(w, 5, 7);
	address_write(w, address);
	PUT(w, 3, (uint8_t)(first - 1), 1);
	for (unsigned int i = 1; i < ROWS; i++)
		row_write(w, i);
	PUT(w, 2, STEP, 0, 1, 1);
}

static void check(struct linetable *table, uint64_t address, unsigned int line)
{
	unsigned int told = 0;
	uint64_t file;

	if (linetable_find(table, address, &file, &told) != (line > 0) || told != line)
		fail_msg("%#lx: line %u, not %u", (unsigned long)address, told, line);
	if (line)
		assert_string_equal(linetable_file(table, file), "/d/a.c");
}

/* Of the n-th sequence; they are not in order of addresses, with a gap behind each. */
static uint64_t start_of(unsigned int n)
{
	return LOW + (uint64_t)(n * 37 % SEQUENCES) * 2 * SPAN;
}

static void sequences_write(struct writer *w, unsigned int from, unsigned int to)
{
	for (unsigned int n = from; n < to; n++)
		sequence_write(w, start_of(n), (uint8_t)(n % 32 + 1));
}

static void sequences_check(struct linetable *table)
{
	for (unsigned int n = 0; n < SEQUENCES; n++)
		for (unsigned int at = 0; at < SPAN; at += 3)
			check(table, start_of(n) + at, n % 32 + 1 + at / STEP);
}

static void test_few_of_many(void **state)
{
	struct writer w;
	struct linetable *table;
	size_t before;

	(void)state;
	header_write(&w);
	sequences_write(&w, 0, SEQUENCES);
	table = table_open(&w);
	before = linetable_bytes(table);
	check(table, start_of(5) + 9, 6 + 9 / STEP);
	check(table, start_of(0) + SPAN - 1, ROWS);
	/* Two sequences of them and what is before each. */
	assert_true(linetable_bytes(table) - before < SEQUENCES * ROWS * 16 / 4);
	sequences_check(table);
	linetable_free(table);
}

static void test_gaps(void **state)
{
	struct writer w;
	struct linetable *table;

	(void)state;
	header_write(&w);
	sequences_write(&w, 0, SEQUENCES);
	table = table_open(&w);
	check(table, start_of(9), 10);
	check(table, start_of(9) + SPAN, 0);
	check(table, LOW - 1, 0);
	check(table, HIGH - 1, 0);
	sequences_check(table);
	linetable_free(table);
}

/*
 * A column of 0 and two rows look like the end of a sequence, when the address is set behind them.
 * What is behind is still in the same sequence, and counts lines on.
 */
static void test_no_end(void **state)
{
	static const uint64_t odd = LOW + SEQUENCES * 2 * SPAN;

	(void)state;
	for (int turn = 0; turn < 2; turn++) {
		struct linetable *table;
		struct writer w;

		header_write(&w);
		sequences_write(&w, 0, SEQUENCES / 2);
		address_write(&w, odd);
		PUT(&w, 3, 49, 1, 2, STEP, 3, 10, 5, 0, 1, 1);
		address_write(&w, odd + 100);
		PUT(&w, 3, 10, 1, 2, STEP, 0, 1, 1);
		sequences_write(&w, SEQUENCES / 2, SEQUENCES);
		table = table_open(&w);
		if (turn) {
			check(table, odd + 101, 70);
			check(table, odd + 1, 50);
		} else {
			check(table, odd + 1, 50);
			check(table, odd + 101, 70);
		}
		check(table, odd + 99, 60);
		sequences_check(table);
		linetable_free(table);
	}
}

/* The inner one wins where it is, and the outer one is known beyond. */
static void test_overlap(void **state)
{
	static const uint64_t outer = LOW + SEQUENCES * 2 * SPAN;
	struct linetable *table;
	struct writer w;

	(void)state;
	header_write(&w);
	sequences_write(&w, 0, SEQUENCES / 2);
	sequence_write(&w, outer, 1);
	address_write(&w, outer + 40);
	PUT(&w, 3, 49, 1, 2, 8, 0, 1, 1);
	sequences_write(&w, SEQUENCES / 2, SEQUENCES);
	table = table_open(&w);
	check(table, outer + 41, 50);
	check(table, outer + 39, 1 + 39 / STEP);
	check(table, outer + 48, 1 + 48 / STEP);
	sequences_check(table);
	linetable_free(table);
}

/* Files that the program of one sequence defines may be those of another. */
static void test_defined_file(void **state)
{
	static const uint64_t odd = LOW + SEQUENCES * 2 * SPAN;
	struct linetable *table;
	unsigned int line;
	struct writer w;
	uint64_t file;

	(void)state;
	header_write(&w);
	PUT(&w, 4, 3);
	address_write(&w, odd);
	PUT(&w, 3, 4, 1, 2, STEP, 0, 1, 1);
	sequences_write(&w, 0, SEQUENCES / 2);
	PUT(&w, 0, 8, 3, 'c', '.', 'h', 0, 0, 0, 0);
	sequences_write(&w, SEQUENCES / 2, SEQUENCES);
	table = table_open(&w);
	check(table, start_of(1), 2);
	assert_true(linetable_find(table, odd, &file, &line));
	assert_int_equal(line, 5);
	assert_string_equal(linetable_file(table, file), "/d/c.h");
	assert_null(linetable_file(table, 4));
	sequences_check(table);
	linetable_free(table);
}

/* What is before the break is known, wherever it is asked about first. */
static void test_broken(void **state)
{
	struct linetable *table;
	struct writer w;

	(void)state;
	header_write(&w);
	sequences_write(&w, 0, SEQUENCES / 2);
	PUT(&w, 5, 7);
	address_write(&w, LOW + SEQUENCES * 2 * SPAN);
	PUT(&w, 1, 3, 0x80);
	table = table_open(&w);
	check(table, LOW + SEQUENCES * 2 * SPAN, 0);
	for (unsigned int n = 0; n < SEQUENCES / 2; n++)
		check(table, start_of(n) + 5, n + 1 + 5 / STEP);
	linetable_free(table);
}

/* A special opcode by DWARF 4 section 6.2.5.1, of lines from -5 on, nine of them. */
static void special_write(struct writer *w, int lines, int bytes)
{
	PUT(w, (uint8_t)(lines + 5 + 9 * bytes + 13));
}

static void test_special_opcodes(void **state)
{
	static const uint8_t lists[] = "\0a.c\0\0\0";
	static const unsigned int lines[] = {1, 1, 1, 1, 4, 4, 2};
	struct linetable *table;
	struct writer w;

	(void)state;
	lists_write(&w, 9, lists, sizeof(lists));
	address_write(&w, LOW);
	PUT(&w, 1);
	special_write(&w, 3, 4);
	special_write(&w, -2, 2);
	PUT(&w, 8); /* as opcode 255, which would be 26 bytes */
	special_write(&w, 1, 0);
	PUT(&w, 2, STEP, 0, 1, 1);
	table = table_open(&w);
	for (unsigned int at = 0; at < 40; at++)
		check(table, LOW + at, at < 6 ? lines[at] : at < 32 ? 2 : at < 36 ? 3 : 0);
	linetable_free(table);
}

static void test_folders(void **state)
{
	static const uint8_t lists[] = "sub\0/abs\0\0a.c\0\1\0\0b.c\0\2\0\0c.c\0\0\0\0";
	struct linetable *table;
	struct writer w;

	(void)state;
	lists_write(&w, 14, lists, sizeof(lists));
	sequence_write(&w, LOW, 1);
	table = table_open(&w);
	assert_string_equal(linetable_file(table, 1), "/d/sub/a.c");
	assert_string_equal(linetable_file(table, 2), "/abs/b.c");
	assert_string_equal(linetable_file(table, 3), "/d/c.c");
	linetable_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_few_of_many),	cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_no_end),		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_defined_file),	cmocka_unit_test(test_broken),
		cmocka_unit_test(test_special_opcodes), cmocka_unit_test(test_folders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
