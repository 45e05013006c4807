// SPDX-License-Identifier: GPL-2.0-or-later
/* build: -fno-sanitize=alignment */
/*
 * The step on made-up stacks: the windows in which they are read, frame pointers where there is no
 * CFI, and the limits of a walk.
 *
 * The step reads words where the stack says, aligned or not, as BPF on x86 may.
 * Covers: unwind/step.h unwind/arch/x86_64/code.h unwind/arch/x86_64/sigcontext.h
 * Covers: unwind/bare.h unwind/reason.h unwind/stackhash.h unwind/arch/x86_64/step.h
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/unwind/stepfake.h"

/* --- how the stack is read ------------------------------------------------------------- */

/* A function that calls itself, a frame of one word each, from sp on; the words above are MARK. */
static void put_recursion(uint64_t sp, unsigned int frames)
{
	put_rule(RULE_FRAME(ROW_SP, 8, 0));
	for (unsigned int i = 0; i < frames; i++)
		store(sp + 8 * i, TEXT + 0x80);
}

static void check_log(unsigned int i, uint64_t from, uint64_t size, int failed)
{
	assert_true(i < fake.nlog);
	assert_int_equal(fake.log[i].from, from);
	assert_int_equal(fake.log[i].size, size);
	assert_int_equal(fake.log[i].failed, failed);
}

static void test_windows_grow(void **state)
{
	(void)state;
	/* 0x1000 .. 0x3000 in words: 1,024 of them */
	put_recursion(SP, 1024);
	assert_int_equal(host_walk(begin(TEXT, SP, FP, 1)), WALK_DEPTH);
	check_log(0, STACK + 0x1000, 512, 0);
	check_log(1, STACK + 0x1200, 1024, 0);
	check_log(2, STACK + 0x1600, 2048, 0);
	check_log(3, STACK + 0x1e00, 4096, 0);
	check_log(4, STACK + 0x2e00, 4096, 0);
	assert_int_equal(fake.nlog, 5);
}

static void test_windows_at_the_end(void **state)
{
	struct walk *w;

	(void)state;
	put_recursion(SP, 1000);
	fake.holes[0] = (struct range){STACK + 0x2000, 0x1000, 0};
	/* 512 words to the end of the page, each a frame; the next has no return address */
	assert_int_equal(host_walk(begin(TEXT, SP, FP, 1)), WALK_READ_FAULT);
	assert_int_equal(fake.walk->nframes, 513);
	check_log(3, STACK + 0x1e00, 4096, 1);
	check_log(4, STACK + 0x1e00, 0x200, 0);
	assert_int_equal(fake.walk->window_top, STACK + 0x2000);
	/* A top that is known beforehand is never passed. */
	w = begin(TEXT, SP, FP, 1);
	w->window_top = STACK + 0x1e88;
	assert_int_equal(host_walk(w), WALK_READ_FAULT);
	check_log(3, STACK + 0x1e00, 0x88, 0);
	assert_int_equal(w->nframes, 513);
	for (unsigned int i = 0; i < fake.nlog; i++)
		assert_true(fake.log[i].from >= STACK + 0x1e88 ||
			    fake.log[i].from + fake.log[i].size <= STACK + 0x1e88);
	/* A top in the middle of a word: that word is still read. */
	w = begin(TEXT, SP, FP, 1);
	w->window_top = STACK + 0x100d;
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	check_log(0, SP, 13, 0);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_int_equal(w->pc, TEXT + 0x80);

	/* An unaligned stack: the last whole word, and one beyond it. */
	store(STACK + 0x1ff8 - 4, (TEXT + 0x80));
	assert_int_equal(walk_step(begin(TEXT, STACK + 0x1ff4, FP, 1)), WALK_CONTINUE);
	assert_int_equal(fake.walk->pc, TEXT + 0x80);
	assert_int_equal(walk_step(begin(TEXT, STACK + 0x1ff9, FP, 1)), WALK_READ_FAULT);
	assert_int_equal(walk_step(begin(TEXT, STACK + 0x1ffd, FP, 1)), WALK_READ_FAULT);
}

