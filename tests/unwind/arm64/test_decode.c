// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the walk reads out of single instructions of arm64, compared with capstone's reading of the
 * same: of the code of compilers (the snapshots), of the forms that functions begin and end with,
 * and of random words.
 *
 * Covers: unwind/arch/arm64/code.h unwind/arch/arm64/registers.h
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <elf.h>
#include <glob.h>

#include "symbols/elf/elffile.h"
#include "tests/support/rights.h"
#include "unwind/arch.h"

#if __has_include(<capstone/capstone.h>)
#include <capstone/capstone.h>

#define RANDOM_WORDS 3000000u

static csh handle;
static cs_insn *insn;

static bool decode(uint32_t word)
{
	const uint8_t *code = (const uint8_t *)&word;
	size_t size = 4;
	uint64_t addr = 0x100000;

	return cs_disasm_iter(handle, &code, &size, &addr, insn);
}

static bool is(const char *mnemonic)
{
	return !strcmp(insn->mnemonic, mnemonic);
}

/*
 * x30 and x29 keep their value when they are signed or checked: capstone 5 names that, 4 says hint.
 */
static bool is_signing(void)
{
	return !strncmp(insn->mnemonic, "pac", 3) || !strncmp(insn->mnemonic, "aut", 3) ||
	       !strncmp(insn->mnemonic, "xpac", 4);
}

/* Capstone 4 takes what is compared, and what system calls and registers get, for what is written.
 */
static bool writes(unsigned int reg)
{
	cs_regs read, written;
	uint8_t nread, nwritten;

	if (strstr(insn->mnemonic, "cm") || is("tst") || is("msr") || is("sys") || is("svc") ||
	    is_signing() ||
	    cs_regs_access(handle, insn, read, &nread, written, &nwritten) != CS_ERR_OK)
		return false;
	for (uint8_t i = 0; i < nwritten; i++)
		if (written[i] == reg)
			return true;
	return false;
}

/* The place of an access by SP or the frame pointer, as capstone prints it: [sp, #n]. */
static bool place(unsigned int *base, int *at, bool *back, bool *behind)
{
	const cs_arm64 *a = &insn->detail->arm64;

	*back = a->writeback;
	for (uint8_t i = 0; i < a->op_count; i++) {
		const cs_arm64_op *op = &a->operands[i];

		if (op->type != ARM64_OP_MEM)
			continue;
		*base = op->mem.base;
		*at = op->mem.disp;
		*behind = false;
		if (i + 1 < a->op_count && a->operands[i + 1].type == ARM64_OP_IMM) {
			*at = (int)a->operands[i + 1].imm;
			*behind = *back = true;
		}
		return op->mem.index == ARM64_REG_INVALID;
	}
	return false;
}

/* Whether the instruction is a load or a store of x29 or x30, as a whole, at a place. */
static bool moves_record(unsigned int step, bool load)
{
	const cs_arm64 *a = &insn->detail->arm64;
	unsigned int flags = 0;

	for (uint8_t i = 0; i < a->op_count && a->operands[i].type == ARM64_OP_REG; i++) {
		if (a->operands[i].reg == ARM64_REG_X29)
			flags |= i ? 0xffff : ARCH_STEP_FP;
		if (a->operands[i].reg == ARM64_REG_X30)
			flags |= i ? ARCH_STEP_LINK_2 : ARCH_STEP_LINK;
	}
	if (strncmp(insn->mnemonic, load ? "ld" : "st", 2) != 0)
		return false;
	return flags == (step & (ARCH_STEP_FP | ARCH_STEP_LINK | ARCH_STEP_LINK_2));
}

static void check_access(uint32_t word, uint32_t step)
{
	unsigned int base = 0;
	int at = 0;
	bool back = false, behind = false;
	const bool load = ARCH_STEP_KIND(step) == ARCH_STEP_LOAD;

	if (!moves_record(step, load) || !place(&base, &at, &back, &behind) ||
	    base != (step & ARCH_STEP_BY_FP ? ARM64_REG_X29 : ARM64_REG_SP) ||
	    at != ARCH_STEP_VALUE(step) || back != !!(step & ARCH_STEP_MOVES) ||
	    behind != !!(step & ARCH_STEP_BEHIND))
		fail_msg("%08x %s %s: step %08x", word, insn->mnemonic, insn->op_str, step);
}

/* SP = SP or FP + value, or FP = SP + value. */
static void check_set(uint32_t word, uint32_t step)
{
	const cs_arm64 *a = &insn->detail->arm64;
	const unsigned int to =
		ARCH_STEP_KIND(step) == ARCH_STEP_SET_SP ? ARM64_REG_SP : ARM64_REG_X29;
	const unsigned int from = step & ARCH_STEP_BY_FP ? ARM64_REG_X29 : ARM64_REG_SP;
	int64_t value = 0;

	if (a->op_count > 2) {
		value = a->operands[2].imm;
		if (a->operands[2].shift.type == ARM64_SFT_LSL)
			value <<= a->operands[2].shift.value;
	}
	if (is("sub"))
		value = -value;
	if ((!is("mov") && !is("add") && !is("sub")) || a->operands[0].reg != to ||
	    a->operands[1].reg != from || value != ARCH_STEP_VALUE(step))
		fail_msg("%08x %s %s: step %08x", word, insn->mnemonic, insn->op_str, step);
}

