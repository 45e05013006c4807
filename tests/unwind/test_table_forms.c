// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One function written in every form of CFI: versions, lengths of 32 and 64 bits, pointer
 * encodings, both sections. All of them must give the same table. And the cost of a broken FDE:
 * itself.
 * Covers: unwind/table.c unwind/ehframe.c unwind/cfifile.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbols/elf/elffile.h"
#include "tests/support/tablerule.h"
#include "tests/support/tables.h"
#include "unwind/table.h"
#include "unwind/wide.h"

#define T    IMAGE_TEXT
#define FDES 16u

struct form {
	unsigned int version;
	bool dwarf64;
	bool debug_frame;
	unsigned int encoding; /* DW_EH_PE_* of .eh_frame */
};

static void build(struct fixture *f, bool debug_frame)
{
	f->options.text_size = 0x10000;
	f->options.debug_frame = debug_frame;
	assert_int_equal(build_status(f), 0);
}

/* --- forms --------------------------------------------------------------------------------- */

static size_t record_begin(struct cfi_bytes *b, const struct form *form)
{
	if (form->dwarf64) {
		cfi_u32(b, UINT32_MAX);
		cfi_u64(b, 0);
	} else {
		cfi_u32(b, 0);
	}
	return b->size;
}

static void record_end(struct cfi_bytes *b, const struct form *form, size_t body)
{
	uint64_t length = b->size - body;

	if (form->dwarf64)
		memcpy(b->data + body - 8, &length, 8);
	else
		memcpy(b->data + body - 4, &length, 4);
}

static void put_cie(struct cfi_bytes *b, const struct form *form)
{
	size_t body;

	b->cie = b->size;
	body = record_begin(b, form);
	if (!form->debug_frame)
		cfi_u32(b, 0);
	else if (form->dwarf64)
		cfi_u64(b, UINT64_MAX);
	else
		cfi_u32(b, UINT32_MAX);
	cfi_u8(b, form->version);
	cfi_put(b, form->debug_frame ? "" : "zR", form->debug_frame ? 1 : 3);
	if (form->version == 4) {
		cfi_u8(b, 8);
		cfi_u8(b, 0);
	}
	cfi_uleb(b, 1);
	cfi_u8(b, 0x78);
	if (form->version > 1)
		cfi_put(b, "\x90\x00", 2); /* column 16 as a two-byte LEB128 */
	else
		cfi_u8(b, 16);
	if (!form->debug_frame) {
		cfi_uleb(b, 1);
		cfi_u8(b, form->encoding);
	}
	cfi_put(b, "\x0c\x07\x08\x90\x01", 5);
	record_end(b, form, body);
}

static void put_pointer(struct cfi_bytes *b, unsigned int encoding, uint64_t value, bool is_range)
{
	if (!is_range && (encoding & 0x70) == 0x10)
		value -= IMAGE_CFI + b->size;
	switch (encoding & 0x0f) {
	case 0x01:
	case 0x09: /* signed and unsigned addresses look alike here, with a zero in front */
		for (int i = 0; i < 4; i++, value >>= 7)
			cfi_u8(b, (value & 0x7f) | 0x80);
		cfi_u8(b, value & 0x7f);
		break;
	case 0x03:
	case 0x0b:
		cfi_u32(b, (uint32_t)value);
		break;
	default:
		cfi_u64(b, value);
		break;
	}
}

/* push rbp at the start, pop at the end. */
static void put_fde(struct cfi_bytes *b, const struct form *form, uint64_t start, uint64_t range)
{
	size_t body = record_begin(b, form);

	if (!form->debug_frame)
		cfi_u32(b, (uint32_t)(b->size - b->cie));
	else if (form->dwarf64)
		cfi_u64(b, b->cie);
	else
		cfi_u32(b, (uint32_t)b->cie);
	put_pointer(b, form->encoding, start, false);
	put_pointer(b, form->encoding, range, true);
	if (!form->debug_frame)
		cfi_uleb(b, 0);
	cfi_put(b, "\x41\x0e\x10\x86\x02\x5f\x0e\x08\xc6", 9);
	record_end(b, form, body);
}

