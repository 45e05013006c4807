// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs the same chain of functions in mappings that the loader did not make. They use nothing but
 * their stack, so that they run anywhere:
 *
 *   whole    anonymous memory in the place of all of the program's code
 *   part     anonymous memory in the place of some pages in the middle of it
 *   pieces   the same, two mappings side by side
 *   doubled  the file's code mapped a second time, at a lower address
 *   moved    their pages moved to another address, with a hole where they were
 *   data     functions without CFI and frame pointers in the program's data, as code that a Lisp
 * has loaded and dumped (x86-64)
 */
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE	4096ul
#define CHAIN	__attribute__((noinline, noclone, section(".text.chain")))
#define LOWER	((void *)0x10000000ul)
#define PADDING ".skip 3 * 4096, 0x90\n"

__asm__(".pushsection .text.chain, \"ax\"\n.balign 4096\n" PADDING ".popsection");

CHAIN void leaf(volatile unsigned long *n)
{
	while (*n)
		++*n;
	__asm__ volatile("" ::: "memory");
}

CHAIN void middle(volatile unsigned long *n)
{
	leaf(n);
	__asm__ volatile("" ::: "memory");
}

CHAIN void outer(volatile unsigned long *n)
{
	middle(n);
	__asm__ volatile("" ::: "memory");
}

__asm__(".pushsection .text.chain, \"ax\"\n" PADDING ".balign 4096\n.popsection");

#ifdef __x86_64__
/* outer, middle and leaf without CFI, between whole pages of data. */
__asm__(".pushsection .data.chain, \"aw\", @progbits\n"
	".balign 4096\n"
	"data_chain: .skip 512, 0x90\n"
	"data_outer: push %rbp; push %rbx; sub $24, %rsp; mov %rdi, %rbx; mov $1, %ebp\n"
	"call 1f; mov %rbx, %rax; incq 8(%rax); add $24, %rsp; pop %rbx; pop %rbp; ret\n"
	".balign 16\n"
	"1: sub $40, %rsp; call 2f; mov %rax, %rdx; xor %eax, %eax; add $40, %rsp; ret\n"
	".balign 16\n"
	"2: push %rbx; 3: incq (%rdi); cmpq $0, (%rdi); jne 3b; xor %ebx, %ebx; pop %rbx; ret\n"
	".balign 4096\n"
	".popsection");
extern uint8_t data_chain[], data_outer[];
#endif

/* The program's code: whole pages. */
static uint8_t *code, *code_end;
static uint64_t code_offset;

static int find_code(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		const uintptr_t start = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
			continue;
		code = (uint8_t *)(start & ~(PAGE - 1));
		code_end = (uint8_t *)((start + ph->p_filesz + PAGE - 1) & ~(PAGE - 1));
		code_offset = ph->p_offset & ~(PAGE - 1);
	}
	return 1; /* the program comes first */
}

static void must(int right, const char *what)
{
	if (right)
		return;
	perror(what);
	exit(1);
}

/* Puts a copy in anonymous memory in the place of pages that may be running. */
static void replace(uint8_t *from, uint8_t *end)
{
	const size_t size = (size_t)(end - from);
	uint8_t *copy =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(copy != MAP_FAILED, "mmap");
	memcpy(copy, from, size);
	must(!mprotect(copy, size, PROT_READ | PROT_EXEC), "mprotect");
	must(mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, from) == from, "mremap");
}

static uint8_t *map_again(void)
{
	FILE *self = fopen("/proc/self/exe", "re");
	uint8_t *again;

	must(self != NULL, "/proc/self/exe");
	again = mmap(LOWER, (size_t)(code_end - code), PROT_READ | PROT_EXEC,
		     MAP_PRIVATE | MAP_FIXED_NOREPLACE, fileno(self), (off_t)code_offset);
	must(again != MAP_FAILED, "mmap");
	fclose(self);
	return again;
}

static uint8_t *move(uint8_t *from, size_t size)
{
	uint8_t *to = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(to != MAP_FAILED, "mmap");
	must(mremap(from, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to, "mremap");
	return to;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	uint8_t *chain = (uint8_t *)((uintptr_t)leaf & ~(PAGE - 1)), *run = (uint8_t *)outer;
	volatile unsigned long n = 1;
	void (*start)(volatile unsigned long *);

	dl_iterate_phdr(find_code, NULL);
	if (!strcmp(mode, "whole")) {
		replace(code, code_end);
	} else if (!strcmp(mode, "part")) {
		replace(chain, chain + PAGE);
	} else if (!strcmp(mode, "pieces")) {
		replace(chain, chain + PAGE);
		replace(chain - PAGE, chain);
	} else if (!strcmp(mode, "doubled")) {
		run = map_again() + (run - code);
	} else if (!strcmp(mode, "moved")) {
		run = move(chain - PAGE, 2 * PAGE) + (run - chain) + PAGE;
#ifdef __x86_64__
	} else if (!strcmp(mode, "data")) {
		must(!mprotect(data_chain, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC), "mprotect");
		run = data_outer;
#endif
	} else {
		fprintf(stderr, "usage: %s whole|part|pieces|doubled|moved|data\n", argv[0]);
		return 1;
	}
	puts("running");
	fflush(stdout);
	memcpy(&start, &run, sizeof(start));
	start(&n);
	return 0;
}
