/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes machine code that nothing describes but /tmp/perf-PID.map, which has names only: main calls
 * run, which calls OUTER (made), which calls INNER (made), which spins.
 *
 *	framed		both have frame pointers, and return addresses left over in their locals
 *	numbers		neither has; OUTER counts in RBP
 *	loop		INNER never returns
 *	constant	SP is set up once by OUTER, which jumps to INNER, which jumps back
 *	changed		as numbers; from SIGUSR1 on INNER has a larger frame, at the same place
 */

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGES	 65536
#define OUTER_AT 4096
#define INNER_AT 4352
#define LEFT	 0x4c4c4c4c4c4c4c4cull /* stands for a return address */

#define SPIN                                                                                       \
	0xb8, 0x00, 0x00, 0x10, 0x00, /* mov $1048576, %eax */                                     \
		0xff, 0xc8,	      /* 1: dec %eax */                                            \
		0x75, 0xfc	      /* jne 1b */
#define LEFT_OVER(at)                                                                              \
	0x48, 0xb8, 0x4c, 0x4c, 0x4c, 0x4c, 0x4c, 0x4c, 0x4c, 0x4c, /* movabs $LEFT, %rax */       \
		0x48, 0x89, 0x45, (unsigned char)-(at)		    /* mov %rax, -at(%rbp) */

struct code {
	const unsigned char *outer, *inner;
	size_t nouter, ninner;
};

#define CODE(name)                                                                                 \
	{                                                                                          \
		name##_outer, name##_inner, sizeof(name##_outer), sizeof(name##_inner)             \
	}

/* Both arguments of outer: inner, and the number of calls. */
static const unsigned char framed_outer[] = {
	0x55,					  /* push %rbp */
	0x48,	       0x89,	      0xe5,	  /* mov %rsp, %rbp */
	0x53,					  /* push %rbx */
	0x41,	       0x54,			  /* push %r12 */
	0x48,	       0x83,	      0xec, 0x40, /* sub $64, %rsp */
	0x48,	       0x89,	      0xfb,	  /* mov %rdi, %rbx */
	0x41,	       0x89,	      0xf4,	  /* mov %esi, %r12d */
	LEFT_OVER(24), LEFT_OVER(48), 0xff, 0xd3, /* 1: call *%rbx */
	0x41,	       0xff,	      0xcc,	  /* dec %r12d */
	0x75,	       0xf9,			  /* jne 1b */
	0x48,	       0x83,	      0xc4, 0x40, /* add $64, %rsp */
	0x41,	       0x5c,			  /* pop %r12 */
	0x5b,	       0x5d,	      0xc3,	  /* pop %rbx; pop %rbp; ret */
};
static const unsigned char framed_inner[] = {
	0x55,	       0x48, 0x89, 0xe5, /* push %rbp; mov %rsp, %rbp */
	0x48,	       0x83, 0xec, 0x30, /* sub $48, %rsp */
	LEFT_OVER(16),			 /* */
	LEFT_OVER(40), SPIN, 0xc9, 0xc3, /* leave; ret */
};
static const unsigned char numbers_outer[] = {
	0x55, 0x53,		/* push %rbp; push %rbx */
	0x48, 0x83, 0xec, 0x28, /* sub $40, %rsp */
	0x48, 0x89, 0xfb,	/* mov %rdi, %rbx */
	0x89, 0xf5,		/* mov %esi, %ebp */
	0xff, 0xd3,		/* 1: call *%rbx */
	0xff, 0xcd,		/* dec %ebp */
	0x75, 0xfa,		/* jne 1b */
	0x48, 0x83, 0xc4, 0x28, /* add $40, %rsp */
	0x5b, 0x5d, 0xc3,	/* pop %rbx; pop %rbp; ret */
};
static const unsigned char numbers_inner[] = {
	0x48, 0x83, 0xec, 0x18, SPIN, 0x48, 0x83, 0xc4, 0x18, 0xc3, /* sub, add $24, %rsp; ret */
};
static const unsigned char changed_inner[] = {
	0x48, 0x83, 0xec, 0x28, SPIN, 0x48, 0x83, 0xc4, 0x28, 0xc3, /* sub, add $40, %rsp; ret */
};
static const unsigned char loop_inner[] = {
	0x55, 0x53,		/* push %rbp; push %rbx */
	0x48, 0x83, 0xec, 0x18, /* sub $24, %rsp */
	0x31, 0xed,		/* xor %ebp, %ebp */
	SPIN, 0x83, 0xc5, 0x01, /* 1: mov $1048576, %eax ...; add $1, %ebp */
	0xeb, 0xf2,		/* jmp 1b */
};
static const unsigned char constant_outer[] = {
	0x55, 0x53,		/* push %rbp; push %rbx */
	0x48, 0x83, 0xec, 0x28, /* sub $40, %rsp */
	0x89, 0xf5,		/* mov %esi, %ebp */
	0xff, 0xe7,		/* jmp *%rdi */
	0x48, 0x83, 0xc4, 0x28, /* 10: add $40, %rsp */
	0x5b, 0x5d, 0xc3,	/* pop %rbx; pop %rbp; ret */
};
static const unsigned char constant_inner[] = {
	SPIN,			      /* 0 */
	0xff, 0xcd,		      /* 9: dec %ebp */
	0x75, 0xf3,		      /* jne 0 */
	0xe9, 0xf8, 0xfe, 0xff, 0xff, /* jmp to OUTER + 10 */
};