/* A page in the middle that is not in memory costs only frames that need it, not those above. */
static void test_hole_in_the_stack(void **state)
{
	struct walk *w;

	(void)state;
	put_rule(RULE_FRAME(ROW_SP, 0x3000, 0));
	fake.holes[0] = (struct range){STACK + 0x4000, 0x1000, 0};
	store(STACK + 0x3ff8, TEXT + 1);
	store(STACK + 0x6ff8, TEXT + 2);
	store(STACK + 0x9ff8, TEXT + 3);
	w = begin(TEXT, SP, FP, 1);
	for (uint64_t i = 1; i <= 3; i++) {
		assert_int_equal(walk_step(w), WALK_CONTINUE);
		assert_state(w, TEXT + i, SP + 0x3000 * i, FP);
	}
	/* Window sizes start anew after it. */
	check_log(0, STACK + 0x3ff8, 512, 1);
	check_log(1, STACK + 0x3ff8, 8, 0);
	check_log(2, STACK + 0x6ff8, 512, 0);
	check_log(3, STACK + 0x9ff8, 1024, 0);
}

/* --- frame pointers -------------------------------------------------------------------- */

#define JIT (TEXT + 0x1000)
#define RA  (JIT + 0x100) /* right after a call, see begin_jit */

static struct walk *begin_jit(uint64_t fp)
{
	fake.nentries = 0;
	add_map(JIT, JIT + 0x1000, 0, 0, MAP_META(MAP_NO_CFI, 0));
	fake.text[RA - TEXT - 5] = 0xe8; /* call rel32 */
	memset(fake.text + (RA - TEXT - 4), 0, 4);
	store(FP, STACK + 0x5000);
	store(FP + 8, RA);
	return begin(JIT, SP, fp, 1);
}

static void test_frame_pointer(void **state)
{
	struct walk *w = begin_jit(FP);

	(void)state;
	/* rbp at 0x3000: the caller's is there, the return address above it, and sp above that */
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_state(w, RA, STACK + 0x3010, STACK + 0x5000);
	assert_int_equal(w->exact | w->known, 0);
	/* After the first, it need not follow a call: the chain is trusted. */
	store(STACK + 0x5000, STACK + 0x6000);
	store(STACK + 0x5008, JIT + 0x200);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_state(w, JIT + 0x200, STACK + 0x5010, STACK + 0x6000);
	/* The deepest frame has no frame pointer: psABI 3.4.1. */
	store(STACK + 0x6000, 0);
	store(STACK + 0x6008, JIT + 0x300);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_state(w, JIT + 0x300, STACK + 0x6010, 0);
	fake.text[JIT - TEXT + 0x300 - 5] = 0xe8;
	w->start_stack = STACK + 0x6010 + 120;
	assert_int_equal(w->guessed, 1); /* frames larger than what is searched */
	w->guessed = 0;
	check_end(w, WALK_BOTTOM_FP);
	/* Or it has one, to a frame of two zeroes, which alone could be any empty memory. */
	w = begin_jit(FP);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	store(STACK + 0x5000, 0);
	store(STACK + 0x5008, 0);
	w->pc = JIT + 0x200;
	w->guessed = 0;
	check_end(w, WALK_BOTTOM_FP);
	w = begin_jit(FP);
	store(FP, 0);
	store(FP + 8, 0);
	check_end(w, WALK_NO_FRAME_POINTER);
	/* sp itself may be the frame */
	w = begin_jit(SP);
	store(SP, STACK + 0x5000);
	store(SP + 8, RA);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
}

