/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that a tracer observes: a BPF program runs at the tracepoint of each of its system
 * calls and takes nearly all of its time. Says "ready" when the program is in place. For each line
 * of input it calls the kernel for a second of CPU time, and says "done".
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STACKS	   64 /* that the program takes, one after the other */
#define FRAMES	   32
#define TRACEFS	   "/sys/kernel/tracing"
#define TRACEPOINT TRACEFS "/events/raw_syscalls/sys_enter/id"

static unsigned int n;
static struct bpf_insn insns[16 + 8 * STACKS];

static void put(uint8_t code, uint8_t dst, uint8_t src, int16_t off, int32_t imm)
{
	insns[n++] = (struct bpf_insn){code, dst, src, off, imm};
}

/* Only works for processes of this name: in a PID namespace, the kernel has other numbers. */
static int load(void)
{
	union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_TRACEPOINT,
			       .insns = (uint64_t)insns,
			       .license = (uint64_t) "GPL",
			       .prog_name = "probed_slow"};
	const struct rlimit any = {RLIM_INFINITY, RLIM_INFINITY};
	int32_t name;

	setrlimit(RLIMIT_MEMLOCK, &any); /* before Linux 5.11 programs count as locked memory */
	memcpy(&name, "probed", sizeof(name));
	put(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_6, BPF_REG_1, 0, 0);
	put(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_10, 0, 0);
	put(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, -16);
	put(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, 16);
	put(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_current_comm);
	put(BPF_LDX | BPF_MEM | BPF_W, BPF_REG_0, BPF_REG_10, -16, 0);
	put(BPF_JMP | BPF_JNE | BPF_K, BPF_REG_0, 0, 6 * STACKS, name);
	for (int i = 0; i < STACKS; i++) {
		put(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_6, 0, 0);
		put(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_10, 0, 0);
		put(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -8 * FRAMES);
		put(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, 8 * FRAMES);
		put(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_4, 0, 0, 0);
		put(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_stack);
	}
	put(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0);
	put(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	attr.insn_cnt = n;
	return syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

/* Its file system is only in the mounts of this process. */
static uint64_t tracepoint(void)
{
	unsigned long long id = 0;
	FILE *file;

	if (!unshare(CLONE_NEWNS) && !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		mount("none", TRACEFS, "tracefs", 0, NULL);
	file = fopen(TRACEPOINT, "re");
	if (file && fscanf(file, "%llu", &id) != 1)
		id = 0;
	if (file)
		fclose(file);
	return id;
}

static int observe(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .config = tracepoint()};
	int program = load(), event = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	return program < 0 || event < 0 || ioctl(event, PERF_EVENT_IOC_SET_BPF, program) ? -1 : 0;
}

int main(void)
{
	char line[16];
	clock_t end;

	if (observe()) {
		printf("failed: %s\n", strerror(errno));
		return 1;
	}
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		end = clock() + CLOCKS_PER_SEC;
		while (clock() < end)
			for (int i = 0; i < 16; i++)
				syscall(SYS_getppid);
		puts("done");
		fflush(stdout);
	}
	return 0;
}
