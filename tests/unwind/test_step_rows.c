// SPDX-License-Identifier: GPL-2.0-or-later
/* build: -fno-sanitize=alignment */
/*
 * The step on made-up tables: each kind of rule and each reason to end. The expected results were
 * worked out by hand from the comments of unwind/row.h.
 *
 * The step reads words where the stack says, aligned or not, as BPF on x86 may.
 * Covers: unwind/step.h unwind/row.h unwind/arch/x86_64/code.h
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <ucontext.h>

#include "tests/unwind/stepfake.h"

/* --- rows ------------------------------------------------------------------------------ */

static void test_short_rows(void **state)
{
	static const struct {
		uint32_t rule;
		uint32_t pc;			/* low bits */
		uint64_t cfa, ra_at, caller_fp; /* offsets in the stack; caller_fp 0: same */
	} cases[] = {
		/* sp is 0x1000, fp is 0x3000; RA is at CFA - 8, RBP at CFA - depth */
		{RULE_FRAME(ROW_SP, 8, 0), 0, 0x1008, 0x1000, 0},
		{RULE_FRAME(ROW_SP, 32, 16), 0, 0x1020, 0x1018, 0x1010},
		{RULE_FRAME(ROW_SP, 32, 32), 0, 0x1020, 0x1018, 0x1000},
		/* 4095 * 8 = 0x7ff8, 255 * 8 = 0x7f8 */
		{RULE_FRAME(ROW_SP, 0x7ff8, 0x7f8), 0, 0x8ff8, 0x8ff0, 0x8800},
		{RULE_FRAME(ROW_SP, 0x7ff8, 0), 0, 0x8ff8, 0x8ff0, 0},
		/* popped already, but still in memory below sp */
		{RULE_FRAME(ROW_SP, 8, 16), 0, 0x1008, 0x1000, 0xff8},
		{RULE_FRAME(ROW_FP, 16, 16), 0, 0x3010, 0x3008, 0x3000},
		{RULE_FRAME(ROW_FP, 8, 0), 0, 0x3008, 0x3000, 0},
		{RULE_FRAME(ROW_FP, 0x7ff8, 0x7f8), 0, 0xaff8, 0xaff0, 0xa800},
		/* one more word from byte 11 of a stub on */
		{RULE(ROW_PLT, 11), 0x20, 0x1008, 0x1000, 0},
		{RULE(ROW_PLT, 11), 0x2a, 0x1008, 0x1000, 0},
		{RULE(ROW_PLT, 11), 0x2b, 0x1010, 0x1008, 0},
		{RULE(ROW_PLT, 11), 0x2f, 0x1010, 0x1008, 0},
		{RULE(ROW_PLT, 10), 0x29, 0x1008, 0x1000, 0},
		{RULE(ROW_PLT, 10), 0x2a, 0x1010, 0x1008, 0},
		{RULE(ROW_PLT, 0), 0x20, 0x1010, 0x1008, 0},
		{RULE(ROW_PLT, 15), 0x2e, 0x1008, 0x1000, 0},
		{RULE(ROW_PLT, 15), 0x2f, 0x1010, 0x1008, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t fp = cases[i].caller_fp ? MARK + cases[i].caller_fp : FP;
		struct walk *w;

		put_rule(cases[i].rule);
		w = begin(TEXT + cases[i].pc, SP, FP, 1);
		w->fp_chain = 1; /* ends where rows begin */
		assert_int_equal(walk_step(w), WALK_CONTINUE);
		assert_int_equal(w->fp_chain, 0);
		assert_state(w, MARK + cases[i].ra_at, STACK + cases[i].cfa, fp);
		assert_int_equal(w->exact, 0);
		/* A stub and a frame of nothing but RA keep all callee-saved registers. */
		assert_int_equal(w->known, RULE_KIND(cases[i].rule) == ROW_PLT ||
							   cases[i].rule == RULE_FRAME(ROW_SP, 8, 0)
						   ? ARCH_CALLEE_SAVED
						   : 0);
		assert_int_equal(w->nframes, 1);
		assert_int_equal(w->frames[0], (TEXT + cases[i].pc) | 1ull << 63);
	}
}

static void test_ends_of_rows(void **state)
{
	(void)state;
	/* CFA = rsp + 0 and rbp + 8 = rsp: nothing was pushed since the call */
	put_rule(RULE_FRAME(ROW_SP, 0, 0));
	check_end(begin(TEXT, SP, FP, 1), WALK_BAD_CFA);
	put_rule(RULE_FRAME(ROW_FP, 8, 0));
	check_end(begin(TEXT, SP, SP - 8, 1), WALK_BAD_CFA);
	check_end(begin(TEXT, SP, SP - 0x100, 1), WALK_BAD_CFA);
	assert_int_equal(walk_step(begin(TEXT, SP, SP, 1)), WALK_CONTINUE);
	/* wraps around: rsp near 2^64 */
	put_rule(RULE_FRAME(ROW_SP, 16, 0));
	check_end(begin(TEXT, -8ull, FP, 1), WALK_BAD_CFA);

	put_rule(RULE(ROW_OUTERMOST, 0));
	check_end(begin(TEXT, SP, FP, 1), WALK_BOTTOM);
	put_rule(RULE_OUTERMOST(1, 16, 16));
	check_end(begin(TEXT, SP, FP, 1), WALK_BOTTOM);
	put_rule(RULE(ROW_UNSUPPORTED, ROW_CLASS_CFA_EXPRESSION));
	check_end(begin(TEXT, SP, FP, 1), WALK_UNSUPPORTED);
	put_rule(RULE(ROW_END, 0));
	check_end(begin(TEXT, SP, 0, 1), WALK_NOT_COVERED);
	/* kinds that do not exist: no information */
	put_rule(RULE(ROW_UNSUPPORTED + 1, 0x12345));
	check_end(begin(TEXT, SP, 0, 1), WALK_NOT_COVERED);
	/* what is derived counts as CFI does */
	put_rule(RULE(ROW_OUTERMOST, 0) | RULE_DERIVED);
	check_end(begin(TEXT, SP, FP, 1), WALK_BOTTOM);
	put_rule(RULE_FRAME(ROW_SP, 0, 0) | RULE_DERIVED);
	check_end(begin(TEXT, SP, FP, 1), WALK_BAD_CFA);

	put_rule(RULE_FRAME(ROW_SP, 16, 16));
	store(SP + 8, 1);
	assert_int_equal(walk_step(begin(TEXT, SP, FP, 1)), WALK_CONTINUE);
	/* first the saved rbp cannot be read, which this step does not need, then the return
	 * address */
	fake.holes[0] = (struct range){SP, 8, 0};
	assert_int_equal(walk_step(begin(TEXT, SP, FP, 1)), WALK_CONTINUE);
	assert_int_equal(fake.walk->fp, WALK_NO_FP);
	fake.holes[0] = (struct range){SP + 8, 8, 0};
	check_end(begin(TEXT, SP, FP, 1), WALK_READ_FAULT);
	fake.holes[0] = (struct range){SP + 16, 8, 0};
	assert_int_equal(walk_step(begin(TEXT, SP, FP, 1)), WALK_CONTINUE);
}

static void test_ends_of_mappings(void **state)
{
	const struct row row = {0, RULE_FRAME(ROW_SP, 8, 0)};
	struct walk *w;

	(void)state;
	put_rule(row.rule);
	w = begin(TEXT, SP, FP, 1);
	w->list_count = 0; /* so the entry belongs to another process */
	check_end(w, WALK_NO_MAPPING);
	check_end(begin(TEXT - 1, SP, FP, 1), WALK_NO_MAPPING);
	check_end(begin(TEXT + 256, SP, FP, 1), WALK_NO_MAPPING);
	check_end(begin(TEXT, SP, FP, 0), WALK_NO_MAPPING); /* pc - 1 */
	check_end(begin(0, SP, FP, 0), WALK_NO_MAPPING);
	check_end(begin(-1ull, SP, FP, 1), WALK_NO_MAPPING);
	assert_int_equal(walk_step(begin(TEXT + 256, SP, FP, 0)), WALK_CONTINUE);
	assert_int_equal(walk_step(begin(TEXT, SP, FP, 1)), WALK_CONTINUE);
	host_drop(host.entries, MAP_ENTRIES_MAX * sizeof(*host.entries));
	host.entries = NULL;
	check_end(begin(TEXT, SP, FP, 1), WALK_NO_MAPPING);
	host.entries = host_alloc(MAP_ENTRIES_MAX * sizeof(*host.entries));

	fake.nentries = 0;
	add_map(TEXT, TEXT + 256, TEXT, 0, MAP_META(MAP_PENDING, 0));
	add_map(TEXT + 256, TEXT + 512, TEXT + 256, 5u << SHARD_SHIFT, MAP_META(MAP_CFI, 1));
	add_map(TEXT + 512, TEXT + 768, 0, 0, MAP_META(MAP_NO_CFI, 0));
	add_map(TEXT + 768, TEXT + 1024, 0, 0, MAP_META(9, 0));
	/* No guess by the frame pointer while a table is still to come. */
	store(FP, FP + 0x100);
	store(FP + 8, TEXT + 0x80);
	fake.text[0x80 - 5] = 0xe8; /* call rel32 */
	check_end(begin(TEXT, SP, FP, 1), WALK_NO_TABLE);
	assert_int_equal(walk_step(begin(TEXT + 512, SP, FP, 1)), WALK_CONTINUE);
	check_end(begin(TEXT + 256, SP, FP, 1), WALK_NO_TABLE); /* shard 5 does not exist */
	check_end(begin(TEXT + 512, SP, 0, 1), WALK_NO_FRAME_POINTER);
	check_end(begin(TEXT + 768, SP, 0, 1), WALK_NO_FRAME_POINTER);

	put_rule(RULE(ROW_WIDE, 0));
	host_drop(host.wide, WIDE_RULES_MAX * sizeof(*host.wide));
	host.wide = NULL;
	check_end(begin(TEXT, SP, FP, 1), WALK_NO_TABLE);
}

/* --- wide rules ------------------------------------------------------------------------ */

#define R10 (STACK + 0x2000)

/* A walk at a place with this rule: r10 and rbx point to the stack, r12 and rdi are numbers. */
static struct walk *begin_wide(const struct wide_rule *rule)
{
	struct walk *w;

	host.wide[77] = *rule;
	put_rule(RULE(ROW_WIDE, 77));
	w = begin(TEXT, SP, FP, 1);
	w->regs[DWARF_R10] = R10;
	w->regs[DWARF_RBX] = R10 + 0x800;
	w->regs[DWARF_R12] = 0x1212;
	w->regs[DWARF_RDI] = 0xd1d1;
	return w;
}

static const struct wide_rule plain_wide = {
	.cfa_kind = WIDE_CFA_REG,
	.cfa_reg = DWARF_R10,
	.fp_kind = WIDE_SAME,
	.ra_kind = WIDE_AT_CFA,
	.ra_off = -8,
};

static void test_wide_rows(void **state)
{
	struct wide_rule r = plain_wide;
	struct walk *w;

	(void)state;
	/* CFA = r10 = 0x2000, RA at 0x1ff8 */
	w = begin_wide(&r);
	w->fp_chain = 1;
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_int_equal(w->fp_chain, 0);
	assert_state(w, MARK + 0x1ff8, R10, FP);
	assert_int_equal(w->exact, 0);
	/* CFA = r10 - 16 = 0x1ff0; RBP at CFA - 32 = 0x1fd0, RA at CFA - 24 = 0x1fd8 */
	r.cfa_off = -16;
	r.fp_kind = WIDE_AT_CFA;
	r.fp_off = -32;
	r.ra_off = -24;
	w = begin_wide(&r);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_state(w, MARK + 0x1fd8, STACK + 0x1ff0, MARK + 0x1fd0);
	/* RBP at rbp + 0x10 = 0x3010, RA at rbx + 8 = 0x2808 */
	r.fp_kind = WIDE_AT_REG;
	r.fp_reg = DWARF_RBP;
	r.fp_off = 0x10;
	r.ra_kind = WIDE_AT_REG;
	r.ra_reg = DWARF_RBX;
	r.ra_off = 8;
	w = begin_wide(&r);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_state(w, MARK + 0x2808, STACK + 0x1ff0, MARK + 0x3010);
	/* both in registers */
	r.fp_kind = WIDE_IN_REG;
	r.fp_reg = DWARF_R12;
	r.ra_kind = WIDE_IN_REG;
	r.ra_reg = DWARF_RDI;
	w = begin_wide(&r);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_state(w, 0xd1d1, STACK + 0x1ff0, 0x1212);
	r.fp_kind = WIDE_UNDEFINED;
	r.ra_reg = DWARF_RIP; /* the last register */
	w = begin_wide(&r);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_state(w, TEXT, STACK + 0x1ff0, 1);
	/* CFA = *(rbp - 40) + 16: at 0x2fd8 stands 0x4000; RA at 0x4010 - 8 */
	r = plain_wide;
	r.cfa_kind = WIDE_CFA_DEREF;
	r.cfa_reg = DWARF_RBP;
	r.cfa_off = -40;
	r.cfa_add = 16;
	store(STACK + 0x2fd8, STACK + 0x4000);
	w = begin_wide(&r);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_state(w, MARK + 0x4008, STACK + 0x4010, FP);
	/* CFA = **(rbp - 40) + 16: at 0x4000 stands 0x5000 */
	r.cfa_kind = WIDE_CFA_DEREF_TWICE;
	store(STACK + 0x4000, STACK + 0x5000);
	w = begin_wide(&r);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_state(w, MARK + 0x5008, STACK + 0x5010, FP);
	fake.holes[0] = (struct range){STACK + 0x4000, 8, 0};
	check_end(begin_wide(&r), WALK_READ_FAULT);
	fake.holes[0].size = 0;
	store(STACK + 0x4000, MARK + 0x4000);
	/* Haskell's stack, far below this one: RBP = CFA = rbp - 0x1000, RA there, RSP 8 higher */
	r = (struct wide_rule){.cfa_reg = DWARF_RBP,
			       .cfa_off = -0x1000,
			       .cfa_add = 8,
			       .fp_kind = WIDE_IS_CFA,
			       .ra_kind = WIDE_AT_CFA,
			       .flags = WIDE_SIGNAL};
	w = begin_wide(&r);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_state(w, MARK + 0x2000, SP + 8, FP - 0x1000);
	assert_int_equal(w->exact, 1);
	/* CFA = rsp + 0xc350, beyond the limit of a row; then near the limit of 32 bits */
	r = plain_wide;
	r.cfa_reg = DWARF_RSP;
	r.cfa_off = 0xc350;
	w = begin_wide(&r);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_state(w, MARK + 0xd348, STACK + 0xd350, FP);
	r.cfa_off = 0x7fffffff;
	check_end(begin_wide(&r), WALK_READ_FAULT);
}

static void test_signal_row(void **state)
{
	struct wide_rule r = plain_wide;
	struct walk *w;

	(void)state;
	/* As in glibc's __restore_rt: CFA = *(rsp + 160), here below this very stack. */
	r.cfa_kind = WIDE_CFA_DEREF;
	r.cfa_reg = DWARF_RSP;
	r.cfa_off = 160;
	r.fp_kind = r.ra_kind = WIDE_AT_REG;
	r.fp_reg = r.ra_reg = DWARF_RSP;
	r.fp_off = 120;
	r.ra_off = 168;
	store(SP + 160, STACK + 0x200);
	check_end(begin_wide(&r), WALK_BAD_CFA);
	r.flags = WIDE_SIGNAL;
	store(SP + 168, TEXT);
	w = begin_wide(&r);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_state(w, TEXT, STACK + 0x200, MARK + 0x1078);
	/* The caller was interrupted at its first byte, not called: pc - 1 is in no mapping. */
	assert_int_equal(w->exact, 1);
	put_rule(RULE_FRAME(ROW_SP, 8, 0));
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_state(w, MARK + 0x200, STACK + 0x208, MARK + 0x1078);
	assert_int_equal(w->frames[1], TEXT | 1ull << 63);
	assert_int_equal(w->exact, 0);
	/* A signal frame that leads to itself ends at the depth limit. */
	store(SP + 160, SP);
	assert_int_equal(host_walk(begin_wide(&r)), WALK_DEPTH);
	assert_int_equal(fake.walk->nframes, WALK_FRAMES_MAX);
}

/* The C library's declaration of struct sigcontext tells the place of each register. */
static void test_sigcontext(void **state)
{
	static const struct {
		uint8_t reg;
		int greg;
	} order[] = {
		{DWARF_RAX, REG_RAX}, {DWARF_RDX, REG_RDX}, {DWARF_RCX, REG_RCX},
		{DWARF_RBX, REG_RBX}, {DWARF_RSI, REG_RSI}, {DWARF_RDI, REG_RDI},
		{DWARF_RBP, REG_RBP}, {DWARF_RSP, REG_RSP}, {DWARF_R8, REG_R8},
		{DWARF_R9, REG_R9},   {DWARF_R10, REG_R10}, {DWARF_R11, REG_R11},
		{DWARF_R12, REG_R12}, {DWARF_R13, REG_R13}, {DWARF_R14, REG_R14},
		{DWARF_R15, REG_R15}, {DWARF_RIP, REG_RIP},
	};
	const uint64_t gregs = offsetof(ucontext_t, uc_mcontext.gregs);
	struct wide_rule r = plain_wide;
	struct walk *w;

	(void)state;
	r.cfa_kind = WIDE_CFA_DEREF;
	r.cfa_reg = DWARF_RSP;
	r.cfa_off = (__s32)gregs + 8 * REG_RSP;
	r.flags = WIDE_SIGNAL | WIDE_SIGCONTEXT;
	for (uint64_t i = 0; i < NGREG; i++)
		store(SP + gregs + 8 * i, STACK + 0x100 * i);
	w = begin_wide(&r);
	w->known = 0;
	w->nframes = 1; /* the handler's */
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_state(w, STACK + 0x100 * REG_RIP, STACK + 0x100 * REG_RSP, STACK + 0x100 * REG_RBP);
	assert_int_equal(w->exact, 1);
	assert_int_equal(w->known, WALK_ALL_KNOWN);
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		assert_int_equal(w->regs[order[i].reg], STACK + 0x100ull * (uint64_t)order[i].greg);
	/* The leaf, with a saved pc in no mapping: the kernel is restoring the registers. */
	assert_int_equal(walk_step(begin_wide(&r)), WALK_NO_REGISTERS);
	store(SP + gregs + 8 * REG_RIP, TEXT);
	assert_int_equal(walk_step(begin_wide(&r)), WALK_CONTINUE);
	/* Zero is what was executing: a null pointer was called. */
	store(SP + gregs + 8 * REG_RIP, 0);
	w = begin_wide(&r);
	w->nframes = 1;
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_int_equal(w->pc, 0);
	assert_int_equal(w->exact, 1);
	fake.holes[0] = (struct range){SP + gregs + 8 * REG_RIP, 8, 0};
	check_end(begin_wide(&r), WALK_READ_FAULT);
	fake.holes[0].size = 0;
}

/* Only wide rules keep a register that the file's rules track. */
static void test_kept_register(void **state)
{
	struct wide_rule r = plain_wide;
	struct walk *w;

	(void)state;
	/* unchanged */
	r.flags = WIDE_KEPT(DWARF_RBX);
	w = begin_wide(&r);
	w->regs[DWARF_RBX] = 0xb0b0;
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_int_equal(w->known, 1u << DWARF_RBX);
	assert_int_equal(w->regs[DWARF_RBX], 0xb0b0);
	/* saved at CFA - 24; the CFA is RBP */
	r.kept = 3;
	r.cfa_reg = DWARF_RBP;
	w = begin_wide(&r);
	w->known = 0;
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_int_equal(w->known, 1u << DWARF_RBX);
	assert_int_equal(w->regs[DWARF_RBX], MARK + (FP - 24 - STACK));
	fake.holes[0] = (struct range){FP - 24, 8, 0};
	assert_int_equal(walk_step(begin_wide(&r)), WALK_CONTINUE);
	assert_int_equal(fake.walk->known, 0);
	fake.holes[0].size = 0;
	/* lost before, or in this frame */
	r.kept = 0;
	w = begin_wide(&r);
	w->known = 0;
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_int_equal(w->known, 0);
	r.kept = WIDE_KEPT_LOST;
	w = begin_wide(&r);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_int_equal(w->known, 0);
}

/* clone returns twice: the child, which has no caller, finds zero in RAX. */
static void test_cloned(void **state)
{
	struct wide_rule r = plain_wide;
	struct walk *w;

	(void)state;
	r.cfa_reg = DWARF_RSP;
	r.cfa_off = 8;
	r.ra_off = -8;
	r.flags = WIDE_CLONED;
	store(SP, TEXT);
	w = begin_wide(&r);
	w->regs[DWARF_RAX] = (uint64_t)-38; /* ENOSYS, while the system call lasts */
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_state(w, TEXT, SP + 8, FP);
	w = begin_wide(&r);
	w->regs[DWARF_RAX] = 0;
	check_end(w, WALK_BOTTOM);
	/* That code has no call: it cannot be a frame further up, where RAX is unknown. */
	w = begin_wide(&r);
	w->known &= ~(1u << DWARF_RAX);
	check_end(w, WALK_REGISTER);
	/* A register that the file's rules track is kept. */
	r.flags = WIDE_CLONED | WIDE_KEPT(DWARF_RBX);
	w = begin_wide(&r);
	w->regs[DWARF_RAX] = 1234;
	w->regs[DWARF_RBX] = 0xb0b0;
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_int_equal(w->known, 1u << DWARF_RBX);
	assert_int_equal(w->regs[DWARF_RBX], 0xb0b0);
}

/*
 * Go's systemstack: by the links from the thread pointer to the stack pointer that the goroutine
 * has saved; else the frame pointer leads past the caller: such a walk is complete, but a guess.
 */
static void test_go_links(void **state)
{
	struct wide_rule r = {
		.cfa_kind = WIDE_CFA_GO, .cfa_off = -8, .cfa_add = 48, .fp_off = 192, .ra_off = 56};
	const __u64 thread = R10 + 64, g = R10 + 256, m = R10 + 512, goroutine = R10 + 1024;
	const __u64 saved = FP + 64; /* its stack may be below this one, too */
	struct walk *w;

	(void)state;
	store(thread - 8, g);
	store(g + 48, m);
	store(m + 192, goroutine);
	store(goroutine + 56, saved);
	store(saved, TEXT + 0x80);
	fake.text[0x80 - 5] = 0xe8; /* call rel32 */
	store(FP, FP + 128);
	store(FP + 8, TEXT + 64);
	host.thread_pointer = thread;
	w = begin_wide(&r);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_state(w, TEXT + 0x80, saved + 8, FP);
	assert_false(w->guessed);

	/* no call, no links, no thread pointer */
	store(saved, TEXT + 1);
	for (int i = 0; i < 3; i++) {
		w = begin_wide(&r);
		assert_int_equal(walk_step(w), WALK_CONTINUE);
		assert_state(w, TEXT + 64, FP + 16, FP + 128);
		assert_true(w->guessed);
		store(saved, TEXT + 0x80);
		if (i)
			host.thread_pointer = 0;
		else
			r.cfa_off = 0;
	}
	store(FP + 8, 0);
	assert_int_equal(walk_step(begin_wide(&r)), WALK_ZERO);
}

/*
 * CFA = *FP + 16, the place of a record that this frame has made for its callee, which may have
 * restored the caller's FP when it returned.
 */
static void test_has_left(void **state)
{
	const uint64_t record = SP + 0x400, caller = FP;
	struct wide_rule r = plain_wide;

	(void)state;
	r.cfa_kind = WIDE_CFA_DEREF;
	r.cfa_reg = DWARF_RBP;
	r.cfa_off = 0;
	r.cfa_add = 16;
	r.fp_kind = WIDE_AT_CFA;
	r.fp_off = -16;
	r.ra_off = -8;
	for (int i = 0; i < 4; i++) {
		const int left = i & 1, exact = i >> 1;
		struct walk *w = begin_wide(&r);

		w->pc = TEXT + 0x20;
		store(record, caller);
		store(record + 8, w->pc); /* the callee has it there */
		store(caller, caller + 0x80);
		put_call(TEXT + 0x60, 0);
		store(caller + 8, TEXT + 0x60);
		store(caller + 0x80, 1);
		store(caller + 0x88, TEXT + 0x40);
		put_call(TEXT + 0x40, 0);
		w->exact = (uint32_t)exact;
		w->fp = left ? caller : record;
		assert_int_equal(walk_step(w), WALK_CONTINUE);
		if (left && exact) /* no call has been made: as CFI has it */
			assert_state(w, TEXT + 0x40, caller + 0x90, 1);
		else
			assert_state(w, TEXT + 0x60, caller + 16, caller + 0x80);
	}
}

/* --- a pc of zero ---------------------------------------------------------------------------- */

/*
 * A return address of zero is the bottom where the main thread's stack begins, where memory ends,
 * or where the caller's frame pointer says so too; but in no leaf, and not on a stack that the
 * function has just moved to.
 */
static void test_zero(void **state)
{
	static const struct {
		uint64_t fp;	/* the caller's */
		uint64_t start; /* of the main thread's stack; 0: not known */
		int exact, ends;
		const char *code; /* before the call */
		int reason;
	} cases[] = {
		{FP, 0, 0, 0, "\x90", WALK_ZERO},
		{0, 0, 0, 0, "\x90", WALK_BOTTOM_FP},
		{0, 0, 1, 0, "\x90", WALK_ZERO},
		{SP + 16, 0, 0, 0, "\x90", WALK_BOTTOM_FP},
		{SP + 16 + 127, 0, 0, 0, "\x90", WALK_BOTTOM_FP},
		{SP + 16 + 128, 0, 0, 0, "\x90", WALK_ZERO},
		{SP + 8, 0, 0, 0, "\x90", WALK_ZERO},
		{FP, SP + 16, 0, 0, "\x90", WALK_BOTTOM},
		{FP, SP + 16 + 127, 1, 0, "\x90", WALK_BOTTOM},
		{FP, SP + 16 + 128, 0, 0, "\x90", WALK_ZERO},
		{FP, 0, 0, 1, "\x90", WALK_BOTTOM},
		{FP, 0, 1, 1, "\x90", WALK_ZERO},
		/* SP was loaded, from a register or memory */
		{0, 0, 0, 1, "\x48\x89\xc4", WALK_ZERO},		 /* mov %rax, %rsp */
		{0, 0, 0, 1, "\x4c\x89\xf4", WALK_ZERO},		 /* mov %r14, %rsp */
		{0, 0, 0, 1, "\x48\x8b\x25\x10\x20\x30\x40", WALK_ZERO}, /* mov n(%rip), %rsp */
		{0, 0, 0, 1, "\x49\x8b\x64\x24\x38", WALK_ZERO},	 /* mov 0x38(%r12), %rsp */
		{0, 0, 0, 1, "\x48\x87\xe0", WALK_ZERO},		 /* xchg %rsp, %rax */
		{0, 0, 0, 1, "\x4d\x87\xe3", WALK_BOTTOM},		 /* xchg %r12, %r11 */
		{0, 0, 0, 1, "\x48\x8d\xa7\x10\x20\x30\x40", WALK_ZERO}, /* lea n(%rdi), %rsp */
		/* from what it was, or to somewhere else */
		{0, 0, 0, 1, "\x48\x8d\x64\x24\x08", WALK_BOTTOM}, /* lea 8(%rsp), %rsp */
		{0, 0, 0, 1, "\x48\x89\xec", WALK_ZERO},	   /* mov %rbp, %rsp */
		{0, 0, 0, 1, "\x48\x89\xec\x5d", WALK_BOTTOM},	   /* and pop %rbp */
		{0, 0, 0, 1, "\x48\x8d\x65\xd8", WALK_BOTTOM},	   /* lea -0x28(%rbp), %rsp */
		{0, 0, 0, 1, "\x48\x89\xe0", WALK_BOTTOM},	   /* mov %rsp, %rax */
		{0, 0, 0, 1, "\x49\x89\xc4", WALK_BOTTOM},	   /* mov %rax, %r12 */
	};

	(void)state;
	put_rule(RULE_FRAME(ROW_SP, 16, 16));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (int far = 0; far < 2; far++) {
			const uint64_t top = ((SP + 16) | 4095) + 1,
				       at = cases[i].ends ? top - 16 : SP;
			struct walk *w;

			memset(fake.text, 0x90, GRANULE_SIZE);
			memcpy(fake.text + 0x80 - 5 - strlen(cases[i].code) - (far ? 40 : 0),
			       cases[i].code, strlen(cases[i].code));
			put_call(TEXT + 0x80, 0);
			store(at, cases[i].fp);
			store(at + 8, 0);
			fake.holes[0] = (struct range){top, cases[i].ends ? 8 : 0, 1};
			w = begin(TEXT + 0x80, at, FP, cases[i].exact);
			w->start_stack = cases[i].start;
			check_end(w, cases[i].reason);
		}
	}
	fake.holes[0].size = 0;
}

