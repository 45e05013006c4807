/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes machine code without frame pointers, and describes it by GDB's JIT interface: main calls
 * run_outer, OUTER (made), INNER (made), which spins.
 *
 *	described now		from the start
 *	described late		after SIGUSR1
 *	described moved		and at each SIGUSR1 INNER is made anew elsewhere, under another
 *				name; it mostly sleeps
 *	described hung		the list leads to memory whose reader waits forever
 *				(userfaultfd(2))
 */

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../../bpf/tracker/jitimage.h"

#define INNER_AT 1024
#define PAGES	 65536

typedef void (*outer_fn)(void (*inner)(void), unsigned int count);

static const unsigned char outer_code[] = {
	0x55,			/* push %rbp */
	0x53,			/* push %rbx */
	0x48, 0x83, 0xec, 0x28, /* sub $40, %rsp */
	0x48, 0x89, 0xfb,	/* mov %rdi, %rbx */
	0x89, 0xf5,		/* mov %esi, %ebp */
	0xff, 0xd3,		/* 1: call *%rbx */
	0xff, 0xcd,		/* dec %ebp */
	0x75, 0xfa,		/* jne 1b */
	0x48, 0x83, 0xc4, 0x28, /* add $40, %rsp */
	0x5b,			/* pop %rbx */
	0x5d,			/* pop %rbp */
	0xc3,			/* ret */
};
static const unsigned char inner_code[] = {
	0x48, 0x83, 0xec, 0x18,	      /* sub $24, %rsp */
	0xb8, 0x00, 0x00, 0x10, 0x00, /* mov $1048576, %eax */
	0xff, 0xc8,		      /* 1: dec %eax */
	0x75, 0xfc,		      /* jne 1b */
	0x48, 0x83, 0xc4, 0x18,	      /* add $24, %rsp */
	0xc3,			      /* ret */
};

struct jit_descriptor_of_gdb __jit_debug_descriptor = {.version = 1};

static struct jitimage images[2];
static struct jit_code_entry entries[2];

static void describe(unsigned int i, const void *code, uint64_t size, uint8_t cfa, const char *name)
{
	jitimage_make(&images[i], (uint64_t)(uintptr_t)code, size, cfa, name);
	entries[i] = (struct jit_code_entry){i ? NULL : &entries[1], NULL, (const char *)&images[i],
					     sizeof(images[i])};
}

/* A page that is never there. */
static void *hung_page(void)
{
	struct uffdio_api api = {.api = UFFD_API};
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register reg = {.range = {(uintptr_t)page, 4096},
				      .mode = UFFDIO_REGISTER_MODE_MISSING};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (page == MAP_FAILED || fd < 0 || ioctl(fd, UFFDIO_API, &api) ||
	    ioctl(fd, UFFDIO_REGISTER, &reg)) {
		perror("described: userfaultfd");
		exit(1);
	}
	return page;
}

__attribute__((noinline)) static void run_outer(unsigned char *outer, unsigned char *inner)
{
	((outer_fn)(uintptr_t)outer)((void (*)(void))(uintptr_t)inner, 64);
	__asm__ volatile("" ::: "memory");
}

static volatile sig_atomic_t told;

static void on_signal(int number)
{
	(void)number;
	told++;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "now";
	unsigned char *code = mmap(NULL, PAGES, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char *inner = code + INNER_AT;
	const double began = seconds();
	unsigned int moved = 0;
	char name[32];

	if (code == MAP_FAILED)
		return 1;
	memcpy(code, outer_code, sizeof(outer_code));
	memcpy(inner, inner_code, sizeof(inner_code));
	describe(0, code, sizeof(outer_code), 64, "OUTER");
	describe(1, inner, sizeof(inner_code), 32, "INNER0");
	signal(SIGUSR1, on_signal);
	if (strcmp(how, "late") != 0)
		__jit_debug_descriptor.first = entries;
	if (!strcmp(how, "hung"))
		__jit_debug_descriptor.first = hung_page();
	while (seconds() < began + 600) {
		if (!strcmp(how, "late") && told)
			__jit_debug_descriptor.first = entries;
		if (!strcmp(how, "moved") && told > (int)moved && moved < 55) {
			__jit_debug_descriptor.first = NULL;
			inner = code + INNER_AT + ++moved * 1024;
			memcpy(inner, inner_code, sizeof(inner_code));
			snprintf(name, sizeof(name), "INNER%u", moved);
			describe(1, inner, sizeof(inner_code), 32, name);
			__jit_debug_descriptor.first = entries;
		}
		run_outer(code, inner);
		if (!strcmp(how, "moved"))
			usleep(50000);
	}
	return 0;
}
