// SPDX-License-Identifier: GPL-2.0-or-later
/* See framecode.h. The instructions are those of the compilers of HotSpot, C1 and C2. */
#include "unwind/framecode.h"

#include <string.h>

#define PROLOGUE_MAX 64u /* bytes from the record to the end of the prologue */
#define RETURN_MAX   40u /* from where the record is loaded to the return: a poll is between */
#define PAIR_MAX     504u

#define STP_PUSH   0xa9bf7bfdu /* stp x29, x30, [sp, #-16]! */
#define LDP_POP	   0xa8c17bfdu /* ldp x29, x30, [sp], #16 */
#define STP_AT	   0xa9007bfdu /* stp x29, x30, [sp, #n] */
#define LDP_AT	   0xa9407bfdu
#define SUB_SP	   0xd10003ffu /* sub sp, sp, #n */
#define ADD_SP	   0x910003ffu
#define RET	   0xd65f03c0u
#define LDR_X8_X28 0xf9400388u
#define MOV_SP_X8  0x9100011fu

static uint32_t insn_at(const uint8_t *code, uint32_t at)
{
	uint32_t insn;

	memcpy(&insn, code + at, sizeof(insn));
	return insn;
}

/* A load or store of the record at this distance from SP. */
static bool is_pair(uint32_t insn, uint32_t op, uint32_t at)
{
	return at <= PAIR_MAX && insn == (op | at / 8 << 15);
}

/* An addition to SP, or a subtraction, of this number. */
static bool is_move(uint32_t insn, uint32_t op, uint32_t bytes)
{
	return bytes < 4096 && insn == (op | bytes << 10);
}

/*
 *	sub sp, sp, #frame; stp x29, x30, [sp, #frame - 16]
 *	stp x29, x30, [sp, #-16]!; (mov x29, sp;) sub sp, sp, #frame - 16
 */
bool framecode_prologue(const uint8_t *code, uint32_t complete, uint32_t frame,
			struct frame_prologue *out)
{
	for (uint32_t back = 8; back <= complete && back < PROLOGUE_MAX; back += 4) {
		const uint32_t at = complete - back, first = insn_at(code, at);

		if (is_move(first, SUB_SP, frame) &&
		    is_pair(insn_at(code, at + 4), STP_AT, frame - 16)) {
			*out = (struct frame_prologue){.room = at + 4, .saved = at + 8};
			return true;
		}
		if (first != STP_PUSH)
			continue;
		for (uint32_t i = at + 4; i < complete && i <= at + 8; i += 4)
			if (is_move(insn_at(code, i), SUB_SP, frame - 16)) {
				*out = (struct frame_prologue){.saved = at + 4, .room = i + 4};
				return true;
			}
	}
	return false;
}

/* The offset behind the return that follows; 0: none is near. */
static uint32_t find_return(const uint8_t *code, uint32_t size, uint32_t at)
{
	for (uint32_t i = at; i + 4 <= size && i < at + RETURN_MAX; i += 4)
		if (insn_at(code, i) == RET)
			return i + 4;
	return 0;
}

/*
 *	ldp x29, x30, [sp, #frame - 16]; add sp, sp, #frame; (poll;) ret
 *	add sp, sp, #frame - 16; ldp x29, x30, [sp], #16; (poll;) ret
 */
bool framecode_epilogue(const uint8_t *code, uint32_t size, uint32_t at, uint32_t frame,
			struct frame_epilogue *out)
{
	for (at = (at + 3) & ~3u; at + 8 <= size; at += 4) {
		const uint32_t first = insn_at(code, at), second = insn_at(code, at + 4);
		const bool loads =
			is_pair(first, LDP_AT, frame - 16) && is_move(second, ADD_SP, frame);
		uint32_t end = 0;

		if (loads || (is_move(first, ADD_SP, frame - 16) && second == LDP_POP))
			end = find_return(code, size, at + 8);
		if (!end)
			continue;
		*out = (struct frame_epilogue){.room = at + 4, .restored = at + 8, .end = end};
		if (loads)
			*out = (struct frame_epilogue){
				.room = at + 8, .restored = at + 4, .end = end};
		return true;
	}
	return false;
}

/* ret; ldr x8, [x28, #n]; mov sp, x8 */
bool framecode_barrier(const uint8_t *code, uint32_t size, uint32_t at)
{
	return at >= 4 && !(at & 3) && at <= size && size - at >= 8 &&
	       insn_at(code, at - 4) == RET && (insn_at(code, at) & 0xffc003ffu) == LDR_X8_X28 &&
	       insn_at(code, at + 4) == MOV_SP_X8;
}
