// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The interpreter on hand-assembled programs: every call-frame instruction of DWARF 5 section 6.4.2
 * and of GCC, with its effect by the standard, and every way to write one wrong.
 * Covers: unwind/cfa.c unwind/expr.c unwind/cursor.h
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "unwind/cfa.h"
#include "unwind/arch.h"

#define ROWS_MAX 16
#define START	 0x1000u
#define END	 0x2000u

/* The bytes of a string literal without its NUL. */
#define PROGRAM(text) (const uint8_t *)(text), sizeof(text) - 1

struct rows {
	struct {
		uint64_t pc;
		struct cfa_state state;
	} row[ROWS_MAX];
	unsigned int count;
	uint64_t end;
	int err;
};

static int note(void *arg, uint64_t pc, const struct cfa_state *state)
{
	struct rows *rows = arg;

	assert_true(rows->count < ROWS_MAX);
	assert_true(pc >= START && pc < END);
	assert_true(!rows->count || pc > rows->row[rows->count - 1].pc);
	rows->row[rows->count].pc = pc;
	rows->row[rows->count++].state = *state;
	return 0;
}

/* Initial state: CFA = rsp + 8, RA at c-8, RBP at c-80. Alignment factors 1 and -8. */
static void run(struct rows *rows, const uint8_t *insns, size_t n)
{
	static const uint8_t initial[] = {0x0c, 7, 8, 0x90, 1, 0x86, 10};
	uint8_t data[512];
	struct cfi_section section = {.data = data, .size = sizeof(initial) + n, .eh_frame = true};
	struct cfi_cie cie = {.ninsns = sizeof(initial),
			      .ra_reg = DWARF_RIP,
			      .code_align = 1,
			      .data_align = -8,
			      .addr_size = 8};
	struct cfi_fde fde = {.start = START, .end = END, .insns = sizeof(initial)};
	struct cfa_state state;

	assert_true(section.size <= sizeof(data));
	memcpy(data, initial, sizeof(initial));
	memcpy(data + sizeof(initial), insns, n);
	fde.ninsns = (uint32_t)n;
	memset(rows, 0, sizeof(*rows));
	assert_int_equal(cfa_initial(&section, &cie, 0, &state), 0);
	rows->err = cfa_run(&section, &cie, &state, &fde, note, rows, &rows->end);
}

/* Runs a program that is one row long and returns its state. */
static struct cfa_state run_one(const uint8_t *insns, size_t n)
{
	struct rows rows;

	run(&rows, insns, n);
	assert_int_equal(rows.err, 0);
	assert_int_equal(rows.end, END);
	assert_int_equal(rows.count, 1);
	assert_int_equal(rows.row[0].pc, START);
	return rows.row[0].state;
}

static void assert_malformed(const uint8_t *insns, size_t n)
{
	struct rows rows;

	run(&rows, insns, n);
	assert_int_equal(rows.err, -EINVAL);
	assert_int_equal(rows.end, START);
	assert_int_equal(rows.count, 0);
}

static void assert_cfa(struct cfa_state s, unsigned int kind, uint32_t reg, int64_t off,
		       int64_t add)
{
	assert_int_equal(s.cfa.kind, kind);
	assert_int_equal(s.cfa.reg, reg);
	assert_int_equal(s.cfa.off, off);
	assert_int_equal(s.cfa.add, add);
}

static void assert_rule(struct reg_rule r, unsigned int how, uint32_t reg, int64_t off)
{
	assert_int_equal(r.how, how);
	assert_int_equal(r.reg, reg);
	assert_int_equal(r.off, off);
}

static void test_initial(void **state)
{
	struct cfa_state s = run_one(PROGRAM(""));

	(void)state;
	assert_cfa(s, EXPR_REG, DWARF_RSP, 0, 8);
	assert_rule(s.ra, REG_AT_CFA, 0, -8);
	assert_rule(s.fp, REG_AT_CFA, 0, -80);
	assert_int_equal(s.sp.how, REG_UNSET);
	/* nop */
	assert_cfa(run_one(PROGRAM("\x00\x00\x00")), EXPR_REG, DWARF_RSP, 0, 8);
}

