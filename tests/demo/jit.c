/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Part of the demonstration: a compiler at run time. Polynomials become machine code, which keeps
 * frame pointers and has no CFI, and a perf map has their names.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Calls stay as written, whatever the compiler knows of the callee. */
#if __has_attribute(noipa)
#define OPAQUE __attribute__((noipa))
#else
#define OPAQUE __attribute__((noinline))
#endif

#define CODE_SIZE  4096
#define DEGREE_MAX 12
#define SUM_TO	   4096
#define PUT(to, ...)                                                                               \
	put(to, (const unsigned char[]){__VA_ARGS__}, sizeof((const unsigned char[]){__VA_ARGS__}))

typedef int (*sum_fn)(int (*polynomial)(int x), int count);

static unsigned char *code, *code_end;
static char map_path[64];
static FILE *map;

static void put(unsigned char **to, const unsigned char *bytes, size_t size)
{
	memcpy(*to, bytes, size);
	*to += size;
}

static void put_number(unsigned char **to, int number)
{
	memcpy(*to, &number, sizeof(number));
	*to += sizeof(number);
}

static void name_for_profilers(const unsigned char *start, const char *name)
{
	fprintf(map, "%lx %lx %s\n", (unsigned long)start, (unsigned long)(code_end - start), name);
	fflush(map);
}

/* Horner's rule: eax = c[n], and then eax = eax * edi + c[i]. */
static void *compile_polynomial(const int *c, int degree)
{
	unsigned char *start = code_end;
	char name[64];

	PUT(&code_end, 0x55, 0x48, 0x89, 0xe5, 0xb8); /* push %rbp; mov %rsp, %rbp; mov .., %eax */
	put_number(&code_end, c[degree]);
	for (int i = degree - 1; i >= 0; i--) {
		PUT(&code_end, 0x0f, 0xaf, 0xc7, 0x05); /* imul %edi, %eax; add .., %eax */
		put_number(&code_end, c[i]);
	}
	PUT(&code_end, 0x5d, 0xc3); /* pop %rbp; ret */
	snprintf(name, sizeof(name), "polynomial_of_degree_%d", degree);
	name_for_profilers(start, name);
	return start;
}

/* Adds up polynomial(count) .. polynomial(1). */
static void *compile_sum(void)
{
	unsigned char *start = code_end;

	PUT(&code_end, 0x55, 0x48, 0x89, 0xe5,	       /* push %rbp; mov %rsp, %rbp */
	    0x53, 0x41, 0x54, 0x41, 0x55,	       /* push %rbx; push %r12; push %r13 */
	    0x48, 0x83, 0xec, 0x08,		       /* sub $8, %rsp */
	    0x49, 0x89, 0xfc, 0x89, 0xf3,	       /* mov %rdi, %r12; mov %esi, %ebx */
	    0x45, 0x31, 0xed,			       /* xor %r13d, %r13d */
	    0x89, 0xdf, 0x41, 0xff, 0xd4,	       /* 1: mov %ebx, %edi; call *%r12 */
	    0x41, 0x01, 0xc5,			       /* add %eax, %r13d */
	    0xff, 0xcb, 0x75, 0xf4,		       /* dec %ebx; jne 1b */
	    0x44, 0x89, 0xe8,			       /* mov %r13d, %eax */
	    0x48, 0x83, 0xc4, 0x08,		       /* add $8, %rsp */
	    0x41, 0x5d, 0x41, 0x5c, 0x5b, 0x5d, 0xc3); /* pop the saved registers; ret */
	name_for_profilers(start, "sum_over_range");
	return start;
}

static void forget_map(int signal)
{
	unlink(map_path);
	_exit(128 + signal);
}

OPAQUE static unsigned int run_compiled_code(sum_fn sum, void *const *polynomials, int count)
{
	unsigned int result = 0;

	for (int i = 0; i < count; i++)
		result += (unsigned int)sum((int (*)(int))polynomials[i], SUM_TO);
	return result;
}

int main(void)
{
	static const int degrees[] = {3, 6, DEGREE_MAX};
	int coefficients[DEGREE_MAX + 1];
	unsigned int result = 0;
	void *polynomials[3];
	sum_fn sum;

	for (int i = 0; i <= DEGREE_MAX; i++)
		coefficients[i] = 2 * i + 3;
	code = mmap(NULL, CODE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	code_end = code;
	snprintf(map_path, sizeof(map_path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(map_path, "w");
	if (code == MAP_FAILED || !map)
		return 1;
	signal(SIGTERM, forget_map);
	signal(SIGINT, forget_map);
	sum = (sum_fn)compile_sum();
	for (int i = 0; i < 3; i++)
		polynomials[i] = compile_polynomial(coefficients, degrees[i]);
	while (result != 1) /* the result is even */
		result = 2 * run_compiled_code(sum, polynomials, 3);
	return 0;
}
