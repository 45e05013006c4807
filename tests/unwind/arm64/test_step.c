// SPDX-License-Identifier: GPL-2.0-or-later
/* build: -fno-sanitize=alignment */
/*
 * The step on arm64, on made-up stacks, tables and code. What is expected follows from AAPCS64
 * (frame records, x30), from the kernel's signal frame, and from which calls the made-up code could
 * have made. Encodings are those of GNU as.
 *
 * Covers: unwind/arch/arm64/step.h unwind/step.h unwind/bare.h
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdbool.h>
#include <cmocka.h>

#include "tests/unwind/stepfake.h"

#define NOP  0xd503201fu
#define RET  0xd65f03c0u
#define BLR  0xd63f0020u     /* blr x1 */
#define SIGN (0x5aull << 48) /* of a return address */
#define TAG  (0x3cull << 56) /* of a pointer to data */

#define FRAME_BYTES 4688 /* of the kernel, up to its record */

/* A granule with CFI, the code of two functions without CFI in it, and code of another file. */
#define CFI	TEXT
#define BARE	(TEXT + 0x1000)
#define BARE_TO (TEXT + 0x3000)
#define PC	(BARE + 0x800)
#define CALLER	(CFI + 0x100) /* behind a call */

static void put_code(uint64_t addr, const uint32_t *code, size_t n)
{
	memcpy(fake.text + (addr - TEXT), code, n * 4);
}

/* A call before the address: of the target, or by a register. Returns the address. */
static uint64_t put_call(uint64_t ra, uint64_t target)
{
	uint32_t call =
		target ? 0x94000000u | ((uint32_t)((int64_t)(target - (ra - 4)) >> 2) & 0x03ffffffu)
		       : BLR;

	put_code(ra - 4, &call, 1);
	return ra;
}

/* The return address is saved, at the bottom of a frame of 32 bytes, and the frame pointer is not.
 */
static const struct wide_rule ra_alone = {
	.cfa_reg = ARCH_SP,
	.cfa_off = 32,
	.fp_kind = WIDE_SAME,
	.ra_kind = WIDE_AT_CFA,
	.ra_off = -32,
};

static int setup_arm64(void **state)
{
	const uint32_t nop = NOP;

	if (setup(state))
		return -1;
	for (uint64_t at = TEXT; at < TEXT + TEXT_SIZE; at += 4)
		put_code(at, &nop, 1);
	put_call(CALLER, 0);
	return 0;
}

/* All of [CFI, CFI + 0x400) has the rule; BARE has none. */
static void put_maps(uint32_t rule)
{
	put_rule(rule);
	add_map(BARE, BARE_TO, 0, 0, MAP_META(MAP_NO_CFI, 0));
}

static struct walk *begin_link(uint64_t pc, uint64_t sp, uint64_t fp, int exact, uint64_t link)
{
	struct walk *w = begin(pc, sp, fp, exact);

	w->regs[ARCH_LINK] = link;
	return w;
}

static void record(uint64_t at, uint64_t fp, uint64_t ra)
{
	store(at, fp);
	store(at + 8, ra);
}

/* --- rows ------------------------------------------------------------------------------------ */

static void leaf_row(void **state)
{
	struct walk *w;

	(void)state;
	put_maps(RULE_FRAME(ROW_SP, 0, 0));
	w = begin_link(CFI + 8, SP, FP, 1, CALLER | SIGN);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_state(w, CALLER, SP, FP);
	assert_int_equal(w->exact, 0);
	/* Further out, x30 is another's. */
	check_end(w, WALK_REGISTER);
}

static void record_row(void **state)
{
	struct walk *w;

	(void)state;
	put_maps(RULE_FRAME(ROW_SP, 48, 48));
	record(SP, (FP + 64) | TAG, CALLER | SIGN);
	record(SP + 48, 0, 0); /* right above */
	w = begin(CFI + 8, SP, FP, 1);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_state(w, CALLER, SP + 48, FP + 64);
	assert_int_equal(w->sp_is_least, 0);
	assert_int_equal(walk_step(w), WALK_BOTTOM_FP);
}

/* Go's record is below SP. */
static void record_below(void **state)
{
	struct walk *w;

	(void)state;
	put_maps(RULE_FRAME(ROW_SP, 32, 40));
	record(SP - 8, FP, CALLER);
	w = begin(CFI + 8, SP, SP - 8, 1);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_state(w, CALLER, SP + 32, FP);
}