static void check_form(struct fixture *f, const struct form *form)
{
	f->cfi.size = 0;
	put_cie(&f->cfi, form);
	/* the later function first */
	put_fde(&f->cfi, form, T + 0x1000, 0x20);
	put_fde(&f->cfi, form, T + 0x100, 0x30);
	build(f, form->debug_frame);
	assert_int_equal(f->table->bad_fdes, 0);
	assert_int_equal(f->table->nfdes, 2);
	assert_dump(f, "10100\trsp+8\tu\tc-8\n10101\trsp+16\tc-16\tc-8\n"
		       "10120\trsp+8\tu\tc-8\n10130\tend\t-\t-\n"
		       "11000\trsp+8\tu\tc-8\n11001\trsp+16\tc-16\tc-8\n11020\tend\t-\t-\n");
}

static void test_versions(void **state)
{
	static const unsigned int versions[] = {1, 3, 4};

	for (int i = 0; i < 3; i++)
		for (int bits = 0; bits < 4; bits++) {
			struct form form = {.version = versions[i],
					    .dwarf64 = bits & 1,
					    .debug_frame = bits & 2,
					    .encoding = bits & 2 ? 0 : 0x1b};

			check_form(*state, &form);
		}
}

static void test_encodings(void **state)
{
	/* absolute, LEB128, 4 and 8 bytes, relative to themselves, to a GOT at 0 */
	static const unsigned int encodings[] = {0x00, 0x01, 0x03, 0x04, 0x08, 0x09, 0x0b, 0x0c,
						 0x10, 0x1b, 0x1c, 0x3b, 0x3c, 0x33, 0x30};

	for (size_t i = 0; i < sizeof(encodings) / sizeof(encodings[0]); i++)
		for (int dwarf64 = 0; dwarf64 < 2; dwarf64++) {
			struct form form = {
				.version = 1, .dwarf64 = dwarf64, .encoding = encodings[i]};

			check_form(*state, &form);
		}
}

/* The target of an indirect pointer is not in the file: that costs only its functions. */
static void test_indirect(void **state)
{
	static const struct form indirect = {.version = 1, .encoding = 0x9b};
	static const struct form plain = {.version = 1, .encoding = 0x1b};
	struct fixture *f = *state;

	put_cie(&f->cfi, &indirect);
	put_fde(&f->cfi, &indirect, T + 0x100, 0x20);
	put_cie(&f->cfi, &plain);
	put_fde(&f->cfi, &plain, T + 0x200, 0x20);
	build(f, false);
	assert_int_equal(f->table->bad_fdes, 1);
	assert_dump(f, "10200\trsp+8\tu\tc-8\n10201\trsp+16\tc-16\tc-8\n10220\tend\t-\t-\n");
}

/* --- the PLT ------------------------------------------------------------------------------- */

/* Every threshold, as lit and as const1u, at every byte of two stubs: DWARF's own arithmetic. */
static void test_plt(void **state)
{
	struct fixture *f = *state;

	for (unsigned int threshold = 0; threshold < 32; threshold++) {
		bool lit = threshold < 16;
		unsigned int n = threshold & 15;

		f->cfi.size = 0;
		cfi_cie(&f->cfi, "zR");
		cfi_fde_begin(&f->cfi, T + 0x20, 0x20);
		cfi_put(&f->cfi,
			lit ? "\x0f\x0b\x77\x08\x80\x00\x3f\x1a"
			    : "\x0f\x0c\x77\x08\x80\x00\x3f\x1a",
			8);
		if (!lit)
			cfi_u8(&f->cfi, 0x08);
		cfi_u8(&f->cfi, lit ? 0x30 + n : n);
		cfi_put(&f->cfi, "\x2a\x33\x24\x22", 4);
		cfi_end(&f->cfi);
		build(f, false);
		for (uint64_t pc = T + 0x20; pc < T + 0x40; pc++) {
			uint32_t rule = unwind_table_rule(f->table, pc);
			uint64_t ours = 8 + (pc % 16 >= RULE_PAYLOAD(rule) ? 8 : 0);

			assert_int_equal(RULE_KIND(rule), ROW_PLT);
			assert_int_equal(ours, 8 + ((uint64_t)((pc & 15) >= n) << 3));
		}
	}
}

