// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prologues and epilogues of HotSpot's compilers for arm64 (as OpenJDK 17 writes them,
 * MacroAssembler::build_frame and remove_frame), and what nothing is known of on this processor.
 * Encodings are those of GNU as.
 *
 * Covers: unwind/arch/arm64/framecode.c unwind/arch/arm64/effect.c unwind/arch/arm64/ghccode.c
 * Covers: unwind/arch/arm64/luajit.c
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#include "unwind/effect.h"
#include "unwind/framecode.h"
#include "unwind/ghc.h"
#include "unwind/luajit.h"

#define NOP 0xd503201fu
#define RET 0xd65f03c0u

static const uint32_t small[] = {
	NOP,	    0xd10103ff,		    /* sub sp, sp, #64 */
	0xa9037bfd,			    /* stp x29, x30, [sp, #48] */
	NOP,	    NOP,	0xa9437bfd, /* ldp x29, x30, [sp, #48] */
	0x910103ff,			    /* add sp, sp, #64 */
	NOP,				    /* a poll */
	RET,
};

static const uint32_t large[] = {
	0xa9bf7bfd,		/* stp x29, x30, [sp, #-16]! */
	0x910003fd,		/* mov x29, sp */
	0xd12003ff,		/* sub sp, sp, #2048 */
	NOP,	    0x912003ff, /* add sp, sp, #2048 */
	0xa8c17bfd,		/* ldp x29, x30, [sp], #16 */
	RET,
};

static void prologues(void **state)
{
	struct frame_prologue p;

	(void)state;
	assert_true(framecode_prologue((const uint8_t *)small, 12, 64, &p));
	assert_int_equal(p.room, 8);
	assert_int_equal(p.saved, 12);
	assert_true(framecode_prologue((const uint8_t *)large, 12, 2064, &p));
	assert_int_equal(p.saved, 4);
	assert_int_equal(p.room, 12);
	/* Another size of the frame, and code that is none of a prologue. */
	assert_false(framecode_prologue((const uint8_t *)small, 12, 80, &p));
	assert_false(framecode_prologue((const uint8_t *)large, 12, 64, &p));
	assert_false(framecode_prologue((const uint8_t *)small, 8, 64, &p));
}

static void epilogues(void **state)
{
	struct frame_epilogue e;

	(void)state;
	assert_true(framecode_epilogue((const uint8_t *)small, sizeof(small), 12, 64, &e));
	assert_int_equal(e.restored, 24);
	assert_int_equal(e.room, 28);
	assert_int_equal(e.end, 36);
	assert_true(framecode_epilogue((const uint8_t *)large, sizeof(large), 12, 2064, &e));
	assert_int_equal(e.room, 20);
	assert_int_equal(e.restored, 24);
	assert_int_equal(e.end, 28);
	assert_false(framecode_epilogue((const uint8_t *)small, sizeof(small), 12, 80, &e));
	assert_false(framecode_epilogue((const uint8_t *)small, sizeof(small) - 4, 12, 64, &e));
	assert_false(framecode_epilogue((const uint8_t *)small, sizeof(small), 24, 64, &e));
}

static int called;

static int count(void *arg, uint64_t pc, const struct cfa_state *state)
{
	(void)arg;
	(void)pc;
	(void)state;
	return ++called;
}

/* What has no rows of its own must not get any. */
static void nothing_known(void **state)
{
	const struct cfa_state cfa = {0};
	uint8_t code[GHC_RETURN_BYTES];
	struct luajit_rows rows;
	struct ghc_scan scan = {0};
	struct ghc_call call;
	struct effect effect;
	int64_t at, fp;

	(void)state;
	for (unsigned int byte = 0; byte < 256; byte++) {
		memset(code, (int)byte, sizeof(code));
		assert_false(ghc_stg_return(code, &at, &fp));
		assert_false(ghc_next_call(&scan, code, sizeof(code), &call));
		assert_false(arch_may_begin(NULL, code, 8, sizeof(code)));
		arch_effect(NULL, code, sizeof(code), &effect);
		assert_int_equal(effect.kind, EFFECT_BAD);
		assert_int_equal(effect.size, 4);
		arch_effect(NULL, code, 3, &effect);
		assert_int_equal(effect.size, 1);
	}
	assert_int_equal(luajit_rows_begin(&rows, NULL, NULL, count, NULL), 0);
	assert_int_equal(luajit_row(&rows, 0, &cfa), 1);
	luajit_rows_free(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prologues),
		cmocka_unit_test(epilogues),
		cmocka_unit_test(nothing_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