static void test_locations(void **state)
{
	struct rows rows;

	(void)state;
	/* def_cfa_offset 16 after advance_loc 1, 24 after advance_loc1 0x80, 32 after
	 * advance_loc2 0x100, 40 after advance_loc4 0x200, 48 after MIPS_advance_loc8 0x10,
	 * 56 at set_loc 0x1800 */
	run(&rows, PROGRAM("\x41\x0e\x10\x02\x80\x0e\x18\x03\x00\x01\x0e\x20\x04\x00\x02\x00\x00"
			   "\x0e\x28\x1d\x10\x00\x00\x00\x00\x00\x00\x00\x0e\x30"
			   "\x01\x00\x18\x00\x00\x00\x00\x00\x00\x0e\x38"));
	assert_int_equal(rows.err, 0);
	assert_int_equal(rows.count, 7);
	assert_int_equal(rows.row[1].pc, START + 1);
	assert_int_equal(rows.row[2].pc, START + 0x81);
	assert_int_equal(rows.row[3].pc, START + 0x181);
	assert_int_equal(rows.row[4].pc, START + 0x381);
	assert_int_equal(rows.row[5].pc, START + 0x391);
	assert_int_equal(rows.row[6].pc, 0x1800);
	for (int i = 0; i < 7; i++)
		assert_cfa(rows.row[i].state, EXPR_REG, DWARF_RSP, 0, 8 + 8 * i);
	/* Nothing after the FDE's end is run, not even malformed bytes. */
	run(&rows, PROGRAM("\x04\x00\x10\x00\x00\x0e\x10\x3f"));
	assert_int_equal(rows.err, 0);
	assert_int_equal(rows.count, 1);
	/* set_loc backwards */
	run(&rows, PROGRAM("\x44\x0e\x10\x01\x00\x10\x00\x00\x00\x00\x00\x00"));
	assert_int_equal(rows.err, -EINVAL);
	assert_int_equal(rows.count, 1);
	assert_int_equal(rows.end, START + 4);
}

static void test_cfa(void **state)
{
	(void)state;
	assert_cfa(run_one(PROGRAM("\x0c\x06\x10")), EXPR_REG, DWARF_RBP, 0, 16); /* def_cfa */
	assert_cfa(run_one(PROGRAM("\x12\x0a\x7e")), EXPR_REG, DWARF_R10, 0, 16); /* def_cfa_sf */
	assert_cfa(run_one(PROGRAM("\x0d\x06")), EXPR_REG, DWARF_RBP, 0, 8);	  /* _register */
	assert_cfa(run_one(PROGRAM("\x0e\xa0\x80\x04")), EXPR_REG, DWARF_RSP, 0, 0x10020);
	assert_cfa(run_one(PROGRAM("\x13\x02")), EXPR_REG, DWARF_RSP, 0, -16); /* _offset_sf */
	/* def_cfa_expression: rbp - 8, deref */
	assert_cfa(run_one(PROGRAM("\x0f\x03\x76\x78\x06")), EXPR_DEREF, DWARF_RBP, -8, 0);
	/* rsp + 160, deref, plus_uconst 8 */
	assert_cfa(run_one(PROGRAM("\x0f\x06\x77\xa0\x01\x06\x23\x08")), EXPR_DEREF, DWARF_RSP, 160,
		   8);
	/* OCaml 5.3's caml_runstack: rsp + 56, deref, plus_uconst 0, deref, plus_uconst 8 */
	assert_cfa(run_one(PROGRAM("\x0f\x08\x77\x38\x06\x23\x00\x06\x23\x08")), EXPR_DEREF_TWICE,
		   DWARF_RSP, 56, 8);
	/* not with a number in between, and not three times */
	assert_int_equal(run_one(PROGRAM("\x0f\x08\x77\x38\x06\x23\x08\x06\x23\x08")).cfa.kind,
			 EXPR_OTHER);
	assert_int_equal(run_one(PROGRAM("\x0f\x05\x77\x38\x06\x06\x06")).cfa.kind, EXPR_OTHER);
	/* the same in other words: bregx, lit8, plus */
	assert_cfa(run_one(PROGRAM("\x0f\x07\x92\x07\xa0\x01\x06\x38\x22")), EXPR_DEREF, DWARF_RSP,
		   160, 8);
	/* rsp, const1u .. const8s, plus: signed ones are sign-extended from their own size */
	assert_cfa(run_one(PROGRAM("\x0f\x05\x77\x00\x08\xf0\x22")), EXPR_REG, DWARF_RSP, 0, 0xf0);
	assert_cfa(run_one(PROGRAM("\x0f\x05\x77\x00\x09\xf0\x22")), EXPR_REG, DWARF_RSP, 0, -16);
	assert_cfa(run_one(PROGRAM("\x0f\x06\x77\x00\x0a\xf0\xff\x22")), EXPR_REG, DWARF_RSP, 0,
		   0xfff0);
	assert_cfa(run_one(PROGRAM("\x0f\x06\x77\x00\x0b\xf0\xff\x22")), EXPR_REG, DWARF_RSP, 0,
		   -16);
	assert_cfa(run_one(PROGRAM("\x0f\x08\x77\x00\x0c\xf0\xff\xff\xff\x22")), EXPR_REG,
		   DWARF_RSP, 0, 0xfffffff0);
	assert_cfa(run_one(PROGRAM("\x0f\x08\x77\x00\x0d\xf0\xff\xff\xff\x22")), EXPR_REG,
		   DWARF_RSP, 0, -16);
	assert_cfa(run_one(PROGRAM("\x0f\x0c\x77\x00\x0f\xf0\xff\xff\xff\xff\xff\xff\xff\x22")),
		   EXPR_REG, DWARF_RSP, 0, -16);
	/* After an expression the offset is the earlier one, or one set meanwhile, which shows only
	 * with the next register: as in libgcc, gdb and readelf. */
	assert_cfa(run_one(PROGRAM("\x0f\x03\x76\x78\x06\x0d\x06")), EXPR_REG, DWARF_RBP, 0, 8);
	assert_cfa(run_one(PROGRAM("\x0e\x38\x0f\x03\x76\x78\x06\x0d\x07")), EXPR_REG, DWARF_RSP, 0,
		   56);
	assert_cfa(run_one(PROGRAM("\x0f\x03\x76\x78\x06\x0e\x10")), EXPR_DEREF, DWARF_RBP, -8, 0);
	assert_cfa(run_one(PROGRAM("\x0f\x03\x76\x78\x06\x13\x7e\x0d\x07")), EXPR_REG, DWARF_RSP, 0,
		   16);
	assert_cfa(run_one(PROGRAM("\x0f\x03\x76\x78\x06\x0c\x07\x08")), EXPR_REG, DWARF_RSP, 0, 8);
}

