/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_UNWIND_ARCH_X86_64_CODE_H
#define STACKTOP_UNWIND_ARCH_X86_64_CODE_H

/* Instructions that the walk recognizes. `code` is 8 bytes of memory, the first in bits 0..7. */

#include <linux/types.h>

#define ARCH_FUNCTION_ALIGN  16 /* what compilers align functions to */
#define ARCH_SIGRETURN_ALIGN 16 /* ... and C libraries the code that handlers return to */

/* --- calls --------------------------------------------------------------------------------- */

/*
 * True when the 8 bytes end with a call: E8 rel32, or FF /2 with each length of its operand (Intel
 * SDM volume 2, table 2-2). By pointer, since clang turns branches on a number into sums of
 * conditions, which the verifier has to follow on every path.
 */
static inline __attribute__((always_inline)) int arch_is_call(const __u64 *code)
{
	if ((*code >> 24 & 0xff) == 0xe8)
		return 1;
	/* 2 bytes: a register, or its plain address; 3: with a short offset, or an index */
	if ((*code >> 48 & 0xf8ff) == 0xd0ff ||
	    ((*code >> 48 & 0xf8ff) == 0x10ff && (*code >> 56 & 6) != 4) ||
	    ((*code >> 40 & 0xf8ff) == 0x50ff && (*code >> 48 & 7) != 4) ||
	    ((*code >> 40 & 0xffff) == 0x14ff && (*code >> 56 & 7) != 5))
		return 1;
	/* 4: index and short offset; 6: long offset, or relative to pc; 7: index and long offset */
	return (*code >> 32 & 0xffff) == 0x54ff ||
	       ((*code >> 16 & 0xf8ff) == 0x90ff && (*code >> 24 & 7) != 4) ||
	       (*code >> 16 & 0xffff) == 0x15ff || (*code >> 8 & 0xffff) == 0x94ff ||
	       (*code >> 8 & 0x7ffff) == 0x514ff;
}

/* Where a call that ends at the address leads, if it is E8 rel32; else 0. */
static inline __attribute__((always_inline)) __u64 arch_call_target(__u64 code, __u64 end)
{
	return (code >> 24 & 0xff) == 0xe8 ? end + (__u64)(__s64)(__s32)(code >> 32) : 0;
}

/*
 * True when the frame pointer is made zero, by `xor` or `sub` with itself, right before the call
 * with which the 8 bytes end: of E8 rel32, or FF /2 with a register.
 */
static inline __attribute__((always_inline)) int arch_clears_fp(__u64 code)
{
	__u32 near = code >> 8 & 0xffff, indirect = code >> 32 & 0xffff;

	if ((code >> 24 & 0xff) == 0xe8)
		return near == 0xed31 || near == 0xed29;
	return (code >> 48 & 0xf8ff) == 0xd0ff && (indirect == 0xed31 || indirect == 0xed29);
}

/* --- the edges of a function ----------------------------------------------------------------- */

/* True for `mov %rsp, %rbp` in both encodings. */
static inline __attribute__((always_inline)) int arch_sets_fp(__u64 code)
{
	return (code & 0xffffff) == 0xe58948 || (code & 0xffffff) == 0xec8b48;
}

/* True for `push %rbp; mov %rsp, %rbp`, also behind endbr64. */
static inline __attribute__((always_inline)) int arch_begins_frame(__u64 code)
{
	if ((code & 0xffffffff) == 0xfa1e0ff3)
		code >>= 32;
	return (code & 0xff) == 0x55 && arch_sets_fp(code >> 8);
}

/* True when the 8 bytes end with `push %rbp`. */
static inline __attribute__((always_inline)) int arch_is_behind_push_fp(__u64 code)
{
	return code >> 56 == 0x55;
}

/* One instruction of an epilogue: its length, what it adds to SP, and what else it does. */
#define ARCH_EPILOGUE_RETURN		    1u
#define ARCH_EPILOGUE_LEAVE		    2u /* SP = FP, then pops FP */
#define ARCH_EPILOGUE_POP_FP		    4u
#define ARCH_EPILOGUE_LENGTH(s)		    ((s) >> 4 & 15u)
#define ARCH_EPILOGUE_MOVES(s)		    ((s) >> 8)
#define ARCH_EPILOGUE(length, moves, flags) ((__u32)(moves) << 8 | (length) << 4 | (flags))

/* 0: none of ret, leave, pop, `add $n, %rsp`, vzeroupper. */
static inline __attribute__((always_inline)) __u32 arch_epilogue(__u64 code)
{
	__u32 first = code & 0xff;

	if (first == 0xc3 || (code & 0xffff) == 0xc3f3 || first == 0xc2)
		return ARCH_EPILOGUE_RETURN;
	if (first == 0xc9)
		return ARCH_EPILOGUE(1u, 8, ARCH_EPILOGUE_LEAVE);
	if (first == 0x5d)
		return ARCH_EPILOGUE(1u, 8, ARCH_EPILOGUE_POP_FP);
	if ((first & 0xf8) == 0x58 && first != 0x5c)
		return ARCH_EPILOGUE(1u, 8, 0);
	if ((code & 0xf8ff) == 0x5841)
		return ARCH_EPILOGUE(2u, 8, 0);
	if ((code & 0xffffff) == 0xc48348 && !(code >> 31 & 1))
		return ARCH_EPILOGUE(4u, code >> 24 & 0xff, 0);
	if ((code & 0xffffff) == 0xc48148 && !(code >> 40 & 0xffff))
		return ARCH_EPILOGUE(7u, code >> 24 & 0xffff, 0);
	if ((code & 0xffffff) == 0x77f8c5)
		return ARCH_EPILOGUE(3u, 0, 0);
	return 0;
}

