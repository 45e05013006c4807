// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What code has pushed and not popped yet, instruction by instruction; expected is what each does
 * to the stack pointer (Intel SDM).
 *
 * Covers: unwind/pushed.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/work.h"
#include "symbols/insn/disasm.h"
#include "unwind/pushed.h"

static struct disasm *disasm;

/* want: a digit for each byte, as pushed_find fills it; `.`: 0, `:`: not known. `w`: before `from`.
 */
static void check(const char *code, uint32_t size, uint32_t from, const char *want)
{
	struct work work = {0};
	uint8_t at[64], *copy = malloc(size);
	char got[65] = "";

	assert_true(size <= 64 && strlen(want) == size);
	memset(at, 'w' - '0', sizeof(at));
	assert_non_null(copy);
	memcpy(copy, code, size); /* so that reading behind it is found */
	assert_int_equal(pushed_find(copy, size, from, disasm, &work, at), 0);
	free(copy);
	for (uint32_t i = 0; i < size; i++)
		got[i] = at[i] ? (char)('0' + at[i]) : '.';
	assert_string_equal(got, want);
}

#define CHECK(code, from, want) check(code, sizeof(code) - 1, from, want)

static void test_straight(void **state)
{
	(void)state;
	CHECK("\x90\x51\x52\x90\x5a\x59\x90", 0, "1123321"); /* push %rcx; push %rdx; pop; pop */
	CHECK("\x51\x51\x90", 1, "w12");
	CHECK("\x55\x5d\x90", 0, "121");		     /* push %rbp; pop %rbp */
	CHECK("\x50\x48\x83\xec\x10\x90", 0, "12...4");	     /* sub $16, %rsp */
	CHECK("\x50\x50\x48\x83\xc4\x10\x90", 0, "123...1"); /* add $16, %rsp */
	CHECK("\x50\x48\x83\xc4\x03\x90", 0, "12...:");	     /* not a word */
	CHECK("\x50\xe8\0\0\0\0\x58\x90", 0, "12....21");    /* call */
	CHECK("\x50\xc3\x90", 0, "121");		     /* ret */
	CHECK("\x50\xff\xe0\x90", 0, "12.1");		     /* jmp *%rax */
	CHECK("\x58\x90", 0, "11");			     /* a pop of something older */
	CHECK("\x50\x50\x50\x50\x50\x50\x50\x50\x50\x90", 0, "123456789:");
	CHECK("\x50\x50\x50\x50\x50\x50\x50\x50\x50\x50\x58\x90\xc3\x90", 0, "123456789::::1");
	CHECK("\x50\x48\x83\xe4\xf0\x58\x90", 0, "12...::"); /* and $-16, %rsp */
}

static void test_jumps(void **state)
{
	(void)state;
	/* push; 1: dec; jne 1; pop */
	CHECK("\x51\xff\xc8\x75\xfc\x59\x90", 0, "12.2.21");
	/* push; je 5; pop; ret; 5: pop; nop: each path has its own pop */
	CHECK("\x51\x74\x02\x59\xc3\x59\x90", 0, "12.2121");
	/* push; jmp 5; nop; nop; 5: pop */
	CHECK("\x51\xeb\x02\x90\x90\x59\x90", 0, "12.1121");
	/* out of the code: before the frame is complete, and behind the end */
	CHECK("\x90\x51\xeb\xfc\x90", 1, "w12.1");
	/* je 7; push; call (never returns); 7: nop: nothing is pushed there */
	CHECK("\x74\x06\x51\xe8\0\0\0\0\x90", 0, "1.12....1");
	/* push; je 4; push; 4: nop; ret: paths differ */
	CHECK("\x51\x74\x01\x51\x90\xc3\x90", 0, "12.2::1");
	CHECK("\x51\xeb\x7f\x90", 0, "12.1");
}

static void test_bounds(void **state)
{
	static const uint8_t cut[] = {0x51, 0x48};
	struct work work = {.limit = 3};
	uint8_t at[2], many[64], words[64];

	(void)state;
	assert_int_equal(pushed_find(cut, 2, 0, disasm, &(struct work){0}, at), 0);
	assert_int_equal(at[0], PUSHED_START);
	memset(many, 0x51, sizeof(many));
	assert_int_equal(pushed_find(many, 64, 0, disasm, &work, words), -E2BIG);
	assert_int_equal(pushed_find(many, 0, 0, disasm, &(struct work){0}, words), 0);
}

static int open_disasm(void **state)
{
	(void)state;
	return disasm_new(EM_X86_64, &disasm);
}

static int close_disasm(void **state)
{
	(void)state;
	disasm_free(disasm);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_straight),
		cmocka_unit_test(test_jumps),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, open_disasm, close_disasm);
}
