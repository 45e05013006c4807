// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows for code in this process's own memory that nothing describes. The frames are those of the
 * instructions, counted by hand: what a function pops until its return is its frame.
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
#include "unwind/row.h"

#define PAGE		    4096u
#define SP_RULE(cfa, depth) (RULE_FRAME(ROW_SP, cfa, depth) | RULE_DERIVED)

/* 0: add $24, %rsp; 4: pop %rbx; 5: pop %rbp; 6: ret */
static const uint8_t pops[] = {0x48, 0x83, 0xc4, 24, 0x5b, 0x5d, 0xc3};

/* Three pages, of which only the middle one can be read. */
static uint8_t *page;
static uint64_t base;

static int setup(void **state)
{
	uint8_t *all = mmap(NULL, 3 * (size_t)PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	if (all == MAP_FAILED || mprotect(all + PAGE, PAGE, PROT_READ | PROT_WRITE))
		return -1;
	page = all + PAGE;
	base = (uint64_t)(uintptr_t)page;
	memset(page, 0xcc, PAGE);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return munmap(page - PAGE, 3 * (size_t)PAGE);
}

/* 0: no row. */
static uint32_t rule_at(const struct code_draft *d, uint64_t addr)
{
	uint32_t rule = 0;

	for (uint32_t i = 0; i < d->nruns; i++) {
		const struct code_run *run = &d->runs[i];

		if (addr < run->start || addr >= run->end)
			continue;
		for (uint32_t n = 0; n < run->nrows && d->rows[run->first + n].pc <= addr; n++)
			rule = d->rows[run->first + n].rule;
	}
	return rule;
}

static void read_rows(struct code_draft *d, uint64_t *places, size_t n, uint64_t left)
{
	struct code_memory m = {.pid = getpid(), .left = left};

	assert_int_equal(codedraft_init(d), 0);
	assert_int_equal(codeleave_read(&m, places, n, d), 0);
	codedraft_sort(d);
}

static void test_places(void **state)
{
	/* The byte before a return address is in the call, where a walk looks it up. */
	uint64_t places[] = {base + 0x304, base + 0x100, (base + 0x200) | BARE_EXACT};
	struct code_draft d;

	(void)state;
	for (uint64_t at = 0x100; at <= 0x300; at += 0x100)
		memcpy(page + at, pops, sizeof(pops));
	read_rows(&d, places, 3, 1 << 20);
	assert_int_equal(rule_at(&d, base + 0xfe), 0);
	assert_int_equal(rule_at(&d, base + 0xff), SP_RULE(48, 16));
	assert_int_equal(rule_at(&d, base + 0x100), SP_RULE(48, 16));
	assert_int_equal(rule_at(&d, base + 0x104), SP_RULE(24, 16));
	assert_int_equal(rule_at(&d, base + 0x105), SP_RULE(16, 16));
	assert_int_equal(rule_at(&d, base + 0x106), SP_RULE(8, 0));
	assert_int_equal(rule_at(&d, base + 0x107), 0);
	assert_int_equal(rule_at(&d, base + 0x1ff), 0);
	assert_int_equal(rule_at(&d, base + 0x200), SP_RULE(48, 16));
	assert_int_equal(rule_at(&d, base + 0x302), 0);
	assert_int_equal(rule_at(&d, base + 0x303), SP_RULE(24, 16));
	codedraft_free(&d);
}

/* What a place before has led by is not read from there once more. */
static void test_known(void **state)
{
	/* 0: pop %rbx; 1: mov $imm, %eax; 6: ret. From 2: pop %rbx; pop %rbx; ret */
	static const uint8_t code[] = {0x5b, 0xb8, 0x5b, 0x5b, 0xc3, 0x90, 0xc3};
	uint64_t places[] = {(base + 2) | BARE_EXACT, base | BARE_EXACT};
	struct code_draft d;

	(void)state;
	memcpy(page, code, sizeof(code));
	read_rows(&d, places, 1, 1 << 20);
	assert_int_equal(rule_at(&d, base + 2), SP_RULE(24, 0));
	codedraft_free(&d);
	read_rows(&d, places, 2, 1 << 20);
	assert_int_equal(rule_at(&d, base), SP_RULE(16, 0));
	assert_int_equal(rule_at(&d, base + 2), SP_RULE(8, 0));
	codedraft_free(&d);
}

/* Of two readings of the same bytes at least one is of no code. */
static void test_contradiction(void **state)
{
	/* 0: jmp 4; 4: pop %rbx; pop %rbx; 6: ret. From 3: mov $imm, %eax; 8: ret */
	static const uint8_t code[] = {0xeb, 2, 0xcc, 0xb8, 0x5b, 0x5b, 0xc3, 0x90, 0xc3};
	uint64_t places[] = {(base + 3) | BARE_EXACT, base | BARE_EXACT};
	struct code_draft d;

	(void)state;
	memcpy(page, code, sizeof(code));
	read_rows(&d, places, 2, 1 << 20);
	assert_int_equal(rule_at(&d, base), SP_RULE(24, 0));
	assert_int_equal(rule_at(&d, base + 2), 0);
	assert_int_equal(rule_at(&d, base + 3), SP_RULE(8, 0));
	assert_int_equal(rule_at(&d, base + 4), 0);
	assert_int_equal(rule_at(&d, base + 5), 0);
	assert_int_equal(rule_at(&d, base + 6), SP_RULE(8, 0));
	assert_int_equal(rule_at(&d, base + 8), SP_RULE(8, 0));
	codedraft_free(&d);
}

/* Where a description says something, it counts. */
static void test_described(void **state)
{
	struct code_memory m = {.pid = getpid(), .left = 1 << 20};
	uint64_t place = base | BARE_EXACT;
	struct code_draft d;

	(void)state;
	memcpy(page, pops, sizeof(pops));
	assert_int_equal(codedraft_init(&d), 0);
	assert_int_equal(codedraft_row(&d, base + 4, RULE_FRAME(ROW_SP, 64, 0)), 0);
	assert_int_equal(codedraft_end(&d, base + 5), 0);
	assert_int_equal(codeleave_read(&m, &place, 1, &d), 0);
	codedraft_sort(&d);
	assert_int_equal(rule_at(&d, base), SP_RULE(48, 16));
	assert_int_equal(rule_at(&d, base + 4), RULE_FRAME(ROW_SP, 64, 0));
	assert_int_equal(rule_at(&d, base + 5), SP_RULE(16, 16));
	codedraft_free(&d);
}

static void test_nothing(void **state)
{
	uint64_t none[] = {base - PAGE, base + PAGE, 1ull << 47, UINT64_MAX, 0, 5, BARE_EXACT};
	uint64_t good = base + PAGE - sizeof(pops), cut = good;
	struct code_draft d;

	(void)state;
	read_rows(&d, none, sizeof(none) / sizeof(none[0]), 1 << 20);
	assert_int_equal(d.nruns, 0);
	codedraft_free(&d);
	/* What may be read of a process is used up. */
	memcpy(page + PAGE - sizeof(pops), pops, sizeof(pops));
	read_rows(&d, &good, 1, PAGE - 1);
	assert_int_equal(d.nruns, 0);
	codedraft_free(&d);
	read_rows(&d, &good, 1, 1 << 20);
	assert_int_equal(rule_at(&d, good), SP_RULE(48, 16));
	codedraft_free(&d);
	/* The return would stand where nothing is mapped. */
	memmove(page + PAGE - sizeof(pops) + 1, pops, sizeof(pops) - 1);
	cut = base + PAGE - sizeof(pops) + 1;
	read_rows(&d, &cut, 1, 1 << 20);
	assert_int_equal(d.nruns, 0);
	codedraft_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_places, setup, teardown),
		cmocka_unit_test_setup_teardown(test_known, setup, teardown),
		cmocka_unit_test_setup_teardown(test_contradiction, setup, teardown),
		cmocka_unit_test_setup_teardown(test_described, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
