// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows from places in code that this process puts into its own memory, with holes around. Expected
 * rows are what the instructions do to the stack pointer.
 * Covers: bpf/tracker/codeleave.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/prog/layout.h"
#include "bpf/tracker/codedraft.h"
#include "bpf/tracker/codeleave.h"
#include "bpf/tracker/codereader.h"
#include "symbols/insn/disasm.h"
#include "unwind/row.h"

#define PAGE  4096u
#define PAGES 256u
#define EXACT BARE_EXACT

#define SP_RULE(cfa, depth) (RULE_FRAME(ROW_SP, cfa, depth) | RULE_DERIVED)
#define FP_RULE(cfa, depth) (RULE_FRAME(ROW_FP, cfa, depth) | RULE_DERIVED)

/* 0: nop; 1: add $24, %rsp; 5: pop %rbx; 6: pop %rbp; 7: ret */
static const uint8_t pops[] = {0x90, 0x48, 0x83, 0xc4, 24, 0x5b, 0x5d, 0xc3};

static uint8_t *memory; /* PAGES of it, between two pages that cannot be read */
static struct code_draft draft;

static uint64_t put(size_t at, const void *bytes, size_t n)
{
	memcpy(memory + at, bytes, n);
	return (uint64_t)(uintptr_t)memory + at;
}

static void make_hole(size_t page)
{
	assert_int_equal(mprotect(memory + page * PAGE, PAGE, PROT_NONE), 0);
}

static void read_places(uint64_t *places, size_t n)
{
	struct code_memory m = {.pid = getpid(), .left = 16u << 20};

	codedraft_free(&draft);
	assert_int_equal(codedraft_init(&draft), 0);
	assert_int_equal(codeleave_read(&m, places, n, &draft), 0);
	codedraft_sort(&draft);
	for (size_t i = 1; i < n && !(places[i] & BARE_STALE); i++)
		assert_true((places[i - 1] & ~EXACT) <= (places[i] & ~EXACT));
	for (uint32_t i = 0; i < draft.nruns; i++)
		assert_true(draft.runs[i].start < draft.runs[i].end && draft.runs[i].nrows);
}

#define READ(...)                                                                                  \
	do {                                                                                       \
		uint64_t places_[] = {__VA_ARGS__};                                                \
                                                                                                   \
		read_places(places_, sizeof(places_) / sizeof(places_[0]));                        \
	} while (0)

/* The rule at an address; 0: none. */
static uint32_t rule_at(uint64_t addr)
{
	uint32_t rule = 0, found = 0;

	for (uint32_t i = 0; i < draft.nruns; i++) {
		const struct code_run *run = &draft.runs[i];

		if (addr < run->start || addr >= run->end)
			continue;
		found++;
		for (uint32_t k = 0; k < run->nrows; k++)
			if (draft.rows[run->first + k].pc <= addr)
				rule = draft.rows[run->first + k].rule;
	}
	assert_true(found <= 1);
	return rule;
}

static void check_pops(uint64_t at)
{
	assert_int_equal(rule_at(at), SP_RULE(48, 16));
	assert_int_equal(rule_at(at + 4), SP_RULE(48, 16));
	assert_int_equal(rule_at(at + 5), SP_RULE(24, 16));
	assert_int_equal(rule_at(at + 6), SP_RULE(16, 16));
	assert_int_equal(rule_at(at + 7), SP_RULE(8, 0));
	assert_int_equal(rule_at(at + 8), 0);
}

static void test_places(void **state)
{
	const uint64_t at = put(3 * PAGE + 0x100, pops, sizeof(pops));

	(void)state;
	READ(at | EXACT);
	check_pops(at);
	assert_int_equal(rule_at(at - 1), 0);
	/* A return address is looked up one byte before. */
	READ(at);
	check_pops(at);
	assert_int_equal(rule_at(at - 1), SP_RULE(48, 16));
	assert_int_equal(rule_at(at - 2), 0);
	/* both, and more of the same function */
	READ((at + 5) | EXACT, at, at | EXACT, (at + 1) | EXACT, at);
	check_pops(at);
	assert_int_equal(rule_at(at - 1), SP_RULE(48, 16));
}