static void test_ends_of_frame_pointers(void **state)
{
	struct walk *w;

	(void)state;
	check_end(begin_jit(0), WALK_NO_FRAME_POINTER); /* a leaf may use rbp for anything */
	check_end(begin_jit(SP - 8), WALK_NO_FRAME_POINTER);
	w = begin_jit(FP + 4); /* not aligned */
	store(FP + 4, STACK + 0x5000);
	store(FP + 12, RA);
	check_end(w, WALK_NO_FRAME_POINTER);
	check_end(begin_jit(STACK + STACK_SIZE), WALK_NO_FRAME_POINTER);
	check_end(begin_jit(STACK + STACK_SIZE - 8), WALK_NO_FRAME_POINTER);
	check_end(begin_jit(~7ull), WALK_NO_FRAME_POINTER);
	w = begin_jit(FP);
	w->sp = FP - (64ull << 20) - 8; /* farther than 64 MiB */
	check_end(w, WALK_NO_FRAME_POINTER);
	w->nframes = 0;
	w->sp = FP - (64ull << 20);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	/* not upward */
	w = begin_jit(FP);
	store(FP, FP);
	check_end(w, WALK_NO_FRAME_POINTER);
	w = begin_jit(FP);
	store(FP, FP - 8);
	check_end(w, WALK_NO_FRAME_POINTER);
	/* not into the mapping: after it, and to its first byte, though calls precede both */
	fake.text[JIT - TEXT - 5] = fake.text[JIT + 0x1001 - TEXT - 5] = 0xe8;
	w = begin_jit(FP);
	store(FP + 8, JIT + 0x1001);
	check_end(w, WALK_NO_FRAME_POINTER);
	w = begin_jit(FP);
	store(FP + 8, JIT);
	check_end(w, WALK_NO_FRAME_POINTER);
	/* but to its end: the call is the last instruction */
	fake.text[JIT + 0x1000 - TEXT - 5] = 0xe8;
	w = begin_jit(FP);
	store(FP + 8, JIT + 0x1000);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	/* not to an address that follows no call */
	w = begin_jit(FP);
	store(FP + 8, RA + 1);
	check_end(w, WALK_NO_FRAME_POINTER);
	/* code that cannot be read */
	w = begin_jit(FP);
	fake.holes[0] = (struct range){RA - 8, 1, 0};
	check_end(w, WALK_NO_FRAME_POINTER);
}

/* A leaf without CFI that has not touched the stack: the return address is on top of it. */
static void test_bare_leaf(void **state)
{
	struct walk *w;

	(void)state;
	put_rule(RULE_FRAME(ROW_SP, 16, 0));
	add_map(JIT, JIT + 0x1000, 0, 0, MAP_META(MAP_NO_CFI, 0));
	fake.text[0x80 - 5] = 0xe8;
	fake.text[JIT - TEXT + 0x80 - 5] = 0xe8;
	store(SP, TEXT + 0x80);
	w = begin(JIT + 0x100, SP, FP, 1);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_state(w, TEXT + 0x80, SP + 8, FP);
	assert_int_equal(w->exact, 0);
	assert_int_equal(w->known, ARCH_CALLEE_SAVED);
	/* not after a call; a frame's return address, not a leaf's */
	store(SP, TEXT + 0x81);
	check_end(begin(JIT + 0x100, SP, FP, 1), WALK_NO_FRAME_POINTER);
	store(SP, TEXT + 0x80);
	check_end(begin(JIT + 0x100, SP, FP, 0), WALK_NO_FRAME_POINTER);
	/* to text without CFI only if its frame begins there */
	store(SP, JIT + 0x80);
	check_end(begin(JIT + 0x100, SP, FP, 1), WALK_NO_FRAME_POINTER);
	w = begin(JIT + 0x100, SP, SP + 8, 1);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_state(w, JIT + 0x80, SP + 8, SP + 8);
}

/* A frame pointer of zero is the deepest frame's in some places, and a number in others. */
static void test_deepest(void **state)
{
	static const uint8_t end[8] = {0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05};
	struct walk *w;

	(void)state;
	for (int i = 0; i < 7; i++) {
		begin_jit(0);
		w = begin(JIT + 0x100, SP, 0, 0);
		w->known = 0;
		w->fp_chain = i == 5 || i == 6;
		w->start_stack = i == 1 ? 0 : i == 2 ? SP + 120 : SP + 128;
		/* nothing can be read above this page, where a chain may end */
		fake.holes[0] =
			(struct range){(SP | 4095) + 1 - (i == 5 ? 4096 : 0), i > 3 ? 8 : 0, 0};
		memcpy(fake.text + (JIT - TEXT) + 0x100, end, i == 3 ? 8 : 7);
		check_end(w, i == 3			  ? WALK_BOTTOM
			     : i == 1 || i == 2 || i == 5 ? WALK_BOTTOM_FP
							  : WALK_NO_FRAME_POINTER);
		fake.text[JIT - TEXT + 0x107] = 0x90;
	}
	/* At the main thread's start nothing has been pushed, whatever RBP is. */
	for (int i = 0; i < 3; i++) {
		begin_jit(FP);
		w = begin(JIT + 0x100, SP, 3, 1);
		w->start_stack = i == 0 ? SP : i == 1 ? SP + 8 : 0;
		check_end(w, i == 0 ? WALK_BOTTOM : WALK_NO_FRAME_POINTER);
	}
}