static void wide_rows(void **state)
{
	struct walk *w;

	(void)state;
	put_maps(RULE(ROW_WIDE, 0));
	/* The return address alone is saved. */
	host.wide[0] = ra_alone;
	store(SP, CALLER | SIGN);
	w = begin(CFI + 8, SP, FP, 1);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_state(w, CALLER, SP + 32, FP);
	/* It is in a register that the code had moved it to. */
	host.wide[0] = (struct wide_rule){
		.cfa_reg = ARCH_SP, .fp_kind = WIDE_SAME, .ra_kind = WIDE_IN_REG, .ra_reg = 9};
	w = begin(CFI + 8, SP, FP, 1);
	w->regs[9] = CALLER | SIGN;
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_state(w, CALLER, SP, FP);
	/* A clone's child has no caller, its parent has. */
	host.wide[0] = (struct wide_rule){.cfa_reg = ARCH_SP,
					  .fp_kind = WIDE_SAME,
					  .ra_kind = WIDE_IN_REG,
					  .ra_reg = ARCH_LINK,
					  .flags = WIDE_CLONED};
	w = begin_link(CFI + 8, SP, FP, 1, CALLER);
	w->regs[0] = 0;
	check_end(w, WALK_BOTTOM);
	w = begin_link(CFI + 8, SP, FP, 1, CALLER);
	w->regs[0] = 1234;
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_state(w, CALLER, SP, FP);
	/* No register that `known` has no bit for. */
	host.wide[0].ra_reg = ARCH_PC;
	host.wide[0].flags = 0;
	w = begin(CFI + 8, SP, FP, 1);
	check_end(w, WALK_REGISTER);
}

/* --- code without CFI: frame records --------------------------------------------------------- */

/* A record says nothing of SP; the caller's CFI finds its frame by its own record. */
static void sp_by_record(void **state)
{
	const uint64_t outer = FP + 0x100;
	struct walk *w;

	(void)state;
	put_maps(RULE_FRAME(ROW_SP, 96, 32));
	put_call(PC, 0);
	record(FP, outer, CALLER | SIGN);
	record(outer, FP + 0x400, CALLER);
	w = begin(PC, SP, FP, 0);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_int_equal(w->pc, CALLER);
	assert_int_equal(w->fp, outer);
	assert_int_equal(w->sp_is_least, 1);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_state(w, CALLER, outer + 32, FP + 0x400);
	assert_int_equal(w->sp_is_least, 0);
}

/* ... and one that saves no frame pointer cannot be found. */
static void sp_lost(void **state)
{
	struct walk *w;

	(void)state;
	put_maps(RULE(ROW_WIDE, 0));
	host.wide[0] = ra_alone;
	put_call(PC, 0);
	record(FP, FP + 0x100, CALLER);
	w = begin(PC, SP, FP, 0);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	check_end(w, WALK_REGISTER);
	/* With the frame pointer's place in the rule it is. */
	host.wide[0].fp_kind = WIDE_AT_CFA;
	host.wide[0].fp_off = -24;
	record(FP + 0x100, FP + 0x200, 0);
	store(FP + 0x100 + 24 - 32, CALLER);
	w = begin(PC, SP, FP, 0);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_state(w, CALLER, FP + 0x100 + 24, FP + 0x200);
}

static void last_record(void **state)
{
	struct walk *w;

	(void)state;
	put_maps(RULE_FRAME(ROW_SP, 0, 0));
	put_call(PC, 0);
	record(FP, 0, 0);
	w = begin(PC, SP, FP, 0);
	check_end(w, WALK_BOTTOM_FP);
	/* A number that no call has left is no return address. */
	record(FP, 0, BARE + 0x1000);
	w = begin(PC, SP, FP, 0);
	check_end(w, WALK_NO_FRAME_POINTER);
	/* Go's, below SP. */
	record(SP - 8, FP, CALLER);
	put_call(PC, 0);
	w = begin(PC, SP, SP - 8, 0);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_int_equal(w->pc, CALLER);
	/* Further below is none. */
	w = begin(PC, SP, SP - 16, 0);
	check_end(w, WALK_NO_FRAME_POINTER);
}

/* --- code without CFI: what the next instructions do ------------------------------------------ */

struct edge {
	uint32_t code[6];
	enum { LINK, SLOT, NONE } ra; /* in x30; at SP + at; not told */
	int at, sp;		      /* sp: CFA - SP; -1: at least SP */
	bool fp;		      /* the record has the caller's frame pointer, too */
};