/* Nothing comes of what is no code, and it spoils nothing. */
static void test_garbage(void **state)
{
	const uint64_t at = put(3 * PAGE + 0x100, pops, sizeof(pops)), start = at & ~0xfffull;

	(void)state;
	READ(0, EXACT, 1, 1ull << 47, ~0ull, ~EXACT, 4095, (1ull << 47) - 1, 1ull << 62);
	assert_int_equal(draft.nruns, 0);
	READ(~0ull, at | EXACT, 0, start - 5 * PAGE, start, 1ull << 47, start + PAGES * PAGE);
	check_pops(at);
	assert_int_equal(rule_at(start), 0);
	read_places(NULL, 0);
	assert_int_equal(draft.nruns, 0);
}

/* Pages around the place that are not there. */
static void test_holes(void **state)
{
	/* 16: push %rbp; sub $16, %rsp; 21: nop; 22: jmp to the next page, from there to 21 */
	static const uint8_t begin[] = {0x55, 0x48, 0x83, 0xec, 16, 0x90, 0xe9, 0xe5, 0x0f, 0, 0};
	static const uint8_t rest[] = {0xe9, 0x10, 0xf0, 0xff, 0xff};
	uint64_t at, loop;

	(void)state;
	make_hole(1);
	make_hole(4);
	memset(memory + 2 * PAGE, 0x5b, PAGE);
	memory[2 * PAGE + 15] = 0xcc;
	at = put(2 * PAGE + 16, begin, sizeof(begin));
	loop = put(3 * PAGE, rest, sizeof(rest));
	/* the beginning is in the page before, and no other can be read */
	READ(loop | EXACT);
	assert_int_equal(rule_at(loop), SP_RULE(32, 16));
	assert_int_equal(rule_at(at), SP_RULE(8, 0));
	assert_int_equal(rule_at(at + 1), SP_RULE(16, 16));
	/* it is gone */
	make_hole(2);
	READ(loop | EXACT);
	assert_int_equal(draft.nruns, 0);
	/* the code goes on in a page that is not there */
	at = put(4 * PAGE - 5, pops, 5);
	READ(at | EXACT);
	assert_int_equal(draft.nruns, 0);
	/* the first page and the last */
	at = put(0, pops, sizeof(pops));
	loop = put(PAGES * PAGE - sizeof(pops), pops, sizeof(pops));
	READ(loop, at | EXACT);
	check_pops(at);
	check_pops(loop);
}

/* Code that is far apart, and code near other code with a hole between. */
static void test_windows(void **state)
{
	static const size_t pages[] = {3, 5, 64, 67, 68, 69, 130, 255};
	uint64_t places[8];

	(void)state;
	make_hole(4);
	make_hole(66);
	for (size_t i = 0; i < 8; i++)
		places[7 - i] = put(pages[i] * PAGE + 0x20 * i, pops, sizeof(pops));
	read_places(places, 8);
	for (size_t i = 0; i < 8; i++)
		check_pops(places[i]);
	/* neighbours as far apart as a window is large */
	for (size_t last = 62; last < 68; last++) {
		const uint64_t a = put(10 * PAGE + 0xff0, pops, sizeof(pops)),
			       b = put((10 + last) * PAGE + 0x10, pops, sizeof(pops));

		if (10 + last == 66)
			continue;
		READ(b | EXACT, a | EXACT);
		check_pops(a);
		check_pops(b);
	}
}

