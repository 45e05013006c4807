/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A busy stack of a given number of frames, of a hundred functions with different frames, so that
 * a walk needs as many rules and table lines as in real programs. It is built three times from
 * two parts (see bench.mk): with CFI only; with frame pointers; and mixed, where the functions of
 * the second part have frame pointers and no CFI: five frames of each kind in turn. Each change
 * of kind is also a change of text, as between JIT-made code and a runtime.
 *
 *	chain FRAMES [cold]	burns the CPU until it is killed
 *
 * The leaf adds to a random counter: always the same one, or, cold, one in 32 MiB, so that at the
 * next sample the caches have lost the walk's data. There is no C library: only the given frames
 * are on the stack.
 */

#define KEEP __attribute__((noinline, noclone))

typedef unsigned long function(unsigned long left, unsigned long mask);

extern function *const chain_next[100];
function chain_leaf;

/* The use of the local array after the call keeps both the frame and the call. */
#define STEP(t, d, words)                                                                          \
	unsigned long chain##t##d(unsigned long left, unsigned long mask);                         \
	KEEP unsigned long chain##t##d(unsigned long left, unsigned long mask)                     \
	{                                                                                          \
		function *next = left ? chain_next[(1##t##d - 99) % 100] : chain_leaf;             \
		volatile unsigned int local[words];                                                \
		local[left % (words)] = (unsigned int)left;                                        \
		return next(left - 1, mask) ^ local[left % (words)];                               \
	}

#ifdef SECOND_PART
#define TEN(t)                                                                                     \
	STEP(t, 5, 12)                                                                             \
	STEP(t, 6, 1)                                                                              \
	STEP(t, 7, 40)                                                                             \
	STEP(t, 8, 3)                                                                              \
	STEP(t, 9, 20 + t)
#else
#define TEN(t)                                                                                     \
	STEP(t, 0, 5)                                                                              \
	STEP(t, 1, 33)                                                                             \
	STEP(t, 2, 2)                                                                              \
	STEP(t, 3, 7 + t)                                                                          \
	STEP(t, 4, 60)
#endif

TEN(0)
TEN(1)
TEN(2)
TEN(3)
TEN(4)
TEN(5)
TEN(6)
TEN(7)
TEN(8)
TEN(9)

#ifndef SECOND_PART

#define NAMES(t, X) X(t, 0) X(t, 1) X(t, 2) X(t, 3) X(t, 4) X(t, 5) X(t, 6) X(t, 7) X(t, 8) X(t, 9)
#define ALL(X)                                                                                     \
	NAMES(0, X)                                                                                \
	NAMES(1, X)                                                                                \
	NAMES(2, X)                                                                                \
	NAMES(3, X)                                                                                \
	NAMES(4, X)                                                                                \
	NAMES(5, X)                                                                                \
	NAMES(6, X)                                                                                \
	NAMES(7, X)                                                                                \
	NAMES(8, X)                                                                                \
	NAMES(9, X)
#define DECLARE(t, d) function chain##t##d;
#define ENTRY(t, d)   chain##t##d,

ALL(DECLARE)
function *const chain_next[100] = {ALL(ENTRY)};

#define COUNTERS (1ul << 23)

unsigned int chain_counters[COUNTERS];

#define BURN(mask)                                                                                 \
	__asm__ volatile("1:\n\t"                                                                  \
			 "imul $1664525, %%rcx, %%rcx\n\t"                                         \
			 "add $1013904223, %%rcx\n\t"                                              \
			 "mov %%rcx, %%rdx\n\t"                                                    \
			 "shr $17, %%rdx\n\t"                                                      \
			 "and %0, %%rdx\n\t"                                                       \
			 "incl chain_counters(,%%rdx,4)\n\t"                                       \
			 "jmp 1b"                                                                  \
			 :                                                                         \
			 : "r"(mask)                                                               \
			 : "rcx", "rdx", "memory")

KEEP unsigned long chain_leaf(unsigned long left, unsigned long mask)
{
	BURN(mask);
	return left;
}

/* Returns the mask, but only if _start is to be the only frame. */
unsigned long chain_begin(const unsigned long *stack);
KEEP unsigned long chain_begin(const unsigned long *stack)
{
	const char *digits = stack[0] > 1 ? (const char *)stack[2] : "";
	unsigned long frames = 0, mask = stack[0] > 2 ? COUNTERS - 1 : 0;

	while (*digits >= '0' && *digits <= '9')
		frames = frames * 10 + (unsigned long)(*digits++ - '0');
	if (frames < 4)
		return mask;
	/* _start, this function and the leaf are frames, too. */
	return chain_next[0](frames - 4, mask) + 1;
}

__asm__(".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	".cfi_startproc\n"
	".cfi_undefined rip\n"
	"	xor %ebp, %ebp\n"
	"	mov %rsp, %rdi\n"
	"	and $-16, %rsp\n"
	"	call chain_begin\n"
	"1:	imul $1664525, %rcx, %rcx\n"
	"	add $1013904223, %rcx\n"
	"	mov %rcx, %rdx\n"
	"	shr $17, %rdx\n"
	"	and %rax, %rdx\n"
	"	incl chain_counters(,%rdx,4)\n"
	"	jmp 1b\n"
	".cfi_endproc\n"
	".size _start, . - _start\n");

#endif
