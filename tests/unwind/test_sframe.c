// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * .sframe as a source of rows: the contents of each version, and its use beside CFI, a PLT and
 * functions that overlap.
 * Covers: unwind/sframe.c unwind/funcs.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/sframe_image.h"
#include "tests/support/tablerule.h"
#include "unwind/arch.h"
#include "unwind/funcs.h"
#include "unwind/table.h"
#include "unwind/wide.h"

/* --- the contents of each version ---------------------------------------------------------- */

/* The rows of version 1 and 2, in each size of address and offset. */
static void test_rows(void **state)
{
	struct fixture *f = *state;

	for (unsigned int version = 1; version <= 3; version++)
		for (unsigned int addr = ADDR1; addr <= ADDR4; addr++)
			for (unsigned int words = 0; words <= 2; words++) {
				section_begin(f->s, version, SORTED);
				f->s->aux = words * 3;
				func(f->s, T + 0x100, 0x20, 4, addr, 0, 0);
				prologue(f->s, addr, words);
				section_end(f->s);
				assert_rows(f, 0, frame_at_100);
				assert_int_equal(f->table->cfi_bytes, f->s->size);
				assert_int_equal(f->table->nfdes, 1);
			}
}

/* Starts are relative to the section; with the flag of version 2's errata to their own field. */
static void test_starts(void **state)
{
	struct fixture *f = *state;

	for (unsigned int version = 1; version <= 3; version++)
		for (unsigned int flags = 0; flags <= PCREL; flags += PCREL) {
			if (version == 1 && flags)
				continue;
			section_begin(f->s, version, flags);
			f->s->aux = 5;
			func(f->s, T + 0x40, 0x10, 1, ADDR1, 0, 0);
			row(f->s, ADDR1, 0, SP, 0, 1, 24);
			func(f->s, T + 0x100, 0x20, 4, ADDR1, 0, 0);
			prologue(f->s, ADDR1, 0);
			section_end(f->s);
			assert_rows(f, 0,
				    "10040\trsp+24\tu\tc-8\n"
				    "10050\tend\t-\t-\n"
				    "10100\trsp+8\tu\tc-8\n"
				    "10101\trsp+16\tc-16\tc-8\n"
				    "10104\trbp+16\tc-16\tc-8\n"
				    "1011f\trsp+8\tu\tc-8\n"
				    "10120\tend\t-\t-\n");
		}
	/* Version 1 has no such flag and ignores the bit. */
	section_begin(f->s, 1, 0);
	func(f->s, T + 0x100, 0x20, 4, ADDR1, 0, 0);
	prologue(f->s, ADDR1, 0);
	f->s->flags = PCREL;
	section_end(f->s);
	assert_rows(f, 0, frame_at_100);
}

static void test_large(void **state)
{
	struct fixture *f = *state;

	section_begin(f->s, 2, 0);
	func(f->s, T + 0x1000, 0x300000, 3, ADDR4, 0, 0);
	row(f->s, ADDR4, 0, SP, 0, 1, 8);
	row(f->s, ADDR4, 0x12345, SP, 2, 2, 1048576, -16);
	row(f->s, ADDR4, 0x212345, SP, 1, 2, 32752, -32);
	section_end(f->s);
	assert_rows(f, 0,
		    "11000\trsp+8\tu\tc-8\n"
		    "23345\trsp+1048576\tc-16\tc-8\n"
		    "223345\trsp+32752\tc-32\tc-8\n"
		    "311000\tend\t-\t-\n");
}

