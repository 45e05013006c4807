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

/* The rule at `at` as it is found from `pc`, a return address if behind_call; 0: none. */
static uint32_t rule_from(const void *bytes, size_t size, uint64_t pc, bool behind_call,
			  uint64_t at)
{
	const struct leave_code code = {bytes, size, BASE};
	struct derived d = {0};
	struct work work = {0};
	uint32_t rule = 0;

	assert_int_equal(leave_rows(&code, BASE + pc, behind_call, disasm, &work, &d), 0);
	for (size_t i = 0; i < d.nrows && d.rows[i].pc <= BASE + at; i++)
		rule = d.rows[i].rule;
	derived_free(&d);
	return rule;
}

#define FROM(code, pc, at)  rule_from(code, sizeof(code), pc, false, at)
#define BACK(code, pc, at)  rule_from(code, sizeof(code), pc, true, at)
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

/* Where FP is saved. The function that a tail jump leads to has its own frame there. */
static void test_saved(void **state)
{
	/* 0: push %rbp; pop %rbp; 2: jmp 5; nop; 5: sub $24, %rsp; 9: add $24, %rsp; ret */
	static const uint8_t tail[] = {0x55, 0x5d, 0xeb, 1,    0x90, 0x48, 0x83,
				       0xec, 24,   0x48, 0x83, 0xc4, 24,   0xc3};

	/*
	 * 0: pop %rbp; pop %rbx; 2: je 5; ret; 5: push %rbp; 6: xor %ebp, %ebp; 8: sub $16, %rsp;
	 * 12: mov %rbp, 8(%rsp); 17: nop; 18: add $16, %rsp; pop %rbp; ret: another value is
	 * spilled
	 */
	static const uint8_t spill[] = {0x5d, 0x5b, 0x74, 1,	0xc3, 0x55, 0x31, 0xed,
					0x48, 0x83, 0xec, 16,	0x48, 0x89, 0x6c, 0x24,
					8,    0x90, 0x48, 0x83, 0xc4, 16,   0x5d, 0xc3};

	(void)state;
	assert_int_equal(FROM(spill, 0, 17), SP_RULE(32, 16));
	assert_int_equal(FROM(tail, 0, 1), SP_RULE(16, 16));
	assert_int_equal(FROM(tail, 0, 5), SP_RULE(8, 0));
	assert_int_equal(FROM(tail, 0, 9), SP_RULE(32, 0));
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

/* V8 ends its functions so: leave; pop %rcx; add $24, %rsp; push %rcx; ret. */
static void test_arguments_popped(void **state)
{
	static const uint8_t v8[] = {0x90, 0xc9, 0x59, 0x48, 0x83, 0xc4, 24, 0x51, 0xc3};
	/* pop %rbp; pop %rcx; jmp *%rcx behind push %rbp; mov %rsp, %rbp */
	static const uint8_t jumps[] = {0x55, 0x48, 0x89, 0xe5, 0x5d, 0x59, 0xff, 0xe1};
	/* pop %rbx; ret $16 */
	static const uint8_t callee[] = {0x5b, 0xc2, 16, 0};

	(void)state;
	assert_int_equal(FROM(v8, 0, 0), FP_RULE(16, 16));
	assert_int_equal(FROM(v8, 1, 1), FP_RULE(16, 16));
	assert_int_equal(FROM(v8, 1, 2), SP_RULE(8, 0));
	assert_int_equal(FROM(v8, 1, 3), 0);
	/* Without leave, the return address is popped like any register. */
	assert_int_equal(FROM(jumps, 0, 1), 0);
	assert_int_equal(FROM(callee, 0, 0), SP_RULE(16, 0));
	assert_int_equal(FROM(callee, 0, 1), SP_RULE(8, 0));
}

static void test_long_nop(void **state)
{
	/* lea 0(%rbp), %rbp; leave; ret */
	static const uint8_t nop[] = {0x48, 0x8d, 0x6d, 0, 0xc9, 0xc3};
	/* lea 8(%rbp), %rbp; lea 0(%rbp), %ebp */
	static const uint8_t moved[] = {0x48, 0x8d, 0x6d, 8, 0xc9, 0xc3};
	static const uint8_t cut[] = {0x8d, 0x6d, 0, 0xc9, 0xc3};

	(void)state;
	assert_int_equal(FROM(nop, 0, 0), FP_RULE(16, 16));
	assert_int_equal(FROM(nop, 0, 4), FP_RULE(16, 16));
	assert_int_equal(FROM(moved, 0, 0), 0);
	assert_int_equal(FROM(cut, 0, 0), 0);
}

/* Where paths meet that have different frame pointers, the register is neither. */
static void test_meet(void **state)
{
	/* 0: je 6; 2: mov %eax, %ebp; 4: jmp 0; 6: ret: the caller's is gone in the second round */
	static const uint8_t lost[] = {0x74, 4, 0x89, 0xc5, 0xeb, 0xfa, 0xc3};
	/* the same, but 6: pop %rbp; ret: it was saved */
	static const uint8_t saved[] = {0x74, 4, 0x89, 0xc5, 0xeb, 0xfa, 0x5d, 0xc3};
	/* 0: je 4; 2: push %rax; 3: nop; 4: ret: SP differs, which no function does */
	static const uint8_t sp[] = {0x74, 2, 0x50, 0x90, 0xc3};

	(void)state;
	assert_int_equal(FROM(lost, 0, 0), 0);
	assert_int_equal(FROM(lost, 0, 2), 0);
	assert_int_equal(FROM(saved, 0, 0), SP_RULE(16, 16));
	assert_int_equal(FROM(saved, 0, 4), SP_RULE(16, 16));
	assert_int_equal(FROM(saved, 0, 7), SP_RULE(8, 0));
	assert_int_equal(FROM(sp, 0, 0), 0);
}

/* An infinite loop has no return; its beginning says where its frame is. */
static void test_loop(void **state)
{
	uint8_t code[64];
	/* 16: push %rbp; sub $16, %rsp; 21: nop; 22: jmp 21 */
	static const uint8_t loop[] = {0x55, 0x48, 0x83, 0xec, 16, 0x90, 0xeb, 0xfd};
	/* 16: push %rbp; mov %rsp, %rbp; push %rbx; 21: nop; jmp 21 */
	static const uint8_t framed[] = {0x55, 0x48, 0x89, 0xe5, 0x53, 0x90, 0xeb, 0xfd};
	static const uint8_t far[] = {0x53, 0x85, 0xff, 0x74, 2, 0x5b, 0xc3, 0xe8, 0,	1,
				      0,    0,	  0xe8, 0,    1, 0,    0,    0xeb, 0xf9};

	(void)state;
	memset(code, 0xcc, sizeof(code));
	memcpy(code + 16, loop, sizeof(loop));
	assert_int_equal(FROM(code, 21, 21), SP_RULE(32, 16));
	assert_int_equal(FROM(code, 22, 22), SP_RULE(32, 16));
	assert_int_equal(FROM(code, 21, 16), SP_RULE(8, 0));
	assert_int_equal(FROM(code, 21, 17), SP_RULE(16, 16));
	assert_int_equal(FROM(code, 21, 15), 0);
	assert_int_equal(FROM(code, 21, 24), 0);
	/* behind a call at its end, too */
	code[20] = 8; /* a frame of 24 bytes: psABI 3.2.2 */
	assert_int_equal(BACK(code, 21, 21), SP_RULE(24, 16));
	memcpy(code + 16, framed, sizeof(framed));
	assert_int_equal(FROM(code, 21, 21), SP_RULE(24, 16));
	/* no beginning: not aligned, or code goes on there */
	memset(code, 0x5b, sizeof(code));
	code[16] = 0xcc;
	memcpy(code + 17, loop, sizeof(loop));
	assert_int_equal(FROM(code, 22, 22), 0);
	code[15] = 0xcc; /* gaps may be a part of it */
	assert_int_equal(FROM(code, 22, 22), 0);
	memset(code, 0x5b, sizeof(code));
	memcpy(code + 16, loop, sizeof(loop));
	assert_int_equal(FROM(code, 21, 21), 0);
	/* only behind a call at the function's end: push %rbx; test; je 23; pop %rbx; ret; 23:
	 * call; */
	memset(code, 0xcc, sizeof(code));
	memcpy(code + 16, far, sizeof(far)); /* 28: call; jmp 28 */
	assert_int_equal(BACK(code, 33, 33), SP_RULE(16, 0));
	/* a function that begins before but does not lead here */
	memset(code, 0xcc, sizeof(code));
	code[16] = 0x55;
	code[17] = 0xc3;
	memset(code + 18, 0x5b, 19);
	memcpy(code + 37, loop + 5, 3);
	assert_int_equal(FROM(code, 37, 37), 0);
}

/* Behind a call that throws may be the end of another function, which says nothing of this FP. */
static void test_throw(void **state)
{
	uint8_t code[64];
	/* 16: sub $8, %rsp; 20: je 26; nop; nop; jmp 20; 26: call; 31: leave; ret (of another) */
	static const uint8_t loop[] = {0x48, 0x83, 0xec, 8, 0x74, 4, 0x90, 0x90, 0xeb,
				       0xfa, 0xe8, 0,	 0, 0,	  0, 0xc9, 0xc3};
	/* 16: push %rbp; mov %rsp, %rbp */
	static const uint8_t framed[] = {0x55, 0x48, 0x89, 0xe5};

	(void)state;
	memset(code, 0xcc, sizeof(code));
	memcpy(code + 16, loop, sizeof(loop));
	assert_int_equal(FROM(code, 22, 22), SP_RULE(16, 0));
	assert_int_equal(FROM(code, 22, 31), 0);
	memcpy(code + 16, framed, sizeof(framed));
	assert_int_equal(FROM(code, 22, 22), SP_RULE(16, 16));
	/* where nothing tells how the frame begins it is not known whose FP is */
	memset(code, 0x5b, 20);
	assert_int_equal(FROM(code, 22, 22), 0);
	/* another return agrees */
	code[23] = 0xc3;
	code[22] = 0xc9;
	assert_int_equal(FROM(code, 20, 20), FP_RULE(16, 16));
}

/* A loop without an end has the return that was written for it, between its parts. */
static void test_gap(void **state)
{
	/* 0: je 9; jmp 0; 4: add $24, %rsp; ret; 9: call; 14: leave; ret (of another) */
	static const uint8_t loop[] = {0x74, 7,	   0xeb, 0xfc, 0x48, 0x83, 0xc4, 24,
				       0xc3, 0xe8, 0,	 0,    0,    0,	   0xc9, 0xc3};
	/* 0: push %rax; jmp 8; 3: add $24, %rsp; ret; 8: call; hlt */
	static const uint8_t argument[] = {0x50, 0xeb, 5, 0x48, 0x83, 0xc4, 24,
					   0xc3, 0xe8, 0, 0,	0,    0,    0xf4};

	(void)state;
	assert_int_equal(FROM(loop, 0, 0), SP_RULE(32, 0));
	assert_int_equal(FROM(loop, 0, 8), SP_RULE(8, 0));
	assert_int_equal(FROM(loop, 0, 14), 0);
	assert_int_equal(FROM(argument, 0, 0), 0);
}

/* Behind a call there is more of a frame than a return address. */
static void test_empty(void **state)
{
	static const uint8_t ret[] = {0xc3};
	/* add $8, %rsp; ret */
	static const uint8_t tail[] = {0x48, 0x83, 0xc4, 8, 0xc3};
	uint8_t loop[32];

	(void)state;
	assert_int_equal(FROM(ret, 0, 0), SP_RULE(8, 0));
	assert_int_equal(BACK(ret, 0, 0), 0);
	assert_int_equal(BACK(tail, 0, 0), SP_RULE(16, 0));
	/* nor where the beginning is searched for: 16: nop; jmp 16 */
	memset(loop, 0xcc, sizeof(loop));
	memcpy(loop + 16, "\x90\xeb\xfd", 3);
	assert_int_equal(FROM(loop, 16, 16), SP_RULE(8, 0));
	assert_int_equal(BACK(loop, 16, 16), 0);
}

/* What stands behind a call that does not return may be another function. */
static void test_noreturn(void **state)
{
	/* 0: je 8; 2: call; 7: ret (of another); 8: add $24, %rsp; ret */
	static const uint8_t other[] = {0x74, 6,    0xe8, 0,	0,  0,	 0,
					0xc3, 0x48, 0x83, 0xc4, 24, 0xc3};
	/* 0: call; 5: je 13; 7: call; 12: ret (of another); 13: pop %rbx; ret */
	static const uint8_t two[] = {0xe8, 0, 0, 0, 0,	   0x74, 6,   0xe8,
				      0,    0, 0, 0, 0xc3, 0x5b, 0xc3};
	/* 0: je 12; 2: call; 7: je 10; ret; 10: pop %rbx; ret; 12: call; 17: add $24, %rsp; ret */
	static const uint8_t bad[] = {0x74, 10,	  0xe8, 0, 0, 0, 0,    0x74, 1,	   0xc3, 0x5b,
				      0xc3, 0xe8, 0,	0, 0, 0, 0x48, 0x83, 0xc4, 24,	 0xc3};
	/* 0: call; 5: int3: nothing follows, so that nothing is known */
	static const uint8_t gap[] = {0xe8, 0, 0, 0, 0, 0xcc, 0xc3};

	(void)state;
	assert_int_equal(FROM(other, 0, 0), SP_RULE(32, 0));
	assert_int_equal(FROM(other, 0, 2), 0);
	assert_int_equal(FROM(other, 0, 7), 0);
	assert_int_equal(FROM(other, 0, 8), SP_RULE(32, 0));
	assert_int_equal(FROM(other, 0, 12), SP_RULE(8, 0));
	assert_int_equal(FROM(two, 0, 0), SP_RULE(16, 0));
	assert_int_equal(FROM(two, 0, 12), 0);
	assert_int_equal(FROM(bad, 0, 0), SP_RULE(32, 0));
	assert_int_equal(FROM(bad, 0, 9), 0);
	assert_int_equal(FROM(gap, 0, 0), 0);
}

/* Code without an end: the exploration has one. */
static void test_limit(void **state)
{
	static uint8_t code[6000];

	(void)state;
	memset(code, 0x90, sizeof(code));
	code[4000] = 0xc3;
	assert_int_equal(FROM(code, 0, 0), SP_RULE(8, 0));
	code[4000] = 0x90;
	code[4200] = 0xc3;
	assert_int_equal(FROM(code, 0, 0), 0);
	assert_int_equal(FROM(code, 200, 200), SP_RULE(8, 0));
	/* jumps into nowhere: before, behind, and into the middle of an instruction */
	memset(code, 0xeb, sizeof(code));
	assert_int_equal(FROM(code, 0, 0), 0);
	code[0] = code[1] = 0x7f;
	assert_int_equal(FROM(code, 5998, 5998), 0);
}

/* --- real files --------------------------------------------------------------------------------
 */

struct tally {
	unsigned int asked, said, rows, differ;
};

/* True right after `mov n(%rsp), %rbp` has loaded FP from the slot that CFI names. */
static bool is_reloaded(const struct leave_code *code, uint64_t pc, uint32_t cfi)
{
	static const uint8_t near[] = {0x48, 0x8b, 0x6c, 0x24}, far[] = {0x48, 0x8b, 0xac, 0x24};
	const uint8_t *at = code->bytes + (pc - code->addr);
	const uint32_t place = RULE_CFA(cfi) - RULE_FP_DEPTH(cfi);
	uint32_t from = 0;

	if (RULE_KIND(cfi) != ROW_SP || pc - code->addr < sizeof(far) + 4)
		return false;
	if (!memcmp(at - 5, near, sizeof(near)))
		return at[-1] == place;
	memcpy(&from, at - 4, sizeof(from));
	return !memcmp(at - 8, far, sizeof(far)) && from == place;
}

static bool agrees(const struct leave_code *code, uint64_t pc, uint32_t cfi, uint32_t rule)
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
	       (RULE_FP_DEPTH(rule) == 0 &&
		(RULE_FP_DEPTH(cfi) > RULE_CFA(cfi) || is_reloaded(code, pc, cfi)));
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
		if (!agrees(code, d.rows[i].pc, cfi, d.rows[i].rule) && t->differ++ < 20)
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
		cmocka_unit_test(test_forms),	 cmocka_unit_test(test_saved),
		cmocka_unit_test(test_silence),	 cmocka_unit_test(test_arguments_popped),
		cmocka_unit_test(test_long_nop), cmocka_unit_test(test_meet),
		cmocka_unit_test(test_loop),	 cmocka_unit_test(test_throw),
		cmocka_unit_test(test_gap),	 cmocka_unit_test(test_empty),
		cmocka_unit_test(test_noreturn), cmocka_unit_test(test_limit),
		cmocka_unit_test(test_libc),	 cmocka_unit_test(test_perl),
	};

	if (disasm_missing())
		return 77;
	return cmocka_run_group_tests(tests, begin, end);
}