/* Where the code can be read in two ways there is no rule. */
static void test_conflict(void **state)
{
	/* 0: push $0x58585858; 5: add $8, %rsp; 9: ret; from 1 on: four pops; 10: jmp 1 */
	static const uint8_t both[] = {0x68, 0x58, 0x58, 0x58, 0x58, 0x48,
				       0x83, 0xc4, 8,	 0xc3, 0xeb, 0xf5};
	const uint64_t at = put(3 * PAGE, both, sizeof(both));

	(void)state;
	READ((at + 1) | EXACT);
	assert_int_equal(rule_at(at), 0);
	assert_int_equal(rule_at(at + 1), SP_RULE(48, 0));
	assert_int_equal(rule_at(at + 4), SP_RULE(24, 0));
	READ(at | EXACT);
	assert_int_equal(rule_at(at + 4), SP_RULE(8, 0));
	/* A place that another has led through is not followed. */
	READ((at + 1) | EXACT, at | EXACT);
	assert_int_equal(rule_at(at + 1), SP_RULE(8, 0));
	READ((at + 10) | EXACT, at | EXACT);
	assert_int_equal(rule_at(at), SP_RULE(8, 0));
	for (unsigned int i = 1; i < 5; i++)
		assert_int_equal(rule_at(at + i), 0);
	assert_int_equal(rule_at(at + 5), SP_RULE(16, 0));
	assert_int_equal(rule_at(at + 9), SP_RULE(8, 0));
	assert_int_equal(rule_at(at + 10), SP_RULE(48, 0));
	assert_int_equal(rule_at(at + 12), 0);
}

/* A third reading, inside of the second: what these two deny the first does not come back. */
static void test_conflicts(void **state)
{
	/* 0: mov $0x58580000c358b890, %rax; 10: ret; 11: jmp 3; 13: jmp 4;
	 * from 3: mov $0xc358, %eax; pop; pop; from 4: pop; ret */
	const uint64_t at =
		put(3 * PAGE, "\x48\xb8\x90\xb8\x58\xc3\0\0\x58\x58\xc3\xeb\xf6\xeb\xf5", 15);

	(void)state;
	READ(at | EXACT, (at + 11) | EXACT, (at + 13) | EXACT);
	for (unsigned int i = 0; i < 11; i++)
		assert_int_equal(rule_at(at + i), i < 3 || i == 10 ? SP_RULE(8, 0) : 0);
	assert_int_equal(rule_at(at + 11), SP_RULE(24, 0));
	assert_int_equal(rule_at(at + 13), SP_RULE(16, 0));
}

#define MANY 480

/* Many places in code that is explored from each to its end. */
static void test_many(void **state)
{
	uint64_t places[MANY], at;
	struct code_memory nothing = {.pid = getpid()};

	(void)state;
	memset(memory + 8 * PAGE, 0x90, 2 * PAGE);
	memory[9 * PAGE] = 0xc3;
	at = put(8 * PAGE, "\x90", 1);
	for (size_t i = 0; i < MANY; i++)
		places[i] = (at + PAGE - 8 * i) | EXACT;
	read_places(places, MANY);
	assert_int_equal(draft.nruns, 1);
	assert_int_equal(rule_at(at + PAGE), SP_RULE(8, 0));
	assert_int_equal(rule_at(at + PAGE - 8 * (MANY - 1)), SP_RULE(8, 0));
	assert_int_equal(rule_at(at + PAGE - 8 * (MANY - 1) - 1), 0);
	/* no more may be read */
	codedraft_free(&draft);
	assert_int_equal(codedraft_init(&draft), 0);
	assert_int_equal(codeleave_read(&nothing, places, MANY, &draft), 0);
	assert_int_equal(draft.nruns, 0);
}

/* Rows that were wrong again and again are not made any more, nor those of the same piece. */
static void test_wrong(void **state)
{
	const uint64_t at = put(4 * PAGE, "\x48\x83\xec\x08\x90\x48\x83\xc4\x08\xc3", 10);

	(void)state;
	READ(at | EXACT);
	assert_int_equal(rule_at(at), SP_RULE(8, 0));
	assert_int_equal(rule_at(at + 4), SP_RULE(16, 0));
	READ(at | EXACT, (at + 5) | EXACT | BARE_STALE);
	assert_int_equal(rule_at(at), SP_RULE(8, 0));
	assert_int_equal(rule_at(at + 4), 0);
	assert_int_equal(rule_at(at + 5), 0);
	assert_int_equal(rule_at(at + 9), SP_RULE(8, 0));
}

#define FP_ROW (RULE_FRAME(ROW_FP, 16, 16) | RULE_DERIVED)