/* What a step says must be what the instruction does; one that says nothing may do anything. */
static void check(uint32_t word)
{
	const uint32_t step = arch_epilogue(word);
	const bool moves_sp = step & ARCH_STEP_MOVES;
	unsigned int base = 0;
	int at = 0;
	bool back, behind;

	if (ARCH_STEP_KIND(step) == ARCH_STEP_OTHER || !decode(word))
		return;
	/* A pair of one register: not defined. A vector's store that moves its base by x30. */
	if ((word & 0x3a000000) == 0x28000000 && (word & 31) == (word >> 10 & 31))
		return;
	if (insn->mnemonic[0] == 's' && insn->mnemonic[2] >= '1' && insn->mnemonic[2] <= '4')
		return;
	switch (ARCH_STEP_KIND(step)) {
	case ARCH_STEP_RETURN:
		if ((!is("ret") || (insn->op_str[0] && strcmp(insn->op_str, "x30") != 0)) &&
		    !is("retaa") && !is("retab"))
			fail_msg("%08x %s is no return", word, insn->mnemonic);
		return;
	case ARCH_STEP_JUMP:
		if (!is("b"))
			fail_msg("%08x %s is no jump", word, insn->mnemonic);
		return;
	case ARCH_STEP_TAIL:
		assert_true(is("br"));
		return;
	case ARCH_STEP_LOAD:
	case ARCH_STEP_STORE:
		check_access(word, step);
		return;
	case ARCH_STEP_SET_SP:
	case ARCH_STEP_SET_FP:
		check_set(word, step);
		return;
	default:
		break;
	}
	if (writes(ARM64_REG_X29) || writes(ARM64_REG_X30) || writes(ARM64_REG_W29) ||
	    writes(ARM64_REG_W30) || is("br") || is("blr") || is("bl") || is("ret") ||
	    (writes(ARM64_REG_SP) || writes(ARM64_REG_WSP)) != moves_sp)
		fail_msg("%08x %s %s: plain, step %08x", word, insn->mnemonic, insn->op_str, step);
	if (moves_sp && (!place(&base, &at, &back, &behind) || at != ARCH_STEP_VALUE(step)))
		fail_msg("%08x %s %s: moves by %d", word, insn->mnemonic, insn->op_str,
			 ARCH_STEP_VALUE(step));
}

static int setup(void **state)
{
	(void)state;
	if (cs_open(CS_ARCH_ARM64, CS_MODE_ARM, &handle) != CS_ERR_OK)
		return -1;
	cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	insn = cs_malloc(handle);
	return insn ? 0 : -1;
}

static void random_words(void **state)
{
	uint64_t x = 88172645463325252u;

	(void)state;
	for (uint32_t i = 0; i < RANDOM_WORDS; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		check((uint32_t)x);
		/* Half of them at SP or the frame pointer, of x29 or x30. */
		check(((uint32_t)x & ~0x3ffu) | (x >> 40 & 1 ? 31u : 29u) << 5 |
		      (uint32_t)(29 + (x >> 41 & 3) % 3));
	}
}

/* True for a call by capstone; calls and places behind them are what a return address is. */
static void calls(void **state)
{
	uint64_t x = 0x9e3779b97f4a7c15u;

	(void)state;
	for (uint32_t i = 0; i < RANDOM_WORDS; i++) {
		uint32_t word;

		x = x * 6364136223846793005u + 1442695040888963407u;
		word = (uint32_t)(x >> 32);
		if (i & 1)
			word = (word & 0x0300ffffu) | 0xd63f0000u;
		if (!decode(word)) /* capstone 4 does not know all calls with authentication */
			continue;
		if (!strncmp(insn->mnemonic, "bl", 2) && insn->mnemonic[2] != 'r')
			assert_true(arch_calls(word));
		assert_int_equal(arch_calls(word) != 0, !strncmp(insn->mnemonic, "bl", 2));
	}
}

static void code_of_compilers(void **state)
{
	unsigned int words = 0, steps[16] = {0};
	glob_t files;

	(void)state;
	assert_int_equal(glob("tests/unwind/snapshots/arm64-*.elf", 0, NULL, &files), 0);
	assert_true(files.gl_pathc >= 6);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		struct elf_section text;
		struct elf_file *file;

		assert_int_equal(elf_file_open(files.gl_pathv[i], &file), 0);
		assert_int_equal(elf_file_section(file, ".text", &text), 0);
		for (size_t at = 0; at + 4 <= text.size; at += 4, words++) {
			uint32_t word;

			memcpy(&word, text.data + at, 4);
			check(word);
			steps[ARCH_STEP_KIND(arch_epilogue(word))]++;
		}
		elf_file_free(file);
	}
	globfree(&files);
	assert_true(words > 1000);
	/* Each kind has been met but the ends of PLT stubs, which are in sections of their own. */
	for (unsigned int kind = ARCH_STEP_OTHER; kind < ARCH_STEP_TAIL; kind++)
		assert_true(steps[kind] > 0);
}