static const struct edge edges[] = {
	{{RET}, LINK, 0, 0, false},
	{{0xd65f0bff}, LINK, 0, 0, false},		     /* retaa */
	{{0xd50323bf, RET}, LINK, 0, 0, false},		     /* autiasp; ret */
	{{0x91008000, 0xb4000040, RET}, LINK, 0, 0, false},  /* add x0, x0; cbz; ret */
	{{0x910043ff, RET}, LINK, 0, 16, false},	     /* add sp, sp, #16; ret */
	{{0xa8c27bfd, RET}, SLOT, 0, 32, true},		     /* ldp x29, x30, [sp], #32 */
	{{0xa9417bfd, 0x910083ff, RET}, SLOT, 16, 32, true}, /* ldp ..., [sp, #16]; add sp */
	{{0xa94153f3, 0xa8c27bfd, 0xd50323bf, RET}, SLOT, 0, 32, true}, /* ldp x19, x20 before */
	{{0xf84107fe, RET}, SLOT, 0, 16, false},			/* ldr x30, [sp], #16 */
	{{0xf9400bfe, 0x910083ff, RET}, SLOT, 16, 32, false},
	{{0xa8c153f3, 0xa8c17bfd, RET}, SLOT, 16, 32, true}, /* two post-indexed loads */
	{{0xa9407bfd, 0x8b2c63ff, RET}, SLOT, 0, -1, true},  /* add sp, sp, x12: not told */
	{{0xa9be7bfd}, LINK, 0, -1, false},		     /* stp x29, x30, [sp, #-32]! */
	{{0xd503233f, 0xa9be7bfd}, LINK, 0, -1, false},	     /* paciasp */
	{{0xf81f0ffe}, LINK, 0, -1, false},		     /* str x30, [sp, #-16]! */
	{{0xd10103ff, 0xa9027bfd}, LINK, 0, -1, false},	     /* sub sp, sp; stp */
	{{0x14000002, 0xd4200020, RET}, LINK, 0, 0, false},  /* b over a brk */
	{{BLR}, NONE, 0, 0, false},
	{{0xd4200020}, NONE, 0, 0, false},
	{{0xd61f0040}, NONE, 0, 0, false}, /* br x2: a jump table */
	{{0xd61f0200}, NONE, 0, 0, false}, /* br x16 inside of the code: another one */
};

static void edges_of_functions(void **state)
{
	(void)state;
	put_maps(RULE_FRAME(ROW_SP, 0, 0));
	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
		const struct edge *e = &edges[i];
		const uint64_t fp = FP + 0x40;
		struct walk *w;

		put_code(PC, e->code, 6);
		record(FP, 0, CALLER + 0x80); /* of the innermost frame that has one */
		put_call(CALLER + 0x80, 0);
		if (e->ra == SLOT) {
			store(SP + (uint64_t)e->at, e->fp ? fp | TAG : CALLER);
			if (e->fp)
				store(SP + (uint64_t)e->at + 8, CALLER | SIGN);
		}
		w = begin_link(PC, SP, FP, 1, e->ra == LINK ? CALLER | SIGN : BARE + 4);
		assert_int_equal(walk_step(w), WALK_CONTINUE);
		if (e->ra == NONE) {
			assert_int_equal(w->pc, CALLER + 0x80);
			continue;
		}
		if (w->pc != CALLER || w->fp != (e->fp ? fp : FP) ||
		    w->sp != SP + (uint64_t)(e->sp < 0 ? 0 : e->sp) ||
		    (w->sp_is_least != 0) != (e->sp < 0))
			fail_msg("edge %zu: pc %llx sp %llx fp %llx", i, (unsigned long long)w->pc,
				 (unsigned long long)w->sp, (unsigned long long)w->fp);
	}
}

/*
 * x30 was used for something else, and is loaded again long before x29 is: libcrypto's
 * bn_mul4x_mont.
 */
static void link_loaded_early(void **state)
{
	static const uint32_t code[] = {0xf94007be, NOP, NOP, NOP, BLR}; /* ldr x30, [x29, #8] */
	struct walk *w;

	(void)state;
	put_maps(RULE_FRAME(ROW_SP, 48, 48));
	put_code(PC, code, 5);
	record(FP, FP + 0x100, CALLER | SIGN);
	w = begin_link(PC, SP, FP, 1, 12345);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_int_equal(w->pc, CALLER);
	assert_int_equal(w->fp, FP + 0x100);
}