/* --- broken -------------------------------------------------------------------------------- */

/* Offsets of the FDEs' records. */
static void put_many(struct fixture *f, size_t at[FDES])
{
	static const struct form form = {.version = 1, .encoding = 0x1b};

	f->cfi.size = 0;
	put_cie(&f->cfi, &form);
	for (unsigned int i = 0; i < FDES; i++) {
		at[i] = f->cfi.size;
		put_fde(&f->cfi, &form, T + 0x40 * i, 0x30);
	}
}

/*
 * Each FDE in turn, with each of its bytes after the length wrong in several ways: all other
 * functions keep all their rows, except for addresses that the wrong one then claims.
 */
static void test_broken_bytes(void **state)
{
	static const unsigned char values[] = {0x00, 0x3f, 0x7f, 0x80, 0xff};
	struct fixture *f = *state;
	uint32_t good[FDES * 0x40];
	size_t at[FDES], counted = 0;

	put_many(f, at);
	build(f, false);
	for (unsigned int pc = 0; pc < FDES * 0x40; pc++)
		good[pc] = unwind_table_rule(f->table, T + pc);
	for (unsigned int i = 0; i < FDES; i++)
		for (size_t byte = 4; byte < 26; byte++)
			for (size_t v = 0; v < sizeof(values); v++) {
				bool address = byte >= 8 && byte < 16;

				put_many(f, at);
				if (f->cfi.data[at[i] + byte] == values[v])
					continue;
				f->cfi.data[at[i] + byte] = values[v];
				build(f, false);
				assert_true(f->table->bad_fdes <= 1);
				counted += f->table->bad_fdes;
				for (unsigned int pc = 0; pc < FDES * 0x40 && !address; pc++)
					if (pc / 0x40 != i)
						assert_int_equal(
							unwind_table_rule(f->table, T + pc),
							good[pc]);
			}
	/* at least each wrong pointer to a CIE */
	assert_true(counted > FDES * 4);
}

/* Errors that are sure to be noticed: one FDE less, one counted, all others complete. */
static void test_broken_one(void **state)
{
	static const struct {
		size_t byte;
		const char *bytes;
		size_t n;
	} ways[] = {
		{4, "\xf0\xff\xff\x7f", 4}, /* a CIE out of the section */
		{4, "\x01\x00\x00\x00", 4}, /* to no CIE */
		{16, "\x7f", 1},	    /* augmentation data beyond the record's end */
		{17, "\x3f", 1},	    /* an unknown instruction */
		{17, "\x0b", 1},	    /* restores a state that was not saved */
		{23, "\x0e\xff\xff", 3},    /* an operand that does not end */
	};
	struct fixture *f = *state;
	size_t at[FDES];

	for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++)
		for (unsigned int i = 0; i < FDES; i++) {
			put_many(f, at);
			memcpy(f->cfi.data + at[i] + ways[w].byte, ways[w].bytes, ways[w].n);
			build(f, false);
			assert_int_equal(f->table->bad_fdes, 1);
			assert_int_equal(f->table->nfdes, FDES);
			for (unsigned int k = 0; k < FDES; k++) {
				uint32_t inside = unwind_table_rule(f->table, T + 0x40 * k + 0x28);

				assert_int_equal(RULE_KIND(inside), k == i ? ROW_END : ROW_SP);
			}
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_versions, tables_setup, tables_teardown),
		cmocka_unit_test_setup_teardown(test_encodings, tables_setup, tables_teardown),
		cmocka_unit_test_setup_teardown(test_indirect, tables_setup, tables_teardown),
		cmocka_unit_test_setup_teardown(test_plt, tables_setup, tables_teardown),
		cmocka_unit_test_setup_teardown(test_broken_bytes, tables_setup, tables_teardown),
		cmocka_unit_test_setup_teardown(test_broken_one, tables_setup, tables_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