/* Encodings by GNU as 2.40. */
static void known_forms(void **state)
{
	static const struct {
		uint32_t word, kind, flags;
		int value;
	} forms[] = {
		{0xd65f03c0, ARCH_STEP_RETURN, 0, 0}, /* ret */
		{0xd65f0bff, ARCH_STEP_RETURN, 0, 0}, /* retaa */
		{0xd65f0fff, ARCH_STEP_RETURN, 0, 0}, /* retab */
		{0xd65f0140, ARCH_STEP_OTHER, 0, 0},  /* ret x10 */
		{0xa9bd7bfd, ARCH_STEP_STORE,	      /* stp x29, x30, [sp, #-48]! */
		 ARCH_STEP_FP | ARCH_STEP_LINK_2 | ARCH_STEP_MOVES, -48},
		{0xa8c37bfd, ARCH_STEP_LOAD, /* ldp x29, x30, [sp], #48 */
		 ARCH_STEP_FP | ARCH_STEP_LINK_2 | ARCH_STEP_MOVES | ARCH_STEP_BEHIND, 48},
		{0xa9427bfd, ARCH_STEP_LOAD, ARCH_STEP_FP | ARCH_STEP_LINK_2, 32},
		{0xf81f0ffe, ARCH_STEP_STORE, ARCH_STEP_LINK | ARCH_STEP_MOVES, -16},
		{0xf84107fe, ARCH_STEP_LOAD, /* ldr x30, [sp], #16 */
		 ARCH_STEP_LINK | ARCH_STEP_MOVES | ARCH_STEP_BEHIND, 16},
		{0xf9400bfe, ARCH_STEP_LOAD, ARCH_STEP_LINK, 16}, /* ldr x30, [sp, #16] */
		{0xa94153f3, ARCH_STEP_PLAIN, 0, 16},		  /* ldp x19, x20, [sp, #16] */
		{0xa8c153f3, ARCH_STEP_PLAIN, ARCH_STEP_MOVES | ARCH_STEP_BEHIND, 16},
		{0x910003fd, ARCH_STEP_SET_FP, 0, 0},		    /* mov x29, sp */
		{0x9100c3fd, ARCH_STEP_SET_FP, 0, 48},		    /* add x29, sp, #48 */
		{0x910003bf, ARCH_STEP_SET_SP, ARCH_STEP_BY_FP, 0}, /* mov sp, x29 */
		{0xd10043bf, ARCH_STEP_SET_SP, ARCH_STEP_BY_FP, -16},
		{0x9103c3ff, ARCH_STEP_SET_SP, 0, 240}, /* add sp, sp, #240 */
		{0x914007ff, ARCH_STEP_SET_SP, 0, 4096},
		{0x8b2c63ff, ARCH_STEP_OTHER, 0, 0}, /* add sp, sp, x12 */
		{0xd503233f, ARCH_STEP_PLAIN, 0, 0}, /* paciasp */
		{0xd50323bf, ARCH_STEP_PLAIN, 0, 0}, /* autiasp */
		{0xd503201f, ARCH_STEP_PLAIN, 0, 0}, /* nop */
		{0xd4000001, ARCH_STEP_PLAIN, 0, 0}, /* svc #0 */
		{0xd4200020, ARCH_STEP_OTHER, 0, 0}, /* brk #1 */
		{0x94000010, ARCH_STEP_OTHER, 0, 0}, /* bl */
		{0xd63f0020, ARCH_STEP_OTHER, 0, 0}, /* blr x1 */
		{0xd61f0200, ARCH_STEP_TAIL, 0, 0},  /* br x16 */
		{0xd61f0040, ARCH_STEP_OTHER, 0, 0}, /* br x2 */
		{0x54000041, ARCH_STEP_PLAIN, 0, 0}, /* b.ne */
		{0xb4000040, ARCH_STEP_PLAIN, 0, 0}, /* cbz x0 */
		{0xaa1e03e9, ARCH_STEP_PLAIN, 0, 0}, /* mov x9, x30 */
		{0xaa0903fe, ARCH_STEP_OTHER, 0, 0}, /* mov x30, x9 */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		const uint32_t step = arch_epilogue(forms[i].word);

		if (ARCH_STEP_KIND(step) != forms[i].kind ||
		    (forms[i].kind != ARCH_STEP_OTHER && forms[i].kind != ARCH_STEP_JUMP &&
		     ((step & 0x3f0) != forms[i].flags || ARCH_STEP_VALUE(step) != forms[i].value)))
			fail_msg("%08x: step %08x", forms[i].word, step);
		assert_int_equal(arch_is_no_leaf(forms[i].word) != 0,
				 forms[i].kind == ARCH_STEP_RETURN || forms[i].word == 0xd65f0140 ||
					 forms[i].word == 0xa9bd7bfd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_forms),
		cmocka_unit_test(code_of_compilers),
		cmocka_unit_test(random_words),
		cmocka_unit_test(calls),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}

#else

static void without(void **state)
{
	(void)state;
	skip_since("capstone is not installed");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(without)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