/* Between making its record and setting x29 to it. */
static void record_made(void **state)
{
	const uint32_t code[] = {0x910083fd, BLR}; /* add x29, sp, #32 */
	struct walk *w;

	(void)state;
	put_maps(RULE_FRAME(ROW_SP, 0, 0));
	put_code(PC, code, 2);
	record(SP + 32, FP, CALLER | SIGN);
	record(FP, 0, CALLER + 0x80);
	put_call(CALLER + 0x80, 0);
	w = begin_link(PC, SP, FP, 1, CALLER | SIGN);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_int_equal(w->pc, CALLER);
	assert_int_equal(w->fp, FP);
}

/* --- code without CFI: x30 -------------------------------------------------------------------- */

/* 20 instructions that say nothing: longer than is looked ahead. */
static void leaf_of_covered_code(void **state)
{
	struct walk *w;

	(void)state;
	put_maps(RULE_FRAME(ROW_SP, 32, 32));
	record(FP, FP + 0x80, CALLER);
	put_call(CFI + 0x200, 0);
	w = begin_link(PC, SP, FP, 1, (CFI + 0x200) | SIGN);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_int_equal(w->pc, CFI + 0x200);
	assert_int_equal(w->fp, FP);
	/* Its record has the same: it is the function's own, which is no leaf any more. */
	record(FP, FP + 0x80, CFI + 0x200);
	w = begin_link(PC, SP, FP, 1, CFI + 0x200);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_int_equal(w->pc, CFI + 0x200);
	assert_int_equal(w->fp, FP + 0x80);
}

/* Both the function and what x30 points to are in the same code without CFI. */
static void leaf_of_the_same_code(void **state)
{
	const uint64_t start = PC - 0x40, site = PC + 0x400;
	const uint32_t frame = 0xa9be7bfd, ret = RET, nop = NOP;
	struct walk *w;

	(void)state;
	put_maps(RULE_FRAME(ROW_SP, 32, 32));
	record(FP, FP + 0x80, CALLER);
	/* Called where it begins, from further on: it is a leaf. */
	put_call(site, start);
	w = begin_link(PC, SP, FP, 1, site);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_int_equal(w->pc, site);
	/* What was called ends before the pc: the call was this function's own. */
	put_code(PC - 0x20, &ret, 1);
	w = begin_link(PC, SP, FP, 1, site);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_int_equal(w->pc, CALLER);
	put_code(PC - 0x20, &nop, 1);
	/* What was called makes a record. */
	put_code(start, &frame, 1);
	w = begin_link(PC, SP, FP, 1, site);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_int_equal(w->pc, CALLER);
	put_code(start, &nop, 1);
	/* The call is between its start and the pc, or leads behind the pc: it is its own. */
	put_call(PC - 0x20, start);
	w = begin_link(PC, SP, FP, 1, PC - 0x20);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_int_equal(w->pc, CALLER);
	put_call(PC - 0x20, PC + 0x200);
	w = begin_link(PC, SP, FP, 1, PC - 0x20);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_int_equal(w->pc, CALLER);
	/* By a register it may be anything, so the record counts. */
	put_call(site, 0);
	w = begin_link(PC, SP, FP, 1, site);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_int_equal(w->pc, CALLER);
	/* No call precedes what x30 points to. */
	w = begin_link(PC, SP, FP, 1, CFI + 0x204);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_int_equal(w->pc, CALLER);
}

/* The record is made by the third instruction or later: what x30 points to is in the function
 * itself. */
static void late_record(void **state)
{
	/* paciasp; sub sp, sp, #48; stp x29, x30, [sp, #32] */
	static const uint32_t prologue[] = {0xd503233f, 0xd100c3ff, 0xa9027bfd};
	const uint64_t start = PC - 0x80, site = PC + 0x200;
	struct walk *w;

	(void)state;
	put_maps(RULE_FRAME(ROW_SP, 32, 32));
	put_code(start, prologue, 3);
	put_call(site, start); /* by itself */
	record(FP, FP + 0x80, CALLER);
	w = begin_link(PC, SP, FP, 1, site);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_int_equal(w->pc, CALLER);
}

/* A function goes on where the list of the process has another entry. */
static void across_entries(void **state)
{
	const uint64_t site = CFI + 0x3f0;
	const struct row rows[] = {{0, RULE_FRAME(ROW_SP, 32, 32)}, {0x200, RULE(ROW_END, 0)}};
	struct walk *w;

	(void)state;
	put_maps(0);
	put_block(0, 1, rows, 2);
	host.entries[1].start = CFI + 0x400;
	put_call(site, CFI + 0x1000);
	record(FP, FP + 0x80, CALLER);
	w = begin_link(CFI + 0x420, SP, FP, 1, site);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_int_equal(w->pc, CALLER);
}

