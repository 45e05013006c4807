// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Malformed .sframe: a bad part costs itself and is counted, and all that a file can request has
 * bounds.
 * Covers: unwind/sframe.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/sframe_image.h"
#include "unwind/table.h"

/* Each bad function costs itself and is counted, and the function beside it is kept. */
static void test_bad_functions(void **state)
{
	struct fixture *f = *state;
	struct section *s = f->s;

	for (unsigned int version = 1; version <= 3; version++) {
		for (unsigned int kind = 0; kind < 9; kind++) {
			unsigned int count = kind == 0 ? 0x4000 : 2, block = 16;
			unsigned int info = kind == 1 ? 3 : ADDR1;

			one_good(s, version);
			if (kind == 2 || kind == 3)
				info |= MASK;
			if (kind == 2 && version > 1)
				block = 0;
			func(s, T + 0x200, 0x40, count, info, kind == 8 ? 2 : 0, block);
			row(s, ADDR1, kind == 4 ? 9 : 0, SP, kind == 5 ? 3 : 0, 1, 8);
			row(s, ADDR1, kind == 3 || (kind == 2 && version == 1) ? 16 : 8, SP, 0,
			    kind == 6	? 3
			    : kind == 7 ? 15
					: 1,
			    16, -16, 24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
			section_end(s);
			if (kind == 8 && version < 3)
				continue;
			assert_rows(f, 1, frame_at_100);
			assert_int_equal(f->table->nfdes, 2);
		}
	}
	/* Rows that lie outside, a start that wraps around. */
	one_good(s, 2);
	func(s, T + 0x200, 0x40, 1, ADDR1, 0, 0);
	section_end(s);
	assert_rows(f, 1, frame_at_100);
	one_good(s, 3);
	func(s, UINT64_MAX - 8, 0x40, 1, ADDR1, 0, 0);
	row(s, ADDR1, 0, SP, 0, 1, 8);
	section_end(s);
	assert_rows(f, 1, frame_at_100);
	/* Blocks of no length, and no rows. */
	one_good(s, 2);
	func(s, T + 0x200, 0x40, 0, MASK, 0, 0);
	section_end(s);
	assert_rows(f, 1, frame_at_100);
	/* Flexible ones: no register for the CFA, half a pair, a word too many. */
	for (unsigned int kind = 0; kind < 4; kind++) {
		one_good(s, 3);
		func(s, T + 0x200, 0x40, 1, ADDR1, FLEX, 0);
		if (kind == 0)
			row(s, ADDR1, 0, SP, 0, 2, CONTROL(0, 1, 0), 8);
		else if (kind == 1)
			row(s, ADDR1, 0, SP, 0, 1, CONTROL(7, 0, 1));
		else if (kind == 2)
			row(s, ADDR1, 0, SP, 0, 5, CONTROL(7, 0, 1), 8, 0, 0, 0);
		else
			row(s, ADDR1, 0, SP, 0, 4, CONTROL(7, 0, 1), 8, CONTROL(3, 0, 0), 8);
		section_end(s);
		assert_rows(f, 1, frame_at_100);
	}
}

/* Functions of no length, or at no address: not malformed, but without effect. */
static void test_empty_functions(void **state)
{
	struct fixture *f = *state;

	one_good(f->s, 2);
	func(f->s, T + 0x200, 0, 1, ADDR1, 0, 0);
	row(f->s, ADDR1, 0, SP, 0, 1, 8);
	func(f->s, T + 0x300, 0x10, 0, ADDR1, 0, 0);
	func(f->s, 0, 0x10, 1, ADDR1, 0, 0);
	row(f->s, ADDR1, 0, SP, 0, 1, 8);
	/* A row after the function's end has no effect. */
	func(f->s, T + 0x400, 0x10, 2, ADDR1, 0, 0);
	row(f->s, ADDR1, 2, SP, 0, 1, 8);
	row(f->s, ADDR1, 0x10, SP, 0, 1, 16);
	section_end(f->s);
	assert_rows(f, 0,
		    "10100\trsp+8\tu\tc-8\n"
		    "10101\trsp+16\tc-16\tc-8\n"
		    "10104\trbp+16\tc-16\tc-8\n"
		    "1011f\trsp+8\tu\tc-8\n"
		    "10120\tend\t-\t-\n"
		    "10402\trsp+8\tu\tc-8\n"
		    "10410\tend\t-\t-\n");
}

static void test_bad_header(void **state)
{
	struct fixture *f = *state;
	static const struct {
		unsigned int at, value;
		int err;
	} cases[] = {
		{0, 0, -EINVAL},  {1, 0, -EINVAL},    {2, 0, -ENOTSUP},	 {2, 4, -ENOTSUP},
		{4, 2, -ENOTSUP}, {4, 1, -ENOTSUP},   {7, 255, -EINVAL}, {10, 1, -EINVAL},
		{17, 1, -EINVAL}, {19, 255, -EINVAL}, {21, 9, -EINVAL},	 {23, 255, -EINVAL},
		{25, 9, -EINVAL}, {27, 255, -EINVAL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		one_good(f->s, 2);
		section_end(f->s);
		f->s->all[cases[i].at] = (unsigned char)cases[i].value;
		assert_int_equal(sframe_status(f), cases[i].err);
	}
	/* The other byte order, and a section cut short at any byte. */
	one_good(f->s, 2);
	section_end(f->s);
	f->s->all[0] = 0xde;
	f->s->all[1] = 0xe2;
	assert_int_equal(sframe_status(f), -ENOTSUP);
	for (unsigned int version = 1; version <= 3; version++) {
		one_good(f->s, version);
		section_end(f->s);
		while (f->s->size--)
			assert_int_equal(sframe_status(f), -EINVAL);
	}
}

/* Beside CFI, a section that cannot be used costs only a count. */
static void test_bad_beside_cfi(void **state)
{
	struct fixture *f = *state;

	cfi_cie(&f->cfi, "zR");
	cfi_fde(&f->cfi, T + 0x800, 0x10, "\x41\x0e\x10", 3);
	one_good(f->s, 2);
	section_end(f->s);
	f->s->all[2] = 9;
	assert_rows(f, 1,
		    "10800\trsp+8\tu\tc-8\n"
		    "10801\trsp+16\tu\tc-8\n"
		    "10810\tend\t-\t-\n");
	assert_int_equal(f->table->cfi_bytes, f->cfi.size);
}

/* Functions that all point to the same rows, the most work that a section can request. */
static void test_bounded(void **state)
{
	struct fixture *f = *state;
	struct section *s = f->s;

	section_begin(s, 2, 0);
	for (unsigned int i = 0; i < 3000; i++) {
		size_t rows = s->nfres_bytes;

		s->nfres_bytes = 0;
		func(s, T + 0x1000 * (uint64_t)i, 0x1000, 3000, ADDR2, 0, 0);
		s->nfres_bytes = rows;
	}
	for (unsigned int i = 0; i < 3000; i++)
		row(s, ADDR2, i, SP, 0, 1, 8 + 8 * (int)(i % 8));
	section_end(s);
	assert_int_equal(sframe_status(f), 0);
	assert_true(f->table->bad_fdes > 2000);
	assert_true(f->table->nrows > 3000);
	assert_true(f->table->nrows < 4096 + 4 * s->size);
	/* These count even where CFI has the addresses. */
	cfi_cie(&f->cfi, "zR");
	cfi_fde(&f->cfi, T, 0x1000000, "\x0e\x30", 2);
	assert_int_equal(sframe_status(f), 0);
	assert_true(f->table->bad_fdes > 2000);
	assert_int_equal(f->table->nrows, 1);
	/* One function that CFI cuts into many parts. */
	f->cfi.size = 0;
	cfi_cie(&f->cfi, "zR");
	for (unsigned int i = 0; i < 256; i++)
		cfi_fde(&f->cfi, T + 0x10 * i, 1, "\x0e\x30", 2);
	section_begin(s, 2, 0);
	func(s, T, 0x1000, 3000, ADDR2, 0, 0);
	for (unsigned int i = 0; i < 3000; i++)
		row(s, ADDR2, i, SP, 0, 1, 8 + 8 * (int)(i % 8));
	section_end(s);
	assert_int_equal(sframe_status(f), 0);
	assert_true(f->table->bad_fdes > 200 && f->table->bad_fdes < 256);
	f->cfi.size = 0;
	/* The same for blocks of one byte over 4 GiB; the good function is kept. */
	one_good(s, 2);
	func(s, T + 0x200, UINT32_MAX - T, 2, MASK, 0, 2);
	row(s, ADDR1, 0, SP, 0, 1, 8);
	row(s, ADDR1, 1, SP, 0, 1, 16);
	section_end(s);
	assert_rows(f, 1, frame_at_100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_bad_functions),  TEST(test_empty_functions), TEST(test_bad_header),
		TEST(test_bad_beside_cfi), TEST(test_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
