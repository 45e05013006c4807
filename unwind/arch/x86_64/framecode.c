// SPDX-License-Identifier: GPL-2.0-or-later
/* See framecode.h. The instructions are those of the compilers of HotSpot, C1 and C2. */
#include "unwind/framecode.h"

#include <string.h>

#define PROLOGUE_MAX 48u /* bytes from the push to the end of the prologue */
#define RETURN_MAX   24u /* from the pop to the return: a poll is between */
#define MODRM_SUB    0xec
#define MODRM_ADD    0xc4
#define PUSH_RBP     0x55
#define POP_RBP	     0x5d
#define LEAVE	     0xc9
#define RET	     0xc3

/* The length of `sub $bytes, %rsp` or `add $bytes, %rsp`; 0: it is another instruction. */
static uint32_t match_move(const uint8_t *code, uint32_t left, uint8_t modrm, uint32_t bytes)
{
	uint32_t value;

	if (left >= 4 && code[0] == 0x48 && code[1] == 0x83 && code[2] == modrm)
		return code[3] == bytes && bytes < 128 ? 4 : 0;
	if (left < 7 || code[0] != 0x48 || code[1] != 0x81 || code[2] != modrm)
		return 0;
	memcpy(&value, code + 3, sizeof(value));
	return value == bytes ? 7 : 0;
}

/* The length of `mov %rbp, at(%rsp)`; 0: it is another instruction. */
static uint32_t match_save(const uint8_t *code, uint32_t left, uint32_t at)
{
	uint32_t value;

	if (left >= 5 && !memcmp(code, "\x48\x89\x6c\x24", 4))
		return code[4] == at && at < 128 ? 5 : 0;
	if (left < 8 || memcmp(code, "\x48\x89\xac\x24", 4) != 0)
		return 0;
	memcpy(&value, code + 4, sizeof(value));
	return value == at ? 8 : 0;
}

/* `mov %rsp, %rbp`, which has two encodings */
static bool is_frame_pointer(const uint8_t *code)
{
	return !memcmp(code, "\x48\x8b\xec", 3) || !memcmp(code, "\x48\x89\xe5", 3);
}

/*
 *	push %rbp; (mov %rsp, %rbp;) sub $frame - 16, %rsp
 *	sub $frame - 8, %rsp; mov %rbp, frame - 16(%rsp)
 */
bool framecode_prologue(const uint8_t *code, uint32_t complete, uint32_t frame,
			struct frame_prologue *out)
{
	uint32_t n, save;

	for (uint32_t back = 4; back <= complete && back < PROLOGUE_MAX; back++) {
		const uint32_t at = complete - back;

		n = match_move(code + at, back, MODRM_SUB, frame - 16);
		if (n && at >= 1 && code[at - 1] == PUSH_RBP) {
			*out = (struct frame_prologue){.saved = at, .room = at + n};
			return true;
		}
		if (n && at >= 4 && code[at - 4] == PUSH_RBP && is_frame_pointer(code + at - 3)) {
			*out = (struct frame_prologue){.saved = at - 3, .room = at + n};
			return true;
		}
		n = match_move(code + at, back, MODRM_SUB, frame - 8);
		save = n ? match_save(code + at + n, back - n, frame - 16) : 0;
		if (save) {
			*out = (struct frame_prologue){.saved = at + n + save, .room = at + n};
			return true;
		}
	}
	return false;
}

/* The offset behind the return that follows; 0: none is near. */
static uint32_t find_return(const uint8_t *code, uint32_t size, uint32_t at)
{
	for (uint32_t i = at; i < size && i < at + RETURN_MAX; i++)
		if (code[i] == RET)
			return i + 1;
	return 0;
}

/*
 *	add $frame - 16, %rsp; pop %rbp; (poll;) ret
 *	leave; ret
 */
bool framecode_epilogue(const uint8_t *code, uint32_t size, uint32_t at, uint32_t frame,
			struct frame_epilogue *out)
{
	for (; at < size; at++) {
		const uint32_t n = match_move(code + at, size - at, MODRM_ADD, frame - 16);
		uint32_t end = 0;

		if (n && at + n < size && code[at + n] == POP_RBP)
			end = find_return(code, size, at + n + 1);
		if (end) {
			*out = (struct frame_epilogue){at + n, at + n + 1, end};
			return true;
		}
		if (code[at] == LEAVE && at + 1 < size && code[at + 1] == RET) {
			*out = (struct frame_epilogue){at + 1, at + 1, at + 2};
			return true;
		}
	}
	return false;
}

/* ret; mov disp32(%r15), %rsp */
bool framecode_barrier(const uint8_t *code, uint32_t size, uint32_t at)
{
	return at && at <= size && size - at >= 7 && code[at - 1] == RET &&
	       !memcmp(code + at, "\x49\x8b\xa7", 3);
}