/* Blocks that repeat: PLT stubs become the one rule for them, others become rows. */
static void test_masks(void **state)
{
	struct fixture *f = *state;

	for (unsigned int version = 1; version <= 3; version++) {
		section_begin(f->s, version, 0);
		func(f->s, T + 0x100, 0x40, 2, MASK, 0, 16);
		row(f->s, ADDR1, 0, SP, 0, 1, 8);
		row(f->s, ADDR1, 11, SP, 0, 1, 16);
		func(f->s, T + 0x140, 0x20, 1, MASK, 0, 16);
		row(f->s, ADDR1, 0, SP, 0, 1, 8);
		section_end(f->s);
		assert_rows(f, 0,
			    "10100\tplt\tu\tc-8\n"
			    "10140\trsp+8\tu\tc-8\n"
			    "10160\tend\t-\t-\n");
		assert_int_equal(unwind_table_rule(f->table, T + 0x100), RULE(ROW_PLT, 11));
	}
	section_begin(f->s, 2, 0);
	func(f->s, T + 0x102, 0x0d, 2, MASK, 0, 6);
	row(f->s, ADDR1, 0, SP, 0, 1, 8);
	row(f->s, ADDR1, 4, SP, 0, 1, 16);
	section_end(f->s);
	assert_rows(f, 0,
		    "10102\trsp+8\tu\tc-8\n"
		    "10106\trsp+16\tu\tc-8\n"
		    "10108\trsp+8\tu\tc-8\n"
		    "1010c\trsp+16\tu\tc-8\n"
		    "1010e\trsp+8\tu\tc-8\n"
		    "1010f\tend\t-\t-\n");
	/* CFI in the middle of a block. */
	cfi_cie(&f->cfi, "zR");
	cfi_fde(&f->cfi, T + 0x109, 2, "\x0e\x30", 2);
	assert_rows(f, 0,
		    "10102\trsp+8\tu\tc-8\n"
		    "10106\trsp+16\tu\tc-8\n"
		    "10108\trsp+8\tu\tc-8\n"
		    "10109\trsp+48\tu\tc-8\n"
		    "1010b\trsp+8\tu\tc-8\n"
		    "1010c\trsp+16\tu\tc-8\n"
		    "1010e\trsp+8\tu\tc-8\n"
		    "1010f\tend\t-\t-\n");
	f->cfi.size = 0;
	/* Like a PLT's, but at another place: the table's rule depends on the address. */
	section_begin(f->s, 2, 0);
	func(f->s, T + 0x104, 0x18, 2, MASK, 0, 16);
	row(f->s, ADDR1, 0, SP, 0, 1, 8);
	row(f->s, ADDR1, 11, SP, 0, 1, 16);
	section_end(f->s);
	assert_rows(f, 0,
		    "10104\trsp+8\tu\tc-8\n"
		    "1010f\trsp+16\tu\tc-8\n"
		    "10114\trsp+8\tu\tc-8\n"
		    "1011c\tend\t-\t-\n");
}

/* A row without offsets has no caller; version 1 has no such rows. */
static void test_outermost(void **state)
{
	struct fixture *f = *state;

	for (unsigned int version = 1; version <= 3; version++) {
		section_begin(f->s, version, 0);
		func(f->s, T + 0x100, 0x20, 2, ADDR1, 0, 0);
		row(f->s, ADDR1, 0, SP, 0, 0);
		row(f->s, ADDR1, 4, SP, 0, 1, 16);
		section_end(f->s);
		if (version == 1) {
			assert_rows(f, 1, "");
			continue;
		}
		assert_rows(f, 0,
			    "10100\texpr\t-\tu\n"
			    "10104\trsp+16\tu\tc-8\n"
			    "10120\tend\t-\t-\n");
	}
}

static void test_fixed(void **state)
{
	struct fixture *f = *state;

	section_begin(f->s, 2, 0);
	f->s->fixed_fp = -16;
	func(f->s, T + 0x100, 0x20, 1, ADDR1, 0, 0);
	row(f->s, ADDR1, 0, FP, 0, 1, 16);
	section_end(f->s);
	assert_rows(f, 0, "10100\trbp+16\tc-16\tc-8\n10120\tend\t-\t-\n");

	section_begin(f->s, 2, 0);
	f->s->fixed_ra = 0;
	func(f->s, T + 0x100, 0x20, 2, ADDR1, 0, 0);
	row(f->s, ADDR1, 0, SP, 0, 2, 32, -8);
	row(f->s, ADDR1, 8, SP, 0, 3, 32, -16, -24);
	/* There is no return address. */
	func(f->s, T + 0x200, 0x20, 1, ADDR1, 0, 0);
	row(f->s, ADDR1, 0, SP, 0, 1, 32);
	section_end(f->s);
	assert_rows(f, 1,
		    "10100\trsp+32\tu\tc-8\n"
		    "10108\trsp+32\tc-24\tc-16\n"
		    "10120\tend\t-\t-\n");
}

static const struct wide_rule *wide_at(const struct fixture *f, uint64_t addr)
{
	uint32_t rule = unwind_table_rule(f->table, addr);
	unsigned int count;

	assert_int_equal(RULE_KIND(rule), ROW_WIDE);
	return &wide_rules_all(f->wide, &count)[RULE_PAYLOAD(rule)];
}