/* `mov $15, %rax; syscall` at JIT + 0x100, and R12, RBP, RSP and RIP in a struct ucontext. */
static void begin_sigreturn(uint64_t context)
{
	static const uint8_t code[9] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};

	begin_jit(FP);
	memcpy(fake.text + (JIT - TEXT) + 0x100, code, 9);
	store(context + 40 + 8 * 4, 0x1212);
	store(context + 40 + 8 * 10, 0xb0b0);
	store(context + 40 + 8 * 15, STACK + 0x2000);
	store(context + 40 + 8 * 16, JIT + 0x200);
}

/* The trampoline: reached by a return, and within the system call. */
static void test_sigreturn(void **state)
{
	struct walk *w;

	(void)state;
	begin_sigreturn(SP);
	for (int inside = 0; inside < 2; inside++) {
		w = begin(JIT + 0x100 + (inside ? 9 : 0), SP, FP, 0);
		w->known = inside ? WALK_ALL_KNOWN : 0;
		assert_int_equal(walk_step(w), WALK_CONTINUE);
		assert_state(w, JIT + 0x200, STACK + 0x2000, 0xb0b0);
		assert_int_equal(w->exact, 1);
		assert_int_equal(w->known, WALK_ALL_KNOWN);
		/* reached by a return, its own pc names it: no call leads to it */
		assert_int_equal(w->frames[0] >> 63, !inside);
	}
	/* interrupted between the two instructions */
	w = begin(JIT + 0x107, SP, 0, 1);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_state(w, JIT + 0x200, STACK + 0x2000, 0xb0b0);
	fake.text[JIT - TEXT + 0x108] = 0x06;
	w = begin(JIT + 0x100, SP, 0, 0);
	check_end(w, WALK_NO_FRAME_POINTER);
}

/* The kernel has set SP for the signal's handler, but not the pc: the frame has the registers. */
static void test_calling_handler(void **state)
{
	struct walk *w;

	(void)state;
	begin_sigreturn(SP + 8);
	store(SP, JIT + 0x100);
	w = begin(JIT + 0x200, SP, FP, 1);
	walk_enter_signal(w);
	assert_state(w, JIT + 0x200, STACK + 0x2000, 0xb0b0);
	assert_int_equal(w->regs[DWARF_R12], 0x1212);
	assert_int_equal(w->nframes, 0);
	/* of another pc, and a return address elsewhere */
	w = begin(JIT + 0x201, SP, FP, 1);
	walk_enter_signal(w);
	assert_state(w, JIT + 0x201, SP, FP);
	store(SP, JIT + 0x102);
	w = begin(JIT + 0x200, SP, FP, 1);
	walk_enter_signal(w);
	assert_state(w, JIT + 0x200, SP, FP);
}

/* A stack pointer that CFI finds below: another stack, a few times. */
static void test_switch(void **state)
{
	struct walk *w;

	(void)state;
	put_rule(RULE_FRAME(ROW_FP, 16, 16));
	fake.text[0x80 - 5] = 0xe8;
	store(FP, FP);
	store(FP + 8, TEXT + 0x80);
	w = begin(TEXT, FP + 0x100, FP, 1);
	for (unsigned int i = 0; i < WALK_SWITCHES_MAX; i++) {
		assert_int_equal(walk_step(w), WALK_CONTINUE);
		assert_state(w, TEXT + 0x80, FP + 16, FP);
		w->sp = FP + 0x100;
	}
	check_end(w, WALK_BAD_CFA);
	/* not to an address that follows no call */
	store(FP + 8, TEXT + 0x81);
	check_end(begin(TEXT, FP + 0x100, FP, 1), WALK_BAD_CFA);
}

/*
 * C of OCaml 5 runs on the stack of the thread, whose first word but one is the stack pointer of
 * the fiber: CFA = *(rsp + 8) + 8, which may be below.
 */
static void test_fiber(void **state)
{
	(void)state;
	host.wide[77] = (struct wide_rule){.cfa_kind = WIDE_CFA_DEREF,
					   .cfa_reg = DWARF_RSP,
					   .cfa_off = 8,
					   .cfa_add = 8,
					   .ra_kind = WIDE_AT_CFA,
					   .ra_off = -8};
	put_rule(RULE(ROW_WIDE, 77));
	store(SP + 8, SP - 0x800);
	store(SP - 0x800, TEXT + 0x80);
	fake.text[0x80 - 5] = 0xe8;
	assert_int_equal(walk_step(begin(TEXT, SP, FP, 1)), WALK_CONTINUE);
	assert_state(fake.walk, TEXT + 0x80, SP - 0x7f8, FP);
	fake.text[0x80 - 5] = 0x90;
	check_end(begin(TEXT, SP, FP, 1), WALK_BAD_CFA);
}

