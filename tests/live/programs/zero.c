// SPDX-License-Identifier: GPL-2.0-or-later
/* build: -O2 -fno-inline */
/*
 * Stacks with a return address of zero. `null`: a function calls a null pointer, and the handler of
 * the fault returns to it. Else SP is moved to memory full of zeroes, and a function called there:
 * `array`, in the middle of an array; `page`, near the end of a mapping.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define SIZE (64 << 10)

void (*nothing)(void);
volatile unsigned long sink;
static char array[SIZE] __attribute__((aligned(16)));

void work(void)
{
	for (unsigned int i = 0; i < 20000000; i++)
		sink += i;
}

void call_nothing(void)
{
	nothing();
	sink++;
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)signal, (void)info;
	work();
#if defined(__x86_64__)
	uc->uc_mcontext.gregs[REG_RIP] = *(greg_t *)uc->uc_mcontext.gregs[REG_RSP];
	uc->uc_mcontext.gregs[REG_RSP] += 8;
#else
	uc->uc_mcontext.pc = uc->uc_mcontext.regs[30];
#endif
}

void move(char *top)
{
#if defined(__x86_64__)
	__asm__ volatile(
		"mov %%rsp, %%rbx\n\tmov %0, %%rsp\n\tcall work\n\tmov %%rbx, %%rsp" ::"r"(top)
		: "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc",
		  "memory");
#else
	__asm__ volatile("mov x19, sp\n\tmov sp, %0\n\tbl work\n\tmov sp, x19" ::"r"(top)
			 : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11",
			   "x12", "x13", "x14", "x15", "x16", "x17", "x19", "x30", "cc", "memory");
#endif
	sink++;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	char *top = array + SIZE / 2;

	if (argc < 2)
		return 2;
	if (!strcmp(argv[1], "page")) {
		top = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (top == MAP_FAILED || munmap(top + SIZE / 2, SIZE / 2))
			return 1;
		top += SIZE / 2 - 64;
	}
	sigaction(SIGSEGV, &action, NULL);
	for (;;)
		if (!strcmp(argv[1], "null"))
			call_nothing();
		else
			move(top);
}