static void test_plt(void **state)
{
	static const uint8_t lit11[] = "\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22";
	static const uint8_t const1u[] = "\x0f\x0c\x77\x08\x80\x00\x3f\x1a\x08\x0a\x2a\x33\x24\x22";
	struct cfa_state s = run_one(lit11, sizeof(lit11) - 1);

	(void)state;
	assert_cfa(s, EXPR_PLT, DWARF_RSP, 8, 8);
	assert_int_equal(s.cfa.threshold, 11);
	s = run_one(const1u, sizeof(const1u) - 1);
	assert_cfa(s, EXPR_PLT, DWARF_RSP, 8, 8);
	assert_int_equal(s.cfa.threshold, 10);
	/* lit7 instead of lit15, lt instead of ge: not a PLT */
	assert_int_equal(
		run_one(PROGRAM("\x0f\x0b\x77\x08\x80\x00\x37\x1a\x3b\x2a\x33\x24\x22")).cfa.kind,
		EXPR_OTHER);
	assert_int_equal(
		run_one(PROGRAM("\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2d\x33\x24\x22")).cfa.kind,
		EXPR_OTHER);
}

static void test_registers(void **state)
{
	(void)state;
	assert_rule(run_one(PROGRAM("\x86\x02")).fp, REG_AT_CFA, 0, -16); /* offset */
	assert_rule(run_one(PROGRAM("\x05\x06\x82\x01")).fp, REG_AT_CFA, 0, -1040);
	assert_rule(run_one(PROGRAM("\x11\x06\x7e")).fp, REG_AT_CFA, 0, 16);	/* _extended_sf */
	assert_rule(run_one(PROGRAM("\x2f\x06\x02")).fp, REG_AT_CFA, 0, 16);	/* GNU_negative_ */
	assert_rule(run_one(PROGRAM("\x14\x06\x02")).fp, REG_CFA_PLUS, 0, -16); /* val_offset */
	assert_rule(run_one(PROGRAM("\x15\x06\x7e")).fp, REG_CFA_PLUS, 0, 16);
	assert_rule(run_one(PROGRAM("\x07\x10")).ra, REG_UNDEFINED, 0, 0);
	assert_rule(run_one(PROGRAM("\x08\x06")).fp, REG_SAME, 0, 0);
	assert_rule(run_one(PROGRAM("\x09\x10\x05")).ra, REG_IN_REG, DWARF_RDI, 0);
	assert_rule(run_one(PROGRAM("\x09\x07\x08")).sp, REG_IN_REG, DWARF_R8, 0);
	/* expression: rbp + 0 */
	assert_rule(run_one(PROGRAM("\x10\x06\x02\x76\x00")).fp, REG_AT_REG, DWARF_RBP, 0);
	/* CFA, lit8, minus: the CFA is initially on the stack */
	assert_rule(run_one(PROGRAM("\x10\x06\x02\x38\x1c")).fp, REG_AT_CFA, 0, -8);
	/* val_expression: rsp + 16, and what rsp + 16 points to */
	assert_rule(run_one(PROGRAM("\x16\x06\x02\x77\x10")).fp, REG_IN_REG, DWARF_RSP, 16);
	assert_rule(run_one(PROGRAM("\x16\x06\x03\x77\x10\x06")).fp, REG_AT_REG, DWARF_RSP, 16);
	assert_rule(run_one(PROGRAM("\x16\x06\x03\x38\x1c\x06")).fp, REG_AT_CFA, 0, -8);
	/* the slot's address is itself in memory: no rule for it */
	assert_int_equal(run_one(PROGRAM("\x10\x06\x03\x77\x10\x06")).fp.how, REG_EXPRESSION);
	/* restore and restore_extended: the CIE's rule */
	assert_rule(run_one(PROGRAM("\x86\x02\xc6")).fp, REG_AT_CFA, 0, -80);
	assert_rule(run_one(PROGRAM("\x86\x02\x06\x06")).fp, REG_AT_CFA, 0, -80);
	assert_rule(run_one(PROGRAM("\x07\x10\xd0")).ra, REG_AT_CFA, 0, -8);
	assert_int_equal(run_one(PROGRAM("\x09\x07\x08\xc7")).sp.how, REG_UNSET);
}