/*
 * caml_c_call of OCaml 4 pops its return address and puts it back: CFA = rsp + 0, and the address
 * is still below the stack pointer, where the kernel leaves it alone. In a leaf only.
 */
static void test_popped(void **state)
{
	(void)state;
	put_rule(RULE_FRAME(ROW_SP, 0, 0));
	store(SP - 8, TEXT + 0x80);
	fake.text[0x80 - 5] = 0xe8;
	assert_int_equal(walk_step(begin(TEXT, SP, FP, 1)), WALK_CONTINUE);
	assert_state(fake.walk, TEXT + 0x80, SP, FP);
	check_end(begin(TEXT + 1, SP, FP, 0), WALK_BAD_CFA);
	fake.text[0x80 - 5] = 0x90;
	check_end(begin(TEXT, SP, FP, 1), WALK_BAD_CFA);
}

/* The assembler tells what calls look like. Records: instruction, nops to 15 bytes, length. */
#define CODE(text)                                                                                 \
	"1: " text "\n2: .fill 15 - (2b - 1b), 1, 0x90\n"                                          \
	".byte 2b - 1b\n"

__asm__(".pushsection .rodata\n"
	"call_codes:\n" CODE("call .+0x12345") CODE("call .-3") CODE("call *%rax") CODE(
		"call *%rdi") CODE("call *%r11") CODE("call *%r15") CODE("call *(%rax)")
		CODE("call *(%r13)") CODE("call *(%r12)") CODE("call *(%rsp)") CODE(
			"call *8(%rax)") CODE("call *-8(%rbp)") CODE("call *8(%rsp)")
			CODE("call *16(%r12,%rbx,8)") CODE("call *0x1234(%rax)") CODE(
				"call *0x1234(%rsp)") CODE("call *0x123456(,%rcx,8)")
				CODE("call *0x2000(%rip)") CODE(
					"call *%fs:0x10") "other_codes:\n" CODE("ret")
					CODE("jmp .+0x12345") CODE("jmp *%rax") CODE(
						"jmp *8(%rax)") CODE("push %rax") CODE("push 8(%rax)")
						CODE("incl (%rax)") CODE("mov %rsp, %rbp") CODE(
							"nopl 0x12345678(%rax)") CODE("syscall")
							CODE("lcall *(%rax)") "end_codes:\n"
									      ".popsection\n");

extern const uint8_t call_codes[][16], other_codes[][16], end_codes[][16];

static void check_code(const uint8_t code[16], int expected)
{
	struct walk *w = begin_jit(FP);

	memset(fake.text + (RA - TEXT - 16), 0x90, 16);
	memcpy(fake.text + (RA - TEXT) - code[15], code, code[15]);
	assert_int_equal(walk_step(w), expected);
}

static void test_calls(void **state)
{
	(void)state;
	assert_int_equal(other_codes - call_codes, 19);
	assert_int_equal(end_codes - other_codes, 11);
	for (const uint8_t(*code)[16] = call_codes; code < other_codes; code++)
		check_code(*code, WALK_CONTINUE);
	for (const uint8_t(*code)[16] = other_codes; code < end_codes; code++)
		check_code(*code, WALK_NO_FRAME_POINTER);
}

/* Text without CFI between text with CFI: the walk changes over and back, and requires a call
 * again. */
static void test_mixed(void **state)
{
	struct walk *w;

	(void)state;
	put_rule(RULE_FRAME(ROW_SP, 16, 16));
	add_map(JIT, JIT + 0x1000, 0, 0, MAP_META(MAP_NO_CFI, 0));
	fake.text[RA - TEXT - 5] = 0xe8;
	fake.text[0x80 - 2] = 0xff; /* call *%rax */
	fake.text[0x80 - 1] = 0xd0;
	store(FP, STACK + 0x5000);
	store(FP + 8, TEXT + 0x80);
	store(STACK + 0x3010, STACK + 0x6000);
	store(STACK + 0x3018, RA);
	store(STACK + 0x6000, STACK + 0x7000);
	store(STACK + 0x6008, RA + 1);
	w = begin(JIT, SP, FP, 1);
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_state(w, TEXT + 0x80, STACK + 0x3010, STACK + 0x5000);
	/* CFA = 0x3010 + 16; RBP at 0x3010, RA at 0x3018 */
	assert_int_equal(walk_step(w), WALK_CONTINUE);
	assert_state(w, RA, STACK + 0x3020, STACK + 0x6000);
	check_end(w, WALK_NO_FRAME_POINTER);
}