/* A null pointer that was called has pushed a return address and nothing else. */
static void test_null_call(void **state)
{
	struct walk *w;

	(void)state;
	put_rule(RULE_FRAME(ROW_SP, 16, 16));
	store(SP, put_call(TEXT + 0x80, 0));
	w = begin(0, SP, FP, 1);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_state(w, TEXT + 0x80, SP + 8, FP);
	assert_int_equal(w->exact, 0);
	assert_true(w->frames[0] == FRAME_EXACT);
	/* also with an offset, where nothing can be mapped; else code may have come since */
	assert_int_equal(walk_step(begin(0xffff, SP, FP, 1)), WALK_CONTINUE);
	check_end(begin(0x10000, SP, FP, 1), WALK_NO_MAPPING);
	check_end(begin(0, SP, FP, 0), WALK_NO_MAPPING);
	store(SP, TEXT + 0x81);
	check_end(begin(0, SP, FP, 1), WALK_NO_MAPPING);
	fake.holes[0] = (struct range){SP, 8, 0};
	check_end(begin(0, SP, FP, 1), WALK_READ_FAULT);
	fake.holes[0].size = 0;
}

static void test_ends_of_wide_rows(void **state)
{
	struct wide_rule r = plain_wide;

	(void)state;
	r.ra_kind = WIDE_UNDEFINED;
	check_end(begin_wide(&r), WALK_BOTTOM);
	r.ra_kind = WIDE_SAME;
	check_end(begin_wide(&r), WALK_BOTTOM);
	r = plain_wide;
	r.flags = WIDE_SP_LOST;
	check_end(begin_wide(&r), WALK_REGISTER);
	r = plain_wide;
	store(R10 - 8, 0);
	assert_int_equal(walk_step(begin_wide(&r)), WALK_ZERO);

	/* CFA = rsp - 8, and rsp with the return address popped: in a register, or gone */
	r.cfa_reg = DWARF_RSP;
	check_end(begin_wide(&r), WALK_BAD_CFA);
	r.ra_kind = WIDE_IN_REG;
	r.ra_reg = DWARF_RDI;
	assert_int_equal(walk_step(begin_wide(&r)), WALK_CONTINUE);
	assert_state(fake.walk, 0xd1d1, SP, FP);
	r.cfa_off = -8;
	check_end(begin_wide(&r), WALK_BAD_CFA);

	/* unreadable words: the CFA, RBP, RA */
	r = plain_wide;
	r.cfa_kind = WIDE_CFA_DEREF;
	r.fp_kind = WIDE_AT_CFA;
	r.fp_off = -16;
	store(R10, STACK + 0x4000);
	store(STACK + 0x3ff0, 1);
	assert_int_equal(walk_step(begin_wide(&r)), WALK_CONTINUE);
	fake.holes[0] = (struct range){R10, 8, 0};
	check_end(begin_wide(&r), WALK_READ_FAULT);
	fake.holes[0] = (struct range){STACK + 0x3ff0, 8, 0};
	assert_int_equal(walk_step(begin_wide(&r)), WALK_CONTINUE);
	assert_int_equal(fake.walk->fp, WALK_NO_FP);
	fake.holes[0] = (struct range){STACK + 0x3ff8, 8, 0};
	check_end(begin_wide(&r), WALK_READ_FAULT);
}