/* A row by SP leads to a frame that would begin below what is known of SP. */
static void record_too_low(void **state)
{
	struct walk *w;

	(void)state;
	put_maps(RULE_FRAME(ROW_SP, 96, 32));
	put_call(PC, 0);
	record(FP, FP + 0x10, CALLER);
	w = begin(PC, SP, FP, 0);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	check_end(w, WALK_BAD_CFA);
}

/* --- signals ---------------------------------------------------------------------------------- */

static void put_sigcontext(uint64_t sp, uint64_t pc, uint64_t to_sp, uint64_t to_fp)
{
	for (unsigned int i = 0; i < 31; i++)
		store(sp + 312 + 8 * i, 0x1000 + i);
	store(sp + 312 + 8 * 29, to_fp);
	store(sp + 312 + 8 * 30, CALLER | SIGN);
	store(sp + 312 + 8 * 31, to_sp);
	store(sp + 312 + 8 * 32, pc);
	store(sp + 312 + 280, 0x21046508001ull); /* struct fpsimd_context's head */
}

static void signals(void **state)
{
	const uint32_t sigreturn[] = {0xd2801168, 0xd4000001};
	struct walk *w;

	(void)state;
	put_maps(RULE_FRAME(ROW_SP, 0, 0));
	put_code(PC, sigreturn, 2);
	put_sigcontext(SP, CFI + 8, SP + 0x800, FP + 8);
	/* A handler returns to the code for it, which has no CFI; then x30 is a leaf's. */
	w = begin(PC, SP, FP, 0);
	w->known = 0;
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_state(w, CFI + 8, SP + 0x800, FP + 8);
	assert_int_equal(w->exact, 1);
	assert_int_equal(w->regs[7], 0x1007);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_int_equal(w->pc, CALLER);
	/* In the call itself. */
	w = begin(PC + 8, SP, FP, 0);
	assert_int_equal(walk_leave_signal(w), WALK_CONTINUE);
	assert_state(w, CFI + 8, SP + 0x800, FP + 8);
	/* SP is that of the handler's frame already, the pc is not its. */
	w = begin(CFI + 8, SP, FP, 1);
	walk_enter_signal(w);
	assert_state(w, CFI + 8, SP + 0x800, FP + 8);
	/* A stack that only has the pc in this place is none. */
	store(SP + 312 + 280, 0);
	w = begin(CFI + 8, SP, FP, 1);
	walk_enter_signal(w);
	assert_state(w, CFI + 8, SP, FP);
}

/* Handlers without CFI: a leaf, and two with records, at the bottom and below other words. */
static void handlers(void **state)
{
	const uint32_t sigreturn[] = {0xd2801168, 0xd4000001};
	const uint32_t ret[] = {0xf9000020, RET}; /* str x0, [x1] */
	const uint64_t stub = BARE + 0x1804, kernels = SP + FRAME_BYTES;
	struct walk *w;

	(void)state;
	put_maps(RULE_FRAME(ROW_SP, 0, 0));
	put_code(stub, sigreturn, 2);
	put_code(PC, ret, 2);
	put_sigcontext(SP, CFI + 8, SP + 0x4800, FP + 8);
	record(kernels, FP + 8, CALLER);
	w = begin_link(PC, SP, kernels, 1, stub);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_int_equal(w->pc, stub);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_state(w, CFI + 8, SP + 0x4800, FP + 8);
	for (uint64_t size = 16; size <= 64; size += 48) {
		put_call(PC, 0);
		record(SP - size, kernels, stub);
		w = begin(PC, SP - size, SP - size, 0);
		assert_int_equal(walk_step(w), WALK_CONTINUE);
		assert_int_equal(w->pc, stub);
		assert_int_equal(walk_step(w), WALK_CONTINUE);
		assert_state(w, CFI + 8, SP + 0x4800, FP + 8);
		assert_int_equal(w->exact, 1);
	}
	/* The kernel's frame is not where x29 says. */
	record(SP - 64, kernels + 16, stub);
	w = begin(PC, SP - 64, SP - 64, 0);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	check_end(w, WALK_REGISTER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_arm64, teardown)
		TEST(leaf_row),
		TEST(record_row),
		TEST(record_below),
		TEST(wide_rows),
		TEST(sp_by_record),
		TEST(sp_lost),
		TEST(last_record),
		TEST(edges_of_functions),
		TEST(link_loaded_early),
		TEST(record_made),
		TEST(leaf_of_covered_code),
		TEST(leaf_of_the_same_code),
		TEST(signals),
		TEST(handlers),
		TEST(late_record),
		TEST(across_entries),
		TEST(record_too_low),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