/* In OUTER's frame, which it leaves by a computed jump. */
static const unsigned char shared_inner[] = {
	SPIN, SPIN, SPIN, SPIN, SPIN, SPIN, SPIN, SPIN, /* 0 */
	0xff, 0xcd,					/* 72: dec %ebp */
	0x75, 0xb4,					/* jne 0 */
	0x48, 0x8d, 0x05, 0xb7, 0xfe, 0xff, 0xff,	/* lea OUTER + 10(%rip), %rax */
	0xff, 0xe0,					/* jmp *%rax */
};

static const struct {
	const char *name;
	struct code code;
} kinds[] = {
	{"framed", CODE(framed)},
	{"numbers", CODE(numbers)},
	{"loop", {numbers_outer, loop_inner, sizeof(numbers_outer), sizeof(loop_inner)}},
	{"constant", CODE(constant)},
	{"shared", {constant_outer, shared_inner, sizeof(constant_outer), sizeof(shared_inner)}},
	{"changed", CODE(numbers)},
};

typedef void (*outer_fn)(void *inner, unsigned int count);

static void *left_over;
static volatile sig_atomic_t asked;

__attribute__((noinline)) static void note_return_address(void)
{
	left_over = __builtin_return_address(0);
	__asm__ volatile("" ::: "memory");
}

static void put(unsigned char *to, const unsigned char *code, size_t n)
{
	const uint64_t stands_for = LEFT;

	memcpy(to, code, n);
	for (size_t i = 0; i + 8 <= n; i++)
		if (!memcmp(to + i, &stands_for, 8))
			memcpy(to + i, &left_over, 8);
}

static void ask(int number)
{
	(void)number;
	asked = 1;
}

__attribute__((noinline)) static void run(unsigned char *code, bool changes)
{
	outer_fn outer;
	void *at = code + OUTER_AT;

	memcpy(&outer, &at, sizeof(outer));
	for (;;) {
		outer(code + INNER_AT, 64);
		if (changes && asked) {
			memcpy(code + INNER_AT, changed_inner, sizeof(changed_inner));
			changes = false;
		}
		__asm__ volatile("" ::: "memory");
	}
}

int main(int argc, char **argv)
{
	unsigned char *code = mmap(NULL, PAGES, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct code *kind = NULL;
	char path[64];
	FILE *map;

	for (size_t i = 0; argc == 2 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(argv[1], kinds[i].name))
			kind = &kinds[i].code;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	if (code == MAP_FAILED || !kind || !map)
		return 2;
	signal(SIGUSR1, ask);
	note_return_address();
	memset(code, 0xcc, PAGES);
	put(code + OUTER_AT, kind->outer, kind->nouter);
	put(code + INNER_AT, kind->inner, kind->ninner);
	fprintf(map, "%lx %zx OUTER\n%lx %zx INNER\n", (unsigned long)(code + OUTER_AT),
		kind->nouter, (unsigned long)(code + INNER_AT), kind->ninner);
	fclose(map);
	run(code, !strcmp(argv[1], "changed"));
	return 0;
}
