/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Machine code without a file or CFI, as a JIT compiler makes it, and compiled code without frame
 * pointers call each other in turn, so that the walk changes its method at every frame.
 *
 *	jit fp [SECONDS]	the machine code keeps frame pointers; spins below
 *				main;first;JIT;second;JIT;JIT;third;fourth
 *	jit nofp [SECONDS]	it keeps none and rbp holds a number: the callers of the machine
 *				code cannot be known
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __clang__
#define KEEP __attribute__((noinline))
#else
#define KEEP __attribute__((noipa))
#endif

typedef unsigned int (*level_fn)(unsigned int x);
typedef unsigned int (*glue_fn)(unsigned int x, const level_fn *next);

/* Calls next[0](x, next + 1) with a frame of its own. */
static const unsigned char with_fp[] = {
	0x55,			/* push %rbp */
	0x48, 0x89, 0xe5,	/* mov %rsp, %rbp */
	0x48, 0x83, 0xec, 0x30, /* sub $48, %rsp */
	0x48, 0x8b, 0x06,	/* mov (%rsi), %rax */
	0x48, 0x83, 0xc6, 0x08, /* add $8, %rsi */
	0xff, 0xd0,		/* call *%rax */
	0xc9,			/* leave */
	0xc3,			/* ret */
};
static const unsigned char without_fp[] = {
	0x48, 0x83, 0xec, 0x38, /* sub $56, %rsp */
	0x48, 0x8b, 0x06,	/* mov (%rsi), %rax */
	0x48, 0x83, 0xc6, 0x08, /* add $8, %rsi */
	0xff, 0xd0,		/* call *%rax */
	0x48, 0x83, 0xc4, 0x38, /* add $56, %rsp */
	0xc3,			/* ret */
};

static volatile unsigned int sink;
static glue_fn glue;
static level_fn outer_chain[1], inner_chain[2];

static KEEP unsigned int spin(unsigned int x)
{
	for (;;) {
		for (int i = 0; i < 10000; i++)
			x = x * 1664525 + 1013904223;
		sink = x;
		if (x == 1 && sink == 2)
			return x;
	}
}

/* rbp is a general register here, which a walk by frame pointers alone would follow. */
static KEEP unsigned int fourth(unsigned int x)
{
	__asm__ volatile("movl %0, %%ebp" : : "r"(x * 77) : "rbp");
	return spin(x) + 1;
}

static KEEP unsigned int third(unsigned int x)
{
	volatile unsigned int local[50];

	local[x & 7] = x;
	return fourth(x) ^ local[x & 7];
}

static KEEP unsigned int second(unsigned int x)
{
	__asm__ volatile("movl %0, %%ebp" : : "r"(x * 55) : "rbp");
	return glue(x, inner_chain) + 2;
}

static KEEP unsigned int first(unsigned int x)
{
	__asm__ volatile("movl %0, %%ebp" : : "r"(x * 33) : "rbp");
	return glue(x, outer_chain) + 1;
}

int main(int argc, char **argv)
{
	int fp = argc < 2 || !strcmp(argv[1], "fp");
	char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		return 1;
	memcpy(code + 256, fp ? with_fp : without_fp, fp ? sizeof(with_fp) : sizeof(without_fp));
	if (mprotect(code, 4096, PROT_READ | PROT_EXEC))
		return 1;
	alarm(argc > 2 ? (unsigned int)atoi(argv[2]) : 60);
	glue = (glue_fn)(uintptr_t)(code + 256);
	outer_chain[0] = second;
	inner_chain[0] = (level_fn)(uintptr_t)glue;
	inner_chain[1] = third;
	sink = first((unsigned int)argc);
	return 0;
}