/*
 * makecontext leaves the address of a function as the return address of a coroutine's function.
 * Also where the granule, or the whole span, begins with that function.
 */
static void test_planted(void **state)
{
	static const struct row rows[] = {
		{0, RULE_FRAME(ROW_SP, 8, 0)},	  {0x20, RULE(ROW_END, 0)},
		{0x40, RULE_FRAME(ROW_SP, 8, 0)}, {0x60, RULE(ROW_END, 0)},
		{0x100, RULE(ROW_OUTERMOST, 0)},
	};
	static const uint64_t starts[] = {TEXT, TEXT + 0x40, TEXT + 0x100};

	(void)state;
	put_block(0, 2, rows, 5);
	add_map(TEXT - 0x100, TEXT, 0, 0, MAP_META(MAP_NO_CFI, 0));
	add_map(TEXT, TEXT + 0x200, TEXT, 0, MAP_META(MAP_CFI, 2));
	for (size_t i = 0; i < 3; i++) {
		struct walk *w = begin(starts[i], SP, 8, 0);
		struct stackhash unmarked;

		w->known = 0; /* as behind any step */
		check_end(w, WALK_BOTTOM);
		/* no call is before it, so the name is that of the address itself */
		assert_int_equal(w->frames[0], starts[i] | FRAME_EXACT);
		/* another stack than one that ends there without the mark */
		unmarked = (struct stackhash){STEP_KEY(STACKHASH_START_A),
					      STEP_KEY(STACKHASH_START_B)};
		stackhash_add(&unmarked, starts[i], STEP_KEY(STACKHASH_FACTOR_A),
			      STEP_KEY(STACKHASH_FACTOR_B));
		assert_true(unmarked.a != w->hash.a || unmarked.b != w->hash.b);
		/* interrupted there: its row holds */
		assert_int_equal(walk_step(begin(starts[i], SP, 8, 1)),
				 i < 2 ? WALK_CONTINUE : WALK_BOTTOM);
	}
	/* anywhere else in text without rows */
	check_end(begin(TEXT + 0x3f, SP, 8, 0), WALK_NOT_COVERED);
	check_end(begin(TEXT + 0x41 - 0x20, SP, 8, 0), WALK_NOT_COVERED);
	check_end(begin(TEXT - 1, SP, 8, 0), WALK_NO_FRAME_POINTER);
	/* after a call it is a return address like any other */
	fake.text[0x40 - 5] = 0xe8;
	check_end(begin(TEXT + 0x40, SP, 8, 0), WALK_NOT_COVERED);
}

/* --- whole walks ----------------------------------------------------------------------- */

static void test_depth(void **state)
{
	(void)state;
	put_recursion(SP, 1100);
	assert_int_equal(host_walk(begin(TEXT, SP, FP, 1)), WALK_DEPTH);
	assert_int_equal(fake.walk->nframes, 1024);
	assert_int_equal(fake.walk->frames[1023], TEXT + 0x80);
	/* Trying again does not raise the limit. */
	assert_int_equal(walk_step(fake.walk), WALK_DEPTH);
	assert_int_equal(fake.walk->nframes, 1024);
	/* exactly 1,024 frames: frame n returns to the word at sp + 8 * (n - 1) */
	store(SP + 8 * 1023, 0);
	assert_int_equal(host_walk(begin(TEXT, SP, SP, 1)), WALK_ZERO);
	assert_int_equal(fake.walk->nframes, 1024);
	store(SP + 8 * 2, 0);
	assert_int_equal(host_walk(begin(TEXT, SP, FP, 1)), WALK_ZERO);
	assert_int_equal(fake.walk->nframes, 3);
}

static uint64_t hash_of(const struct walk *w)
{
	return stackhash_end(&w->hash, STACKHASH_USER);
}

