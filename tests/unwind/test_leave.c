// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows from places inside of functions, where only what follows is known: compared with the CFI of
 * real files, which verify_unwind compares with libdw, at places behind calls all over their text,
 * and with functions that were written for a test.
 *
 * Covers: unwind/leave.c unwind/leave.h
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/work.h"
#include "symbols/elf/elffile.h"
#include "symbols/insn/disasm.h"
#include "tests/support/tablerule.h"
#include "unwind/arch.h"
#include "unwind/cfifile.h"
#include "unwind/derive.h"
#include "unwind/effect.h"
#include "unwind/leave.h"
#include "unwind/row.h"
#include "unwind/table.h"
#include "unwind/wide.h"

#define BASE 0x10000u

static struct disasm *disasm;

/* --- functions made for this ------------------------------------------------------------------ */

/* The rule at `at` as it is found from `pc`; 0: none. */
static uint32_t rule_from(const void *bytes, size_t size, uint64_t pc, uint64_t at)
{
	const struct leave_code code = {bytes, size, BASE};
	struct derived d = {0};
	struct work work = {0};
	uint32_t rule = 0;

	assert_int_equal(leave_rows(&code, BASE + pc, false, disasm, &work, &d), 0);
	for (size_t i = 0; i < d.nrows && d.rows[i].pc <= BASE + at; i++)
		rule = d.rows[i].rule;
	derived_free(&d);
	return rule;
}

#define FROM(code, pc, at)  rule_from(code, sizeof(code), pc, at)
#define SP_RULE(cfa, depth) (RULE_FRAME(ROW_SP, cfa, depth) | RULE_DERIVED)
#define FP_RULE(cfa, depth) (RULE_FRAME(ROW_FP, cfa, depth) | RULE_DERIVED)

static void test_forms(void **state)
{
	/* 0: nop; add $24, %rsp; 5: pop %rbx; pop %rbp; 7: ret */
	static const uint8_t pops[] = {0x90, 0x48, 0x83, 0xc4, 24, 0x5b, 0x5d, 0xc3};
	/* 0: call; 5: leave; 6: ret */
	static const uint8_t leaves[] = {0xe8, 0, 0, 0, 0, 0xc9, 0xc3};
	/* 0: push %rbp; 1: mov %rsp, %rbp; 4: sub $16, %rsp; 8: leave; ret */
	static const uint8_t whole[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 16, 0xc9, 0xc3};
	/* lea -16(%rbp), %rsp; pop %rbx; pop %r12; pop %rbp; ret */
	static const uint8_t lea[] = {0x48, 0x8d, 0x65, 0xf0, 0x5b, 0x41, 0x5c, 0x5d, 0xc3};

	(void)state;
	assert_int_equal(FROM(pops, 0, 0), SP_RULE(48, 16));
	assert_int_equal(FROM(pops, 0, 6), SP_RULE(16, 16));
	assert_int_equal(FROM(pops, 0, 7), SP_RULE(8, 0));
	assert_int_equal(FROM(pops, 0, 8), 0);
	assert_int_equal(FROM(leaves, 0, 0), FP_RULE(16, 16));
	assert_int_equal(FROM(leaves, 5, 5), FP_RULE(16, 16));
	assert_int_equal(FROM(leaves, 5, 6), SP_RULE(8, 0));
	assert_int_equal(FROM(whole, 0, 0), SP_RULE(8, 0));
	assert_int_equal(FROM(whole, 0, 1), SP_RULE(16, 16));
	assert_int_equal(FROM(whole, 0, 4), SP_RULE(16, 16));
	assert_int_equal(FROM(whole, 0, 8), SP_RULE(32, 16));
	assert_int_equal(FROM(whole, 8, 8), FP_RULE(16, 16));
	assert_int_equal(FROM(lea, 0, 0), FP_RULE(16, 16));
	/* before its beginning nothing is known */
	assert_int_equal(FROM(pops, 1, 0), 0);
}

static void test_silence(void **state)
{
	/* jmp to itself: no return */
	static const uint8_t forever[] = {0xeb, 0xfe, 0xc3};
	/* je 5; add $8, %rsp; 6: ret: the returns disagree */
	static const uint8_t disagree[] = {0x74, 4, 0x48, 0x83, 0xc4, 8, 0xc3};
	/* mov %rax, %rsp; ret */
	static const uint8_t lost[] = {0x48, 0x89, 0xc4, 0xc3};
	/* xor %ebp, %ebp; ret: the caller's frame pointer is gone */
	static const uint8_t zeroed[] = {0x31, 0xed, 0xc3};
	/* jmp *%rax */
	static const uint8_t computed[] = {0xff, 0xe0, 0xc3};
	/* 0: call; then a function that is not ours: push %rbx; pop %rbx; ret behind je 10; 5 */
	static const uint8_t noreturn[] = {0x74, 7,    0xe8, 0,	   0,	 0, 0,
					   0x53, 0xc3, 0x48, 0x83, 0xc4, 8, 0xc3};

	(void)state;
	assert_int_equal(FROM(forever, 0, 0), 0);
	assert_int_equal(FROM(disagree, 0, 0), 0);
	assert_int_equal(FROM(lost, 0, 0), 0);
	assert_int_equal(FROM(zeroed, 0, 0), 0);
	assert_int_equal(FROM(computed, 0, 0), 0);
	/* What follows a call that does not return is dropped, the rest stays. */
	assert_int_equal(FROM(noreturn, 0, 0), SP_RULE(16, 0));
	assert_int_equal(FROM(noreturn, 0, 7), 0);
	/* outside of the code */
	assert_int_equal(FROM(forever, 3, 3), 0);
}

