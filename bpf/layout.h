/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_LAYOUT_H
#define STACKTOP_BPF_LAYOUT_H

/* What the BPF programs and their user-space owners share: keys, values, records, knobs. */

#include <linux/types.h>

#define KERNEL_FRAMES_MAX 127u

/* Key of the stack-count map. A hash of 0 means that there is no such stack. */
struct count_key {
	__u32 tgid;
	__u32 tid;
	__u64 user;
	__u64 kernel;
};

struct count_value {
	__u64 count;
	__u64 image; /* see struct proc_entry */
	char comm[16];
};

_Static_assert(sizeof(struct count_key) == 24, "no padding: the key is compared as bytes");

#define COUNTS_MAX 16384u

/* A stack seen for the first time, through the ring buffer. Frames: leaf first. */
struct stack_record {
	__u64 hash;
	__u32 tgid;
	__u16 nframes;
	__u8 kernel; /* 1: kernel addresses */
	__u8 reason; /* enum walk_reason of a user stack */
	__u64 frames[];
};

#define STACK_RING_BYTES (2u << 20)

/*
 * Hashes of the stacks that went to user space, as a set-associative table of cache lines. A
 * forgotten hash only costs that its stack travels again.
 */
#define KNOWN_WAYS 8u
#define KNOWN_SETS 8192u

struct known_set {
	__u64 hash[KNOWN_WAYS];
};

/* What a process looks like to the walk. */
struct proc_entry {
	/*
	 * mm->start_stack of the address space that the list was made for: differs from exec to
	 * exec by address space randomization, and can be read by both sides. 0: not known.
	 */
	__u64 image;
	__u32 list_at;
	__u32 list_count;
};

#define PROCS_MAX   16384u
#define TARGETS_MAX 16384u

/* Changed while running. */
struct profiler_control {
	__u32 filtering; /* only processes in the targets map are sampled */
	__u32 pad;
};

/* Set before load: unused branches are dead code. */
struct profiler_config {
	__u8 no_kernel;
	__u8 no_user;
	__u8 has_task_regs; /* bpf_get_current_task_btf and bpf_task_pt_regs (Linux 5.15) */
	__u8 pad[5];
	__u64 thread_size; /* where pt_regs end, for kernels without them */
};

/* Per CPU, only ever growing. */
struct profiler_stats {
	__u64 samples; /* taken, filtered ones included, idle ones not */
	__u64 filtered;
	__u64 user;	/* that hit user mode */
	__u64 walks;	/* user stacks walked */
	__u64 complete; /* to their outermost frame */
	__u64 frames;	/* of all walks */
	__u64 counts_full;
	__u64 counts_busy;
	__u64 ring_full;
	__u64 stacks; /* sent through the ring */
};

/* Kernel addresses to be named by the syscall program, and their names. */
#define KSYM_BATCH 64u
#define KSYM_NAME  128u

struct ksym_batch {
	__u32 count;
	__u32 pad;
	__u64 addrs[KSYM_BATCH];
	char names[KSYM_BATCH][KSYM_NAME];
};

#endif
