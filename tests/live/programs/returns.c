/* SPDX-License-Identifier: GPL-2.0-or-later */
/* build: -O2 -fomit-frame-pointer -fasynchronous-unwind-tables -Wall -Wextra */
/*
 * Functions whose returns a tracer probes: while they run, the kernel has its own address on the
 * stack in place of their return addresses. main calls down, which calls itself DEPTH times, that
 * calls plain, and that first, which ends in a jump to second. All but plain are probed, so first
 * and second have one return address together. second calls spin, which burns the CPU; with `busy`,
 * brief again and again, which is probed and does nothing; or, with `nap`, usleep.
 *
 *	returns DEPTH|busy|nap [SECONDS]
 *
 * Says its PID and "probed" when second finds an address of no file as its return address, else
 * "not probed".
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KEEP   __attribute__((noinline, noclone))
#define EVENTS "/sys/bus/event_source/devices/uprobe/"

static volatile sig_atomic_t stop;
static volatile unsigned int sink;
static int busy, nap;
extern const char __ehdr_start[], etext[];

static void on_alarm(int number)
{
	(void)number;
	stop = 1;
}

static KEEP unsigned int spin(unsigned int x)
{
	while (!stop)
		for (int i = 0; i < 10000; i++)
			sink = x = x * 1664525 + 1013904223;
	return x;
}

static KEEP unsigned int brief(unsigned int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + sink;
}

static KEEP unsigned int second(unsigned int x)
{
	const char *to = __builtin_return_address(0);

	printf("%d %s\n", getpid(), to >= __ehdr_start && to < etext ? "not probed" : "probed");
	fflush(stdout);
	while (busy && !stop)
		sink = brief(x) + 1;
	while (nap && !stop)
		usleep(1000);
	return spin(x) + 1;
}

static KEEP unsigned int first(unsigned int x)
{
	return second(x + 2);
}

static KEEP unsigned int plain(unsigned int x)
{
	return first(x) * 3;
}

static KEEP unsigned int down(unsigned int depth)
{
	unsigned int x = depth ? down(depth - 1) : plain(depth);

	__asm__ volatile("" : "+r"(x)); /* else this becomes a loop */
	return x + 1;
}

static int number_of(const char *path, const char *format)
{
	FILE *in = fopen(path, "re");
	int number = -1;

	if (in && fscanf(in, format, &number) != 1)
		number = -1;
	if (in)
		fclose(in);
	return number;
}

/* The file of the program is mapped from its beginning on, at __ehdr_start. */
static void probe(const void *function)
{
	const int type = number_of(EVENTS "type", "%d");
	const int bit = number_of(EVENTS "format/retprobe", "config:%d");
	char path[4096] = "";
	struct perf_event_attr attr = {.size = sizeof(attr), .type = (uint32_t)type};

	if (type < 0 || bit < 0 || readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		return;
	attr.config = 1ull << bit;
	attr.uprobe_path = (uint64_t)(uintptr_t)path;
	attr.probe_offset = (uint64_t)((const char *)function - __ehdr_start);
	if (syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC) < 0)
		fprintf(stderr, "perf_event_open: %s\n", strerror(errno));
}

int main(int argc, char **argv)
{
	busy = argc > 1 && !strcmp(argv[1], "busy");
	nap = argc > 1 && !strcmp(argv[1], "nap");
	probe((const void *)down);
	probe((const void *)first);
	probe((const void *)second);
	probe((const void *)brief);
	signal(SIGALRM, on_alarm);
	alarm(argc > 2 ? (unsigned int)atoi(argv[2]) : 60);
	sink = down(argc > 1 && !busy && !nap ? (unsigned int)atoi(argv[1]) : 3);
	puts("done");
	return 0;
}