/* --- real files --------------------------------------------------------------------------------
 */

struct tally {
	unsigned int asked, said, rows, differ;
};

static bool agrees(uint32_t cfi, uint32_t rule)
{
	rule &= ~RULE_DERIVED;
	if (RULE_KIND(cfi) != ROW_SP && RULE_KIND(cfi) != ROW_FP)
		return true; /* nothing to compare with */
	if (RULE_KIND(cfi) != RULE_KIND(rule))
		return true; /* one counts from SP, the other from FP */
	if (RULE_CFA(cfi) != RULE_CFA(rule))
		return false;
	/* Behind the pop of FP CFI still names its slot, which is below SP. */
	return RULE_FP_DEPTH(cfi) == RULE_FP_DEPTH(rule) ||
	       (RULE_FP_DEPTH(rule) == 0 && RULE_FP_DEPTH(cfi) > RULE_CFA(cfi));
}

static void check_place(const struct leave_code *code, const struct unwind_table *table,
			uint64_t pc, struct tally *t)
{
	struct derived d = {0};
	struct work work = {0};

	assert_int_equal(leave_rows(code, pc, true, disasm, &work, &d), 0);
	t->asked++;
	for (size_t i = 0; i < d.nrows; i++) {
		uint32_t cfi = unwind_table_rule(table, d.rows[i].pc);

		if (d.rows[i].pc == pc)
			t->said++;
		if (RULE_KIND(d.rows[i].rule) == ROW_END)
			continue;
		t->rows++;
		if (!agrees(cfi, d.rows[i].rule) && t->differ++ < 20)
			print_message("from %lx at %lx: CFI %x, derived %x\n", (long)pc,
				      (long)d.rows[i].pc, cfi, d.rows[i].rule);
	}
	derived_free(&d);
}

static void check_text(const char *path, const struct elf_load *load, const struct elf_file *file,
		       const struct unwind_table *table, unsigned int stride, struct tally *t)
{
	uint8_t *bytes = malloc(load->filesz);
	const struct leave_code code = {bytes, load->filesz, load->vaddr};
	unsigned int calls = 0;
	struct effect e;

	assert_non_null(bytes);
	assert_int_equal(elf_file_read(file, load->offset, bytes, load->filesz), 0);
	for (uint64_t at = 0; at < load->filesz; at += e.size) {
		arch_effect(disasm, bytes + at, load->filesz - at, &e);
		if ((e.kind == EFFECT_CALL || e.kind == EFFECT_CALL_COMPUTED) &&
		    RULE_KIND(unwind_table_rule(table, load->vaddr + at)) != ROW_END &&
		    ++calls % stride == 0)
			check_place(&code, table, load->vaddr + at + e.size, t);
	}
	(void)path;
	free(bytes);
}

static void check_file(const char *path, unsigned int stride)
{
	struct wide_rules *wide = wide_rules_new();
	const struct elf_load *loads;
	struct unwind_table *table;
	struct tally t = {0};
	struct elf_file *file;
	size_t count;

	assert_non_null(wide);
	assert_int_equal(elf_file_open(path, &file), 0);
	assert_int_equal(unwind_table_build(file, wide, &table), 0);
	loads = elf_file_loads(file, &count);
	for (size_t i = 0; i < count; i++)
		if (loads[i].exec)
			check_text(path, &loads[i], file, table, stride, &t);
	print_message("%s: %u places, %.1f %% with a rule; %u rows, %.3f %% agree with CFI\n", path,
		      t.asked, 100.0 * t.said / t.asked, t.rows,
		      100.0 - 100.0 * t.differ / (t.rows ? t.rows : 1));
	assert_true(t.asked > 500);
	assert_true(t.said > t.asked / 2);
	assert_true(t.differ * 200ull <= t.rows);
	unwind_table_free(table);
	elf_file_free(file);
	wide_rules_free(wide);
}

static void test_libc(void **state)
{
	(void)state;
	check_file("/lib/x86_64-linux-gnu/libc.so.6", 17);
}

static void test_perl(void **state)
{
	(void)state;
	check_file("/usr/bin/perl", 41);
}

static int begin(void **state)
{
	(void)state;
	return disasm_new(ARCH_MACHINE, &disasm);
}

static int end(void **state)
{
	(void)state;
	disasm_free(disasm);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_silence),
		cmocka_unit_test(test_libc),
		cmocka_unit_test(test_perl),
	};

	if (disasm_missing())
		return 77;
	return cmocka_run_group_tests(tests, begin, end);
}