/* Only the innermost frame has all registers; pc, sp and fp are known in each. */
static void test_lost_registers(void **state)
{
	static const uint8_t known[] = {DWARF_RSP, DWARF_RBP};
	struct wide_rule r;
	struct walk *w;

	(void)state;
	for (unsigned int reg = 0; reg < 256; reg++) {
		int lost = reg != DWARF_RSP && reg != DWARF_RBP;

		for (int use = 0; use < 5; use++) {
			r = plain_wide;
			r.cfa_reg = DWARF_RBP;
			r.cfa_reg = use == 0 ? reg : r.cfa_reg;
			r.fp_kind = use == 1 ? WIDE_IN_REG : use == 2 ? WIDE_AT_REG : WIDE_SAME;
			r.ra_kind = use == 3 ? WIDE_IN_REG : use == 4 ? WIDE_AT_REG : WIDE_AT_CFA;
			r.fp_reg = r.ra_reg = reg;
			if (use == 4)
				r.ra_off = 16;
			if (use == 0)
				r.cfa_off = 16;
			w = begin_wide(&r);
			for (unsigned int i = 0; i < DWARF_COUNT; i++)
				w->regs[i] = SP + 0x100 + 8 * i;
			w->known = 0;
			assert_int_equal(walk_step(w), lost ? WALK_REGISTER : WALK_CONTINUE);
			w = begin_wide(&r);
			for (unsigned int i = 0; i < DWARF_COUNT; i++)
				w->regs[i] = SP + 0x100 + 8 * i;
			assert_int_equal(walk_step(w),
					 reg >= DWARF_COUNT ? WALK_REGISTER : WALK_CONTINUE);
		}
	}
	/* the first step of each kind ends what is known */
	for (unsigned int i = 0; i < sizeof(known); i++) {
		r = plain_wide;
		r.cfa_reg = known[i];
		r.cfa_off = 16;
		w = begin_wide(&r);
		assert_int_equal(w->known, WALK_ALL_KNOWN);
		assert_int_equal(walk_step(w), WALK_CONTINUE);
		assert_int_equal(w->known, 0);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(short_rows), TEST(ends_of_rows),	   TEST(ends_of_mappings), TEST(wide_rows),
		TEST(signal_row), TEST(sigcontext),	   TEST(kept_register),	   TEST(cloned),
		TEST(go_links),	  TEST(ends_of_wide_rows), TEST(lost_registers),   TEST(zero),
		TEST(null_call),  TEST(has_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