/* Where the code does not say how the frame ends, a local variable says whose FP is. */
static void test_use(void **state)
{
	/* mov %rbx,%rsp; call; mov -8(%rbp),%rax; je over; jmp *%rax; over: mov %rsp,%rbp; jmp
	 * *%rax */
	const char code[] = "\x48\x89\xdc\xe8\0\0\0\0\x48\x8b\x45\xf8\x74\x02\xff\xe0"
			    "\x48\x89\xe5\xff\xe0";
	const uint64_t at = put(4 * PAGE + 3, code, sizeof(code) - 1);

	(void)state;
	READ(at | EXACT);
	assert_int_equal(rule_at(at), FP_ROW);
	assert_int_equal(rule_at(at + 12), FP_ROW);
	assert_int_equal(rule_at(at + 14), FP_ROW);
	assert_int_equal(rule_at(at + 16), FP_ROW);
	assert_int_equal(rule_at(at + 19), 0); /* it has another FP */
	/* a function that returns with the same FP has none of its own */
	put(4 * PAGE + 3 + 14, "\xc3\x90", 2);
	READ(at | EXACT);
	assert_int_equal(rule_at(at), 0);
	/* nor does a positive offset say anything, or an odd one */
	put(4 * PAGE + 3, code, sizeof(code) - 1);
	memory[4 * PAGE + 3 + 11] = 8;
	READ(at | EXACT);
	assert_int_equal(rule_at(at), 0);
	memory[4 * PAGE + 3 + 11] = 0xfd;
	READ(at | EXACT);
	assert_int_equal(rule_at(at), 0);
	/* another function may begin behind a call */
	put(4 * PAGE + 8, code, sizeof(code) - 1);
	READ((at + 5) | EXACT);
	assert_int_equal(rule_at(at + 5), 0);
}

/* From the prologue on the whole function is known when one place of it is. */
static void test_whole(void **state)
{
	/* push %rbp; mov %rsp,%rbp; nop * 3; mov %rbx,%rsp; mov -8(%rbp),%rax; jmp *%rax */
	const char code[] = "\x55\x48\x89\xe5\x90\x90\x90\x48\x89\xdc\x48\x8b\x45\xf8\xff\xe0";
	const uint64_t at = put(4 * PAGE, code, sizeof(code) - 1);

	(void)state;
	READ((at + 10) | EXACT);
	assert_int_equal(rule_at(at), 0);
	assert_int_equal(rule_at(at + 3), 0);
	assert_int_equal(rule_at(at + 4), FP_ROW);
	assert_int_equal(rule_at(at + 14), FP_ROW);
}

