/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Labels of Ruby with the class of their method, and tables of lines: each word of functions of
 * many sizes, and tables that are cut or lie.
 * Covers: symbols/runtime/ruby_code.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/runtime/ruby_code.h"
#include "symbols/runtime/ruby_layout.h"

static void check_label(const char *label, const char *scope, char separator, const char *expected)
{
	char got[64];

	ruby_label(label, strlen(label), scope, strlen(scope), separator, got, sizeof(got));
	assert_string_equal(got, expected);
}

static void labels_have_the_class(void **state)
{
	char small[8];

	(void)state;
	check_label("foo", "A::B", '#', "A::B#foo");
	check_label("foo", "A", '.', "A.foo");
	check_label("foo", "", '#', "foo");
	check_label("block (2 levels) in foo", "A", '#', "block (2 levels) in A#foo");
	check_label("rescue in block in foo", "A", '#', "rescue in block in A#foo");
	check_label("block in <class:A>", "A", '#', "block in <class:A>");
	check_label("<main>", "Object", '#', "<main>");
	check_label("<=>", "A", '#', "A#<=>");
	check_label("<", "A", '#', "A#<");
	check_label("", "A", '#', "");
	assert_int_equal(ruby_label("block in foo", 12, "Long", 4, '#', small, sizeof(small)), 7);
	assert_string_equal(small, "block i");
}

struct made { /* a table, as ruby_read_lines of ruby.bpf.h makes it */
	uint8_t bytes[65536];
	size_t size;
	uint32_t lines[4096]; /* of each word */
};

/* As succ_index_table_create of Ruby's iseq.c does. */
static void make(struct made *m, uint32_t words)
{
	struct ruby_lines head = {RUBY_INDEX_BYTES(words), 0};
	uint8_t *index = m->bytes + sizeof(head);
	uint32_t rank = 0;

	memset(m->bytes, 0, sizeof(m->bytes));
	for (uint32_t i = 0; i < words; i++) {
		const bool begins = !i || rand() % 3 == 0;
		uint32_t *entry;

		if (begins)
			rank++;
		entry = (uint32_t *)(void *)(index + head.index + (rank - 1) * RUBY_LINE_ENTRY);
		if (begins)
			*entry = 1 + (uint32_t)rand() % 500;
		m->lines[i] = *entry;
		if (i < RUBY_INDEX_IMMEDIATE) {
			*(uint64_t *)(void *)(index + i / 9 * 8) |= (uint64_t)rank << i % 9 * 7;
		} else {
			const uint32_t bit = (i - RUBY_INDEX_IMMEDIATE) % RUBY_INDEX_BLOCK;
			uint8_t *block = index + RUBY_INDEX_HEAD +
					 (i - RUBY_INDEX_IMMEDIATE) / RUBY_INDEX_BLOCK *
						 RUBY_INDEX_BLOCK_SIZE;

			if (!bit)
				*(uint32_t *)(void *)block = rank - begins;
			if (bit && bit % 64 == 0)
				*(uint64_t *)(void *)(block + 8) |=
					(uint64_t)(rank - begins - *(uint32_t *)(void *)block)
					<< (bit / 64 - 1) * 9;
			if (begins)
				*(uint64_t *)(void *)(block + 16 + bit / 64 * 8) |= 1ull
										    << bit % 64;
		}
	}
	head.count = rank;
	memcpy(m->bytes, &head, sizeof(head));
	m->size = sizeof(head) + head.index + (size_t)rank * RUBY_LINE_ENTRY;
}

static void each_word_has_its_line(void **state)
{
	static const uint32_t sizes[] = {1, 2, 9, 10, 53, 54, 55, 118, 565, 566, 567, 1100, 4000};
	static struct made m;

	(void)state;
	srand(7);
	for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
		make(&m, sizes[s]);
		assert_int_equal(ruby_line(m.bytes, m.size, 0), m.lines[0]);
		for (uint32_t i = 0; i < sizes[s]; i++)
			assert_int_equal(ruby_line(m.bytes, m.size, i + 1), m.lines[i]);
		assert_int_equal(ruby_line(m.bytes, m.size, RUBY_NO_PLACE), 0);
	}
}

static void cut_tables_have_no_lines(void **state)
{
	static struct made m;

	(void)state;
	make(&m, 700);
	for (size_t size = 0; size <= m.size; size++) {
		uint8_t *copy = malloc(size + 1); /* for the sanitizer */

		assert_non_null(copy);
		memcpy(copy, m.bytes, size);
		for (uint32_t i = 0; i < 700; i += 13) {
			const unsigned int line = ruby_line(copy, size, i + 1);

			assert_true(!line || line == m.lines[i]);
		}
		assert_int_equal(ruby_line(copy, size, 1u << 30), 0);
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels_have_the_class),
		cmocka_unit_test(each_word_has_its_line),
		cmocka_unit_test(cut_tables_have_no_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