/* Operands of unsupported instructions are skipped, and later instructions still understood. */
static void test_others(void **state)
{
	(void)state;
	assert_cfa(
		run_one(PROGRAM("\x83\x02\x05\x03\x82\x01\x11\x0c\x7e\x07\x00\x08\x01\x09\x03\x05"
				"\x14\x03\x01\x15\x03\x7f\x06\x03\xc3\x2e\x90\x01\x2d\x2f\x03\x02"
				"\x10\x03\x02\x76\x00\x16\x0c\x03\x77\x10\x06\x10\x03\x01\xff"
				"\x0e\x10")),
		EXPR_REG, DWARF_RSP, 0, 16);
	/* registers far beyond those of any file */
	assert_cfa(run_one(PROGRAM("\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01\x0e\x10")),
		   EXPR_REG, DWARF_RSP, 0, 16);
	assert_int_equal(
		run_one(PROGRAM("\x0c\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01")).cfa.kind,
		EXPR_OTHER);
}

static void test_remember(void **state)
{
	uint8_t deep[256];
	struct rows rows;

	(void)state;
	/* remember, 16, remember, 24 and RBP saved, restore, restore: all rows differ by one */
	run(&rows, PROGRAM("\x0a\x41\x0e\x10\x0a\x41\x0e\x18\x86\x03\x41\x0b\x41\x0b"));
	assert_int_equal(rows.err, 0);
	assert_int_equal(rows.count, 5);
	assert_cfa(rows.row[1].state, EXPR_REG, DWARF_RSP, 0, 16);
	assert_cfa(rows.row[2].state, EXPR_REG, DWARF_RSP, 0, 24);
	assert_rule(rows.row[2].state.fp, REG_AT_CFA, 0, -24);
	assert_cfa(rows.row[3].state, EXPR_REG, DWARF_RSP, 0, 16);
	assert_rule(rows.row[3].state.fp, REG_AT_CFA, 0, -80);
	assert_cfa(rows.row[4].state, EXPR_REG, DWARF_RSP, 0, 8);
	/* nothing remembered */
	assert_malformed(PROGRAM("\x0b"));
	assert_malformed(PROGRAM("\x0a\x0b\x0b"));
	/* nesting: a little is fine, without bound it is not */
	memset(deep, 0x0a, sizeof(deep));
	memset(deep + 50, 0x0b, 50);
	assert_cfa(run_one(deep, 100), EXPR_REG, DWARF_RSP, 0, 8);
	memset(deep, 0x0a, sizeof(deep));
	assert_malformed(deep, sizeof(deep));
}