/* A stack's hash depends on every frame, its place and whether its pc is exact. */
static void test_hash(void **state)
{
	uint64_t hashes[8];
	unsigned int n = 0;

	(void)state;
	put_recursion(SP, 4);
	store(SP + 8 * 4, 0);
	for (int exact = 1; exact >= 0; exact--) {
		host_walk(begin(TEXT + 1, SP, FP, exact));
		hashes[n++] = hash_of(fake.walk);
	}
	for (unsigned int i = 0; i < 4; i++) {
		put_recursion(SP, 4);
		store(SP + 8 * i, TEXT + 0x81);
		host_walk(begin(TEXT + 1, SP, FP, 1));
		assert_int_equal(fake.walk->nframes, 5);
		hashes[n++] = hash_of(fake.walk);
	}
	put_recursion(SP, 3);
	store(SP + 8 * 3, 0);
	host_walk(begin(TEXT + 1, SP, FP, 1));
	hashes[n++] = hash_of(fake.walk);
	for (unsigned int i = 0; i < n; i++)
		for (unsigned int k = 0; k < i; k++)
			assert_int_not_equal(hashes[i], hashes[k]);
	/* and on nothing else, such as the place of the stack */
	put_recursion(SP + 0x3000, 3);
	store(SP + 0x3000 + 8 * 3, 0);
	host_walk(begin(TEXT + 1, SP + 0x3000, 7, 1));
	assert_int_equal(hash_of(fake.walk), hashes[n - 1]);
}

/* The word that takes an unkeyed hash from one state to another. */
static uint64_t forge(uint64_t from, uint64_t to)
{
	const uint64_t factor = 0x9e3779b97f4a7c15;
	uint64_t inverse = factor;

	for (int i = 0; i < 6; i++) /* Newton: each turn doubles the number of correct bits */
		inverse *= 2 - factor * inverse;
	assert_int_equal(factor * inverse, 1);
	to ^= to >> 29 ^ to >> 58; /* undoes x ^ x >> 29 */
	return from ^ to * inverse;
}

static uint64_t fixed(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 29;
}

/*
 * A process that knows another one's frames and puts any word on top of its own stack must not get
 * the same hash; with an unkeyed hash one word is enough.
 */
static void test_forged(void **state)
{
	uint64_t start = 0x243f6a8885a308d3, victim = start, own, word, hash, at;

	(void)state;
	put_recursion(SP, 4);
	store(SP + 8 * 4, 0);
	host_walk(begin(TEXT + 1, SP, FP, 1));
	hash = hash_of(fake.walk);
	assert_int_equal(fake.walk->nframes, 5);
	for (unsigned int i = 0; i < 5; i++)
		victim = fixed(victim, fake.walk->frames[i]);

	/* A frame has two bits less than a word: one in four of the attacker's addresses fits. */
	for (at = TEXT + 2; at < TEXT + 256; at++) {
		own = fixed(start, at | FRAME_EXACT);
		word = forge(own, victim);
		if (FRAME_ADDRESS(word) == word)
			break;
	}
	assert_int_equal(fixed(own, word), victim);
	store(SP, word);
	host_walk(begin(at, SP, FP, 1));
	assert_int_equal(fake.walk->nframes, 2);
	assert_int_equal(fake.walk->frames[1], word);
	assert_int_not_equal(hash_of(fake.walk), hash);
}

/* Each key gives the same stack another hash; the sides differ, and no hash is 0. */
static void test_keys(void **state)
{
	uint64_t hashes[STACKHASH_KEYS + 1];

	(void)state;
	put_recursion(SP, 4);
	store(SP + 8 * 4, 0);
	for (unsigned int i = 0; i <= STACKHASH_KEYS; i++) {
		if (i)
			host.key[i - 1] += 2;
		host_walk(begin(TEXT + 1, SP, FP, 1));
		hashes[i] = hash_of(fake.walk);
		assert_true(hashes[i] >> 62 == 1);
		assert_true(stackhash_end(&fake.walk->hash, STACKHASH_KERNEL) >> 62 == 2);
		for (unsigned int k = 0; k < i; k++)
			assert_int_not_equal(hashes[i], hashes[k]);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(windows_grow),
		TEST(windows_at_the_end),
		TEST(hole_in_the_stack),
		TEST(frame_pointer),
		TEST(ends_of_frame_pointers),
		TEST(bare_leaf),
		TEST(deepest),
		TEST(sigreturn),
		TEST(calling_handler),
		TEST(switch),
		TEST(fiber),
		TEST(popped),
		TEST(calls),
		TEST(mixed),
		TEST(planted),
		TEST(depth),
		TEST(hash),
		TEST(forged),
		TEST(keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