/* Code in one frame gets rows where it has none; FP is where its caller has pushed it. */
static void test_constants(void **state)
{
	/* call 2f; 2: push %rbx; push %rbp; jmp *%rax */
	const uint64_t run = put(8 * PAGE + 16, "\xe8\x00\x00\x00\x00\x53\x55\xff\xe0", 9);
	const uint64_t at = put(4 * PAGE, "\x48\x83\xec\x08\x90\x48\x83\xc4\x08\xc3", 10);
	/* call *%rax; and a call of a function that returns */
	const uint64_t by_register = put(9 * PAGE, "\x90\x90\x90\x90\x90\x90\xff\xd0", 8) + 8;
	const uint64_t other = put(10 * PAGE, "\xe8\x00\x00\x00\x00\x53\x5b\xc3", 8) + 5;
	struct code_constant c[] = {
		{at - 16, at + 32, {run + 5}, 2, 0},
		{at + 64, at + 65, {other, by_register}, 3, 0},
		{at + 80, at + 81, {other}, 4, 0},
		{at + 96, at + 97, {other, other, other, other}, 5, 0},
	};
	struct code_memory m = {.pid = getpid(), .left = 16u << 20};

	(void)state;
	READ(at | EXACT);
	assert_int_equal(codeleave_constants(&m, c, 4, &draft), 0);
	assert_int_equal(rule_at(at - 17), 0);
	assert_int_equal(rule_at(at - 16), RULE_FRAME(ROW_SP, 24, 24) | RULE_DERIVED);
	assert_int_equal(rule_at(at), SP_RULE(8, 0));
	assert_int_equal(rule_at(at + 9), SP_RULE(8, 0));
	assert_int_equal(rule_at(at + 10), RULE_FRAME(ROW_SP, 24, 24) | RULE_DERIVED);
	assert_int_equal(rule_at(at + 31), RULE_FRAME(ROW_SP, 24, 24) | RULE_DERIVED);
	assert_int_equal(rule_at(at + 32), 0);
	assert_int_equal(rule_at(at + 64), SP_RULE(32, 0));
	assert_int_equal(rule_at(at + 65), 0);
	assert_int_equal(rule_at(at + 80), 0);
	assert_int_equal(rule_at(at + 96), 0);
	/* call 2f; 2: je 3f; push %rbx; push %rbx; call 4f; 3: sub $24,%rsp; push %rbp; jmp *%rax;
	 * 4: */
	c[0].ras[0] = put(8 * PAGE + 16,
			  "\xe8\x00\x00\x00\x00\x74\x07\x53\x53\xe8\x07\x00\x00\x00"
			  "\x48\x83\xec\x18\x55\xff\xe0",
			  21) +
		      5;
	c[0].word = 5;
	READ(at | EXACT);
	assert_int_equal(codeleave_constants(&m, c, 1, &draft), 0);
	assert_int_equal(rule_at(at - 16), RULE_FRAME(ROW_SP, 48, 40) | RULE_DERIVED);
	/* call 2f; 2: je 3f; push %rbp; ret; 3: push %rbx; push %rbp; jmp *%rax */
	c[0].ras[0] =
		put(8 * PAGE + 64, "\xe8\x00\x00\x00\x00\x74\x02\x55\xc3\x53\x55\xff\xe0", 13) + 5;
	READ(at | EXACT);
	assert_int_equal(codeleave_constants(&m, c, 1, &draft), 0);
	assert_int_equal(rule_at(at - 16), RULE_FRAME(ROW_SP, 48, 24) | RULE_DERIVED);
	/* call 2f; 2: push %rbp; ret */
	c[0].ras[0] = put(8 * PAGE + 96, "\xe8\x00\x00\x00\x00\x55\xc3", 7) + 5;
	c[0].ras[1] = by_register;
	READ(at | EXACT);
	assert_int_equal(codeleave_constants(&m, c, 1, &draft), 0);
	assert_int_equal(rule_at(at - 16), SP_RULE(48, 0));
	/* call 2f; 2: sub $64, %rsp; push %rbp; jmp *%rax: beyond the frame; then with add */
	c[0].ras[0] =
		put(8 * PAGE + 128, "\xe8\x00\x00\x00\x00\x48\x83\xec\x40\x55\xff\xe0", 12) + 5;
	READ(at | EXACT);
	assert_int_equal(codeleave_constants(&m, c, 1, &draft), 0);
	assert_int_equal(rule_at(at - 16), SP_RULE(48, 0));
	put(8 * PAGE + 128 + 7, "\xc4", 1);
	READ(at | EXACT);
	assert_int_equal(codeleave_constants(&m, c, 1, &draft), 0);
	assert_int_equal(rule_at(at - 16), SP_RULE(48, 0));
	c[0].ras[1] = 0;
	/* a return address to nothing that can be read */
	c[0].ras[0] = 8;
	READ(at | EXACT);
	assert_int_equal(codeleave_constants(&m, c, 1, &draft), 0);
	assert_int_equal(rule_at(at - 16), 0);
}

static int setup(void **state)
{
	uint8_t *all =
		mmap(NULL, (PAGES + 2) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	if (all == MAP_FAILED || mprotect(all + PAGE, PAGES * PAGE, PROT_READ | PROT_WRITE))
		return -1;
	memory = all + PAGE;
	return codedraft_init(&draft);
}

static int teardown(void **state)
{
	(void)state;
	codedraft_free(&draft);
	return munmap(memory - PAGE, (PAGES + 2) * PAGE);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(places),	TEST(garbage),	 TEST(holes),	  TEST(windows),
		TEST(conflict), TEST(conflicts), TEST(many),	  TEST(wrong),
		TEST(use),	TEST(whole),	 TEST(constants),
	};

	if (disasm_missing())
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