static void test_malformed(void **state)
{
	/* each instruction with its operands cut short by one byte, and unknown ones */
	static const struct {
		const char *bytes;
		size_t n;
	} cut[] = {
		{"\x01\0\0\0\0\0\0\0", 8},
		{"\x02", 1},
		{"\x03\x01", 2},
		{"\x04\x01\x01\x01", 4},
		{"\x05\x06", 2},
		{"\x05\x06\x80", 3},
		{"\x06", 1},
		{"\x07", 1},
		{"\x08", 1},
		{"\x09\x06", 2},
		{"\x0c\x07", 2},
		{"\x0d", 1},
		{"\x0e", 1},
		{"\x0f", 1},
		{"\x0f\x02\x76", 3},
		{"\x0f\x01\x76", 3},
		{"\x0f\x00", 2},
		{"\x0f\x01\x06", 3},
		{"\x0f\x01\x22", 3},
		{"\x10\x06", 2},
		{"\x10\x06\x02\x76", 4},
		{"\x10\x03\x02\x76", 4},
		{"\x11\x06", 2},
		{"\x12\x07", 2},
		{"\x13", 1},
		{"\x14\x06", 2},
		{"\x15\x06", 2},
		{"\x16\x06", 2},
		{"\x16\x06\x01\x13", 4},
		{"\x1d\0\0\0\0\0\0\0", 8},
		{"\x2e", 1},
		{"\x2f\x06", 2},
		{"\x86", 1},
		{"\x17", 1},
		{"\x1c", 1},
		{"\x3f", 1},
		{"\x30", 1},
		{"\x0e\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11},
	};
	struct rows rows;

	(void)state;
	for (size_t i = 0; i < sizeof(cut) / sizeof(cut[0]); i++)
		assert_malformed((const uint8_t *)cut[i].bytes, cut[i].n);
	/* Rows before a malformed instruction are kept. */
	run(&rows, PROGRAM("\x44\x0e\x10\x44\x0e\x18\x3f\x44"));
	assert_int_equal(rows.err, -EINVAL);
	assert_int_equal(rows.count, 2);
	assert_int_equal(rows.end, START + 8);
	assert_cfa(rows.row[1].state, EXPR_REG, DWARF_RSP, 0, 16);
}

static int stop_at_once(void *arg, uint64_t pc, const struct cfa_state *state)
{
	(void)arg;
	(void)pc;
	(void)state;
	return -ENOMEM;
}

/* Instructions that a CIE may not have, and errors of the callback. */
static void test_initial_malformed(void **state)
{
	static const char *const bad[] = {"\x41", "\xc6", "\x06\x06", "\x0b", "\x3f", "\x0e\x08"};
	struct cfi_section section = {.eh_frame = true};
	struct cfi_cie cie = {
		.ra_reg = DWARF_RIP, .code_align = 1, .data_align = -8, .addr_size = 8};
	struct cfi_fde fde = {.start = START, .end = END};
	struct cfa_state s;
	uint64_t end;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		section.data = (const uint8_t *)bad[i];
		section.size = cie.ninsns = (uint32_t)strlen(bad[i]);
		assert_int_equal(cfa_initial(&section, &cie, 0, &s), -EINVAL);
	}
	cie.ninsns = 0;
	assert_int_equal(cfa_initial(&section, &cie, 0, &s), 0);
	assert_int_equal(s.ra.how, REG_UNSET);
	assert_false(s.cfa_set);
	assert_int_equal(cfa_run(&section, &cie, &s, &fde, stop_at_once, NULL, &end), -ENOMEM);
}

/* Addresses at the top of the address space do not wrap. */
static void test_wrap(void **state)
{
	static const uint8_t insns[] = "\x04\xff\xff\xff\xff\x04\xff\xff\xff\xff";
	struct cfi_section section = {.data = insns, .size = sizeof(insns) - 1};
	struct cfi_cie cie = {.ra_reg = DWARF_RIP, .code_align = 1ull << 40, .data_align = -8};
	struct cfi_fde fde = {.start = START, .end = UINT64_MAX - 1, .ninsns = sizeof(insns) - 1};
	struct cfa_state s = {0};
	uint64_t end;

	(void)state;
	assert_int_equal(cfa_run(&section, &cie, &s, &fde, stop_at_once, NULL, &end), -EINVAL);
	assert_int_equal(end, START);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_initial),	  cmocka_unit_test(test_locations),
		cmocka_unit_test(test_cfa),	  cmocka_unit_test(test_plt),
		cmocka_unit_test(test_registers), cmocka_unit_test(test_others),
		cmocka_unit_test(test_remember),  cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_wrap),	  cmocka_unit_test(test_initial_malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