/* Version 3: a realigned frame, with its CFA in r10 and then on the stack, as GCC makes it. */
static void test_flexible(void **state)
{
	struct fixture *f = *state;
	const struct wide_rule *w;

	section_begin(f->s, 3, PCREL);
	func(f->s, T + 0x100, 0x80, 6, ADDR1, FLEX, 0);
	row(f->s, ADDR1, 0, SP, 0, 2, CONTROL(7, 0, 1), 8);
	row(f->s, ADDR1, 5, SP, 0, 2, CONTROL(10, 0, 1), 0);
	row(f->s, ADDR1, 0x10, SP, 0, 5, CONTROL(10, 0, 1), 0, 0, CONTROL(6, 1, 1), 0);
	row(f->s, ADDR1, 0x14, SP, 0, 5, CONTROL(6, 1, 1), -8, 0, CONTROL(6, 1, 1), 0);
	/* Both spelled out; the return address in a register. */
	row(f->s, ADDR1, 0x40, SP, 1, 6, CONTROL(7, 0, 1), 400, CONTROL(0, 1, 0), -8,
	    CONTROL(0, 1, 0), -16);
	row(f->s, ADDR1, 0x50, SP, 0, 4, CONTROL(7, 0, 1), 0, CONTROL(5, 0, 1), 0);
	section_end(f->s);
	assert_int_equal(sframe_status(f), 0);
	assert_int_equal(f->table->bad_fdes, 0);
	assert_int_equal(unwind_table_rule(f->table, T + 0x100), RULE_FRAME(ROW_SP, 8, 0));
	w = wide_at(f, T + 0x105);
	assert_int_equal(w->cfa_kind, WIDE_CFA_REG);
	assert_int_equal(w->cfa_reg, DWARF_R10);
	assert_int_equal(w->cfa_off, 0);
	assert_int_equal(w->fp_kind, WIDE_SAME);
	assert_int_equal(w->ra_kind, WIDE_AT_CFA);
	assert_int_equal(w->ra_off, -8);
	w = wide_at(f, T + 0x110);
	assert_int_equal(w->cfa_reg, DWARF_R10);
	assert_int_equal(w->fp_kind, WIDE_AT_REG);
	assert_int_equal(w->fp_reg, DWARF_RBP);
	assert_int_equal(w->fp_off, 0);
	w = wide_at(f, T + 0x13f);
	assert_int_equal(w->cfa_kind, WIDE_CFA_DEREF);
	assert_int_equal(w->cfa_reg, DWARF_RBP);
	assert_int_equal(w->cfa_off, -8);
	assert_int_equal(w->cfa_add, 0);
	assert_int_equal(w->fp_kind, WIDE_AT_REG);
	assert_int_equal(w->ra_kind, WIDE_AT_CFA);
	assert_int_equal(unwind_table_rule(f->table, T + 0x140), RULE_FRAME(ROW_SP, 400, 16));
	w = wide_at(f, T + 0x150);
	assert_int_equal(w->ra_kind, WIDE_IN_REG);
	assert_int_equal(w->ra_reg, DWARF_RDI);
}

static void test_signal(void **state)
{
	struct fixture *f = *state;

	section_begin(f->s, 3, 0);
	func(f->s, T + 0x100, 0x10, 1, 0x80 | ADDR1, 0, 0);
	row(f->s, ADDR1, 0, SP, 0, 1, 16);
	section_end(f->s);
	assert_int_equal(sframe_status(f), 0);
	assert_int_equal(wide_at(f, T + 0x100)->flags & WIDE_SIGNAL, WIDE_SIGNAL);
	assert_int_equal(wide_at(f, T + 0x100)->cfa_off, 16);
	/* In version 2 the bit belongs to another architecture. */
	section_begin(f->s, 2, 0);
	func(f->s, T + 0x100, 0x10, 1, 0x80 | ADDR1, 0, 0);
	row(f->s, ADDR1, 0, SP, 0, 1, 16);
	section_end(f->s);
	assert_rows(f, 0, "10100\trsp+16\tu\tc-8\n10110\tend\t-\t-\n");
}

/* --- beside other sources -------------------------------------------------------------------- */

