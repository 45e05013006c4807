/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded: the NOMEM_AT'th creation of a BPF map fails with ENOMEM. libbpf enters the kernel by
 * syscall(3) only. Prints a line at the end if there were fewer.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>

static atomic_int count;

static int wanted(void)
{
	const char *at = getenv("NOMEM_AT");

	return at ? atoi(at) : 0;
}

__attribute__((destructor)) static void report(void)
{
	if (count < wanted())
		fprintf(stderr, "nomem: not reached\n");
}

long syscall(long number, ...)
{
	long (*next)(long number, ...) = dlsym(RTLD_NEXT, "syscall");
	long arg[6];
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_bpf && arg[0] == BPF_MAP_CREATE && ++count == wanted()) {
		errno = ENOMEM;
		return -1;
	}
	return next(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}
