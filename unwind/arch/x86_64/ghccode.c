// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The code of GHC (unwind/ghc.h): the frame that StgReturn gives back, and calls of C code. Before
 * a call the native code generator aligns the stack pointer, and right after it undoes that:
 *
 *	sub $8,%rsp; ...; call f; add $8,%rsp
 */
#include "unwind/ghc.h"

#include <string.h>

#include "unwind/arch.h"

#define CALL_BEHIND 8u	 /* bytes that a call and the add after it have at most */
#define CALL_SETUP  512u /* bytes from the sub to the add at most */
#define ADD_BYTES   4u

bool ghc_stg_return(const uint8_t code[GHC_RETURN_BYTES], int64_t *cfa, int64_t *fp)
{
	static const uint8_t first[] = {0x48, 0x89, 0xd8, 0x48, 0x81, 0xc4}; /* add $n,%rsp */
	/* mov (%rsp),%rbx; mov 8(%rsp),%rbp; mov 16(%rsp),%r12 ... */
	static const uint8_t second[] = {0x48, 0x8b, 0x1c, 0x24, 0x48, 0x8b, 0x6c, 0x24, 0x08,
					 0x4c, 0x8b, 0x64, 0x24, 0x10, 0x4c, 0x8b, 0x6c, 0x24,
					 0x18, 0x4c, 0x8b, 0x74, 0x24, 0x20, 0x4c, 0x8b, 0x7c,
					 0x24, 0x28, 0x48, 0x83, 0xc4, 0x30, 0xc3};
	int32_t reserved;

	_Static_assert(sizeof(first) + 4 + sizeof(second) <= GHC_RETURN_BYTES, "all is read");
	memcpy(&reserved, code + sizeof(first), sizeof(reserved));
	if (memcmp(code, first, sizeof(first)) != 0 || reserved < 0 ||
	    memcmp(code + sizeof(first) + 4, second, sizeof(second)) != 0)
		return false;
	*cfa = (int64_t)reserved + 0x30 - ARCH_RA_AT;
	*fp = (int64_t)reserved + 8 - *cfa;
	return true;
}

/* Bytes of the call that ends right before code[at]; 0: none does. */
static size_t call_before(const uint8_t *code, size_t at)
{
	if (at >= 5 && code[at - 5] == 0xe8)
		return 5;
	if (at >= 3 && code[at - 3] == 0x41 && code[at - 2] == 0xff &&
	    (code[at - 1] & 0xf8) == 0xd0)
		return 3;
	if (at >= 2 && code[at - 2] == 0xff && (code[at - 1] & 0xf8) == 0xd0)
		return 2;
	return 0;
}

/* An `op $n,%rsp` at the code, n being one byte above zero. */
static bool moves_sp(const uint8_t *code, uint8_t op)
{
	return code[0] == 0x48 && code[1] == 0x83 && code[2] == op && code[3] && code[3] < 0x80;
}

bool ghc_next_call(struct ghc_scan *s, const uint8_t *code, size_t size, struct ghc_call *out)
{
	for (; s->at + ADD_BYTES <= size; s->at++) {
		const uint8_t *at = code + s->at;
		uint64_t addr = s->addr + s->at;
		size_t call;

		if (moves_sp(at, 0xec)) {
			s->sub = addr + ADD_BYTES;
			s->moved = at[3];
			continue;
		}
		call = moves_sp(at, 0xc4) ? call_before(code, s->at) : 0;
		if (!call)
			continue;
		out->from = addr - call;
		if (s->sub && s->moved == at[3] && addr - s->sub <= CALL_SETUP)
			out->from = s->sub;
		out->to = addr + ADD_BYTES;
		out->moved = at[3];
		s->sub = 0;
		s->at += ADD_BYTES;
		return true;
	}
	return false;
}