/* CFI first, pc by pc; with a gap between two of its functions within one of .sframe. */
static void test_cfi_first(void **state)
{
	struct fixture *f = *state;

	cfi_cie(&f->cfi, "zR");
	cfi_fde(&f->cfi, T + 0x0f0, 0x20, "\x0e\x30", 2);
	cfi_fde(&f->cfi, T + 0x120, 0x08, "\x0e\x38", 2);
	cfi_fde(&f->cfi, T + 0x1f8, 0x10, "\x0e\x40", 2);
	/* Overlapped by its neighbour, which ends before it: CFI covers nothing after that. */
	cfi_fde(&f->cfi, T + 0x300, 0x180, "\x0e\x48", 2);
	cfi_fde(&f->cfi, T + 0x310, 0x10, "\x0e\x50", 2);
	section_begin(f->s, 1, 0);
	func(f->s, T + 0x100, 0x100, 3, ADDR1, 0, 0);
	row(f->s, ADDR1, 0, SP, 0, 1, 8);
	row(f->s, ADDR1, 0x18, SP, 0, 1, 16);
	row(f->s, ADDR1, 0x24, SP, 0, 1, 24);
	func(f->s, T + 0x200, 0x20, 1, ADDR1, 0, 0);
	row(f->s, ADDR1, 0, FP, 0, 2, 16, -16);
	func(f->s, T + 0x300, 0x100, 1, ADDR1, 0, 0);
	row(f->s, ADDR1, 0, SP, 0, 1, 8);
	section_end(f->s);
	assert_rows(f, 0,
		    "100f0\trsp+48\tu\tc-8\n"
		    "10110\trsp+8\tu\tc-8\n"
		    "10118\trsp+16\tu\tc-8\n"
		    "10120\trsp+56\tu\tc-8\n"
		    "10128\trsp+24\tu\tc-8\n"
		    "101f8\trsp+64\tu\tc-8\n"
		    "10208\trbp+16\tc-16\tc-8\n"
		    "10220\tend\t-\t-\n"
		    "10300\trsp+72\tu\tc-8\n"
		    "10310\trsp+80\tu\tc-8\n"
		    "10320\trsp+8\tu\tc-8\n"
		    "10400\tend\t-\t-\n");
	assert_int_equal(f->table->cfi_bytes, f->cfi.size + f->s->size);
}

/* CFI covers all of it: the section is not used. */
static void test_nothing_added(void **state)
{
	struct fixture *f = *state;

	cfi_cie(&f->cfi, "zR");
	cfi_fde(&f->cfi, T + 0x100, 0x20, "\x0e\x30", 2);
	one_good(f->s, 1);
	section_end(f->s);
	assert_rows(f, 0, "10100\trsp+48\tu\tc-8\n10120\tend\t-\t-\n");
	assert_int_equal(f->table->cfi_bytes, f->cfi.size);
}

/* Several functions that overlap, as in .eh_frame. */
static void test_overlap(void **state)
{
	struct fixture *f = *state;

	section_begin(f->s, 2, 0);
	func(f->s, T + 0x110, 0x08, 1, ADDR1, 0, 0);
	row(f->s, ADDR1, 0, SP, 0, 1, 24);
	func(f->s, T + 0x100, 0x40, 1, ADDR1, 0, 0);
	row(f->s, ADDR1, 0, SP, 0, 1, 16);
	func(f->s, T + 0x100, 0x40, 1, ADDR1, 0, 0);
	row(f->s, ADDR1, 0, SP, 0, 1, 32);
	section_end(f->s);
	assert_rows(f, 0,
		    "10100\trsp+16\tu\tc-8\n"
		    "10110\trsp+24\tu\tc-8\n"
		    "10118\tend\t-\t-\n");
}

static void test_plt(void **state)
{
	struct fixture *f = *state;

	f->options.plt = T + 0x200;
	section_begin(f->s, 2, 0);
	func(f->s, T + 0x200, 0x10, 2, ADDR1, 0, 0);
	row(f->s, ADDR1, 0, SP, 0, 1, 16);
	row(f->s, ADDR1, 6, SP, 0, 1, 24);
	func(f->s, T + 0x210, 0xf0, 2, MASK, 0, 16);
	row(f->s, ADDR1, 0, SP, 0, 1, 8);
	row(f->s, ADDR1, 9, SP, 0, 1, 16);
	section_end(f->s);
	assert_rows(f, 0,
		    "10200\trsp+16\tu\tc-8\n"
		    "10206\trsp+24\tu\tc-8\n"
		    "10210\tplt\tu\tc-8\n"
		    "10300\tend\t-\t-\n");
	assert_int_equal(unwind_table_rule(f->table, T + 0x2ff), RULE(ROW_PLT, 9));
}

/* A section is found by its type, whatever its name; its functions are known, too. */
static void test_found(void **state)
{
	struct fixture *f = *state;
	struct funcs *funcs;
	uint64_t start = 0;

	one_good(f->s, 1);
	section_end(f->s);
	f->options.sframe_by_type = 1;
	assert_rows(f, 0, frame_at_100);
	assert_int_equal(funcs_new(f->file, &funcs), 0);
	assert_true(funcs_find(funcs, T + 0x11f, &start));
	assert_int_equal(start, T + 0x100);
	assert_false(funcs_find(funcs, T + 0x120, &start));
	funcs_free(funcs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_rows),	  TEST(test_starts),	TEST(test_large),
		TEST(test_masks),	  TEST(test_outermost), TEST(test_fixed),
		TEST(test_flexible),	  TEST(test_signal),	TEST(test_cfi_first),
		TEST(test_nothing_added), TEST(test_overlap),	TEST(test_plt),
		TEST(test_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