/* Length of a pop into %rcx or %r10, where V8's return keeps the return address; else 0. */
static inline __attribute__((always_inline)) __u32 arch_keeps_return(__u64 code)
{
	return (code & 0xff) == 0x59 ? 1 : (code & 0xffff) == 0x5a41 ? 2 : 0;
}

/* Length of `add $n, %rsp` or `lea (%rsp,%rcx,8), %rsp`, which pop the arguments; else 0. */
static inline __attribute__((always_inline)) __u32 arch_drops_arguments(__u64 code)
{
	const __u32 first = code & 0xffffff;

	return first == 0xc48348 || (__u32)code == 0xcc248d48 ? 4 : first == 0xc48148 ? 7 : 0;
}

/*
 * True in V8's return sequence, after the frame is gone: `cmp $n, %rcx; jg; ret $m`, or a pop of
 * the return address, a pop of the arguments, and a push of the return address.
 */
static inline __attribute__((always_inline)) int arch_frame_has_gone(__u64 code)
{
	const __u32 kept = arch_keeps_return(code), drops = arch_drops_arguments(code);

	if ((code & 0xffffff) == 0xf98348) /* cmp */
		code >>= 32;
	if ((code & 0xff) == 0x7f && (code >> 16 & 0xff) == 0xc2) /* jg; ret */
		return 1;
	if (kept)
		return arch_drops_arguments(code >> 8 * kept) != 0;
	if (drops)
		code >>= 8 * drops;
	/* push %rcx or %r10; after 7 bytes only its first byte is in `code` */
	return drops == 7 ? code == 0x51 || code == 0x41
			  : (code & 0xffff) == 0xc351 || (code & 0xffffff) == 0xc35241;
}

/*
 * True if the instruction loads SP: `mov`, `xchg` or `lea`, but not in an epilogue or as a sum of
 * SP or FP, which tells only where the function's own frame is.
 */
static inline __attribute__((always_inline)) int arch_loads_sp(__u64 code)
{
	const __u32 rex = code & 0xff, op = code >> 8 & 0xff, modrm = code >> 16 & 0xff;
	const __u32 from =
		(rex & 0xfb) == 0x48 && (modrm & 0xc7) == 0xc4;		 /* SP is the operand r/m */
	const __u32 to = (rex & 0xfc) == 0x48 && (modrm & 0x38) == 0x20; /* or reg */

	if (op == 0x89)
		return from && (__u32)code != 0x5dec8948; /* mov %rbp, %rsp; pop %rbp */
	if (op == 0x87)
		return from || to;
	if (op == 0x8d) /* SP is the base in the byte behind */
		return to && (rex & 1 ||
			      ((modrm & 7) != 5 && ((modrm & 7) != 4 || (code >> 24 & 7) != 4)));
	return op == 0x8b && to;
}

/* True if such an instruction begins in the first ARCH_MOVE_STEP bytes. */
#define ARCH_MOVE_STEP 5
static inline __attribute__((always_inline)) int arch_moves_sp(__u64 code)
{
	return arch_loads_sp(code) || arch_loads_sp(code >> 8) || arch_loads_sp(code >> 16) ||
	       arch_loads_sp(code >> 24) || arch_loads_sp(code >> 32);
}

/* True if `push %rbp; mov %rsp, %rbp` begins in the first ARCH_FRAME_STEP bytes. */
#define ARCH_FRAME_STEP 5
static inline __attribute__((always_inline)) int arch_frame_is_near(__u64 code)
{
	return arch_begins_frame(code) || arch_begins_frame(code >> 8) ||
	       arch_begins_frame(code >> 16) || arch_begins_frame(code >> 24) ||
	       arch_begins_frame(code >> 32);
}

/* --- the return from a signal handler: `mov $15, %rax; syscall` ------------------------------ */

#define ARCH_SIGRETURN_SIZE 9
#define ARCH_SIGRETURN_CALL 7 /* offset of the system call in it */

static inline __attribute__((always_inline)) int arch_is_system_call(__u64 code)
{
	return (code & 0xffff) == 0x050f;
}

/* True for its first 8 bytes. */
static inline __attribute__((always_inline)) int arch_begins_sigreturn(__u64 code)
{
	return code == 0x0f0000000fc0c748ull;
}

/* True for its last 8 bytes, if the first were right. */
static inline __attribute__((always_inline)) int arch_ends_sigreturn(__u64 code)
{
	return code >> 56 == 0x05;
}

/* True when the 8 bytes end with `mov $15, ...; syscall`, whichever form of the mov it is. */
static inline __attribute__((always_inline)) int arch_is_behind_sigreturn(__u64 code)
{
	return code >> 16 == 0x050f0000000full;
}

/* --- the end of a thread -------------------------------------------------------------------- */

/* True for musl's `mov %eax, %edi; xor %eax, %eax; mov $60, %al; syscall`. */
static inline __attribute__((always_inline)) int arch_is_thread_exit(__u64 code)
{
	return code == 0x050f3cb0c031c789ull;
}

/* --- stubs of the PLT ------------------------------------------------------------------------ */

#define ARCH_PLT_CFA  8 /* CFA - SP anywhere in a stub that has no CFI */
#define ARCH_PLT_PUSH 8 /* what a lazy stub pushes */
#define ARCH_PLT_BYTES                                                                             \
	16 /* of a stub, a power of two, as the CFA expression of the linker has it */

/* CFA in a stub; threshold: offset in the stub from which on it has pushed. */
static inline __attribute__((always_inline)) __u64 arch_plt_cfa(__u64 sp, __u64 pc, __u32 threshold)
{
	return sp + ARCH_PLT_CFA + ((pc & (ARCH_PLT_BYTES - 1)) >= threshold ? ARCH_PLT_PUSH : 0);
}

#endif
