/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_PROG_LAYOUT_H
#define STACKTOP_BPF_PROG_LAYOUT_H

/* What the BPF programs and user space share: keys, values, records, knobs. */

#include <linux/magic.h>
#include <linux/types.h>

#include "unwind/walk.h"

#define KERNEL_FRAMES_MAX 127u

/*
 * Key of the stack-count map. A hash of 0: there is no such stack. A PID has 22 bits (PID_MAX_LIMIT
 * of include/linux/threads.h), so the CPU fits in beside it and makes the key no longer.
 */
struct count_key {
	__u64 tgid : 24;
	__u64 tid : 24;
	__u64 cpu : 16; /* + 1; 0: CPUs are not told apart; with COUNT_WAIT: a wait of that state */
	__u64 exec_id;	/* see below */
	__u64 user;
	__u64 kernel;
};

/*
 * exec_id: a process between two execs, as a number: the start of its first thread (ns of the
 * kernel's CLOCK_MONOTONIC) plus the number of execs of it and its ancestors. Two with one PID have
 * different numbers, the later one the higher, since an exec or the reuse of a PID takes at least a
 * ns. Never 0, and below 2^62.
 */

#define COUNT_WAIT 0x8000u /* | enum thread_time */
/* OR'ed with the CPU: not known yet whether the process is chosen. User space filters the sample.
 */
#define COUNT_UNDECIDED 0x4000u

struct count_value {
	__u64 count;
	/* What the samples stand for: ns of a clock or of waits, else how often the event happened.
	 */
	__u64 weight;
	__u64 start_stack; /* see struct proc_entry */
	char comm[16];
};

_Static_assert(sizeof(struct count_key) == 32, "no padding: the key is compared as bytes");

/*
 * A new stack, sent through the ring buffer. Frames: leaf first. A user stack with all frames in
 * objects (FRAME_IN_OBJECT) has one hash in all processes; the hash of any other includes process
 * and exec.
 */
struct stack_record {
	__u64 hash;
	union {
		__u64 start_stack; /* of a user stack: see struct proc_entry */
		/* Of a kernel stack: profiler_control.kernel_code; upper half:
		   module_counts.changes. */
		__u64 kernel_code;
	};
	__u64 exec_id; /* see struct count_key; of a kernel stack: 0 */
	__u32 tgid;
	__u16 nframes;
	/* 1: kernel addresses; STACK_CAPTURED: it is a struct capture_record; or as
	   bpf/prog/runtime_layout.h says. */
	__u8 kernel;
	__u8 reason; /* enum walk_reason of a user stack */
	__u64 frames[];
};

/*
 * A walk with its input, of the process in profiler_control.capture. Begins like a stack_record.
 */
#define STACK_CAPTURED 2
#define CAPTURE_PAGE   4096u
#define CAPTURE_PAGES  4u

struct capture_record {
	__u64 hash;
	__u64 start_stack;
	__u64 exec_id;
	__u32 tgid;
	__u16 nframes;
	__u8 kernel; /* STACK_CAPTURED */
	__u8 reason;
	__u64 frames[WALK_FRAMES_MAX];
	__u64 regs[DWARF_COUNT];
	__u64 time;	/* ns of the kernel's CLOCK_MONOTONIC */
	__u64 stack_at; /* address of stack[0]: the page that the stack pointer points into */
	__u32 tid;
	__u32 cpu;
	__u32 pages;	   /* of the stack that could be read */
	__u8 exact;	   /* the pc was executing; it is not a system call's return address */
	__u8 in_sigreturn; /* the thread returns from a signal's handler */
	__u8 user_mode;	   /* the sample hit user code */
	__u8 keeps_fp;	   /* as in struct walk */
	__u8 stack[CAPTURE_PAGES * CAPTURE_PAGE];
};

/*
 * Hashes of the stacks that were sent to user space, as a set-associative table of cache lines. If
 * a hash is forgotten its stack is sent again.
 */
#define SEEN_WAYS 8u

struct seen_set {
	__u64 hash[SEEN_WAYS];
};

/* What a process looks like to the walk. */
struct proc_entry {
	/*
	 * mm->start_stack of the address space that the list was made for. Randomization makes it
	 * another after each exec, and both sides can read it. 0: not known.
	 */
	__u64 start_stack;
	__u32 list_at;
	__u32 list_count;
	__u32 code_count; /* entries behind these: of the rows that were made for it */
	/*
	 * As count_key.exec_id, which only BPF can read: the first sample writes it here, and from
	 * then on the list is for that exec only. 0: not yet. start_stack alone would fit the next
	 * exec, too, where addresses are not randomized.
	 */
	__u64 exec_id;
	__u64 exec_at;	/* when it was written, ns of the kernel's CLOCK_MONOTONIC */
	__u32 runtimes; /* a byte of each, RUNTIME_BYTE, | RUNTIMES_KEEP_FP; 0: there are no more */
	__u32 version;	/* another one for each list, table and change of these */
};

/* Trails of one CPU (unwind/trail.h). */
#define TRAILS_SHIFT 6
#define TRAILS	     (1u << TRAILS_SHIFT)

/*
 * Beside each entry of a list: the tag of the mapping that it was made for, to check that it is
 * still there (bpf/prog/vma.bpf.h), and the stamp of the last sample that has checked it. A stamp
 * stands for a process and its count of changed mappings, or for one sample where the kernel does
 * not count them.
 */
struct entry_check {
	__u32 tag;
	__u32 stamp; /* 0: none yet */
};

#define VMA_ANONYMOUS 0u
#define VMA_ANY	      1u /* the entry stands for no mapping */

/* The kernel's dev_t. */
static inline __u64 vma_dev(__u32 major, __u32 minor)
{
	return (__u64)major << 20 | minor;
}

/* The tag of a file with these numbers, as in records and /proc/PID/maps; dev as in vma_dev. */
static inline __u64 vma_file_tag(__u64 dev, __u64 inode)
{
	__u64 tag = (dev + 1) * 0x9e3779b97f4a7c15ull;

	tag = (tag ^ tag >> 32 ^ inode) * 0xbf58476d1ce4e5b9ull;
	return tag ^ tag >> 32;
}

/*
 * File systems that reuse the inode number of a deleted file with another i_generation, which
 * FS_IOC_GETVERSION returns.
 */
static inline int vma_has_generations(__u64 magic)
{
	return magic == EXT4_SUPER_MAGIC || magic == XFS_SUPER_MAGIC ||
	       magic == BTRFS_SUPER_MAGIC || magic == F2FS_SUPER_MAGIC;
}

/* The tag in frames, which keep FRAME_TAG_MASK of it. generation: 0 on other file systems. */
static inline __u64 vma_frame_tag(__u64 file, __u32 generation)
{
	return file ^ generation * 0x94d049bb133111ebull;
}

/* The tag of a mapping of that file; base: address of the first byte of the file if mapped. */
static inline __u32 vma_tag(__u64 file, __u64 base)
{
	__u64 tag = (file ^ base) * 0x94d049bb133111ebull;

	return (__u32)(tag >> 32) | 2;
}

/*
 * Places in code made at run time from which no walk leads on for sure, for user space, which takes
 * them out. The slot of a place depends on it, so a frequent one is written once. A torn entry is
 * one of a place that no process has.
 */
#define BARE_PLACES 1024u
#define BARE_EXACT  (1ull << 63) /* the pc was executing; else it is a return address */
#define BARE_STALE  (1ull << 62) /* its row led to no return address: the code is another now */

struct bare_place {
	__u64 pc;   /* 0: none */
	__u64 tgid; /* as in records */
	/* Of memory without a file: bit n: the n-th word of the stack is a return address to CFI.
	 */
	__u64 words;
	__u64 ra; /* the nearest of these */
};

/*
 * In a process that user space does not know yet the walk looks up files instead of addresses. The
 * list of a file has offsets in it, plus FILE_SPACE, in place of addresses.
 */
struct file_key {
	__u64 dev; /* as vma_dev has it */
	__u64 inode;
};

struct file_entry {
	__u64 change; /* its ctime, ns: tells it from a later file with the same number */
	__u32 list_at;
	__u32 list_count;
};

#define FILE_SPACE (1ull << 60)
#define FILES_MAX  8192u

/* --- where threads are ---------------------------------------------------------------------- */

/* What a thread does: it is on a CPU, or waits for one, or for something else. */
enum thread_time {
	THREAD_ON,
	THREAD_RUNNABLE,
	THREAD_LOCK,
	THREAD_SLEEP,
	THREAD_POLL,
	THREAD_PIPE,
	THREAD_SOCKET,
	THREAD_DISK,
	THREAD_FAULT,
	THREAD_CHILD,
	THREAD_STOPPED,
	THREAD_OTHER,
	THREAD_STATES,
};

/* Of a system call in profiler_config.calls, in place of a state: the file of its first argument
 * says which. */
#define CALL_BY_FILE 1u
#define CALLS_MAX    512u

#define WAKERS_MAX 4u

/* In place of the hash of a user stack: that of a wait which had begun when threads were first
 * followed, so that it is not known. No stack has it (unwind/stackhash.h). */
#define STACK_EARLY (~0ull)

/* Who woke a thread, and from where. */
struct waker {
	__u32 tgid, tid; /* 0: an interrupt while the CPU was idle */
	__u64 exec_id;
	__u64 start_stack;
	__u64 user, kernel; /* hashes of its stacks; 0: none */
	char comm[16];
};

/*
 * A thread, while the time of threads is taken; key of the map: the kernel's address of its task.
 * User space reads it while it is written. seq and seq_end are odd from before a change until after
 * it: only if they are even and equal it is whole, whatever end the kernel begins to copy it from.
 */
struct thread_entry {
	__u32 seq;
	__u32 state; /* enum thread_time, since then */
	__u64 since; /* all times: ns of the kernel's CLOCK_MONOTONIC */
	__u64 woken; /* when it was woken last */
	__u64 start; /* of the thread: tells it from a later one at this address */
	__u32 tgid, tid;
	__u64 exec_id;
	__u64 start_stack; /* see struct proc_entry */
	char comm[16];
	__u64 spent[THREAD_STATES]; /* ns, without the time since `since` */
	__u64 sampled;		    /* ns of spent[THREAD_ON] that samples stand for */
	/* The wait that goes on, or went on last: */
	__u64 user, kernel; /* hashes of its stacks */
	__u64 limit;	    /* waits of at least so many ns stand for themselves ... */
	__u32 scale;	    /* ... shorter ones for so many; 0: its stacks were not taken */
	__u32 nwakers;
	__u64 object;		   /* address of the lock that it waits for; 0: it is none */
	__u32 mean[THREAD_STATES]; /* ns of waits, by state */
	/* Who woke it, who woke that one, and so on. */
	struct waker wakers[WAKERS_MAX];
	__u64 cost;    /* ns that taking the stacks took, within the wait */
	__u32 thinned; /* waits that were thinned out, or stand for such, only ever growing */
	__u32 seq_end;
};

/* The last words of a thread, or of what it was before an exec: with kernel == STACK_THREAD. */
#define STACK_THREAD 6

struct thread_record {
	__u64 head[4]; /* struct stack_record */
	struct thread_entry thread;
};

/* A long wait that has ended, with kernel == STACK_WAIT. */
#define STACK_WAIT 7

struct wait_record {
	__u64 hash; /* 0 */
	__u64 start_stack;
	__u64 exec_id;
	__u32 tgid;
	__u16 nframes; /* 0 */
	__u8 kernel;   /* STACK_WAIT */
	__u8 state;    /* enum thread_time */
	__u32 tid;
	__u32 nwakers;
	__u64 user, kernel_stack; /* hashes */
	__u64 object;
	__u64 since; /* as in struct thread_entry */
	__u64 ns;    /* until it was woken */
	struct waker wakers[WAKERS_MAX];
};

/* Per CPU, only ever growing. */
struct wait_stats {
	__u64 switches; /* of threads that are looked at */
	__u64 waits;	/* counted */
	__u64 small;	/* below the minimum: only summed up */
	__u64 small_ns;
	__u64 thinned; /* stacks that were not taken, to save time */
	__u64 untaken; /* ... of which these turned out long */
	__u64 untaken_ns;
	__u64 walks;  /* stacks taken, those of wakers included */
	__u64 wakers; /* of these */
	__u64 run_ns; /* of all programs that follow threads, by a sample of their runs */
	__u64 full;   /* threads for which there was no room, each time */
	__u64 lost;   /* records for which the ring had no room */
	__u64 missed; /* switches to or from a thread that the kernel has not reported */
	__u64 limit;  /* not a counter: the present one, ns */
};

/* Of a process, while processes are chosen. */
struct target {
	__u64 start;   /* of the process, as field 22 of /proc/PID/stat; 0: any */
	char comm[16]; /* its name when that was decided; the bytes behind the NUL are 0 */
	__u32 chosen;
	__u32 pad;
};

enum target_filter {
	FILTER_NONE,   /* all processes are sampled */
	FILTER_LISTED, /* those that the map of targets has */
	/*
	 * Those without an entry are undecided, and so are those with another name than theirs:
	 * fork, exec and prctl(2) come before user space hears of them.
	 */
	FILTER_JUDGED,
};

/* Knobs that change while the program runs. */
struct profiler_control {
	__u32 filtering;      /* enum target_filter */
	__u32 capture;	      /* process to capture the next walk of; 0: none */
	__u32 capture_reason; /* capture only a walk with this end (enum walk_reason); 0: any */
	__u32 by_cpu;	      /* CPUs are told apart */
	__u32 kernel_code;    /* generation of bpf/sampler/kernelcode.h */
	__u32 event; /* samples weigh what the event has counted: its number; 0: it is a clock */
	__u64 least_wait; /* ns; shorter waits are only summed up */
	__u64 least_wake; /* ns of a wait from which on its waker is asked for */
};

/* Of the kernel's modules; only ever growing. */
struct module_counts {
	__u32 changes; /* times that one has come or gone */
	__u32 lost;    /* of these: the ring was full */
};

#define MODULE_NAME	  56u /* MODULE_NAME_LEN of include/linux/module.h on 64 bits */
#define MODULE_RING_BYTES 65536u

/* A module has come or goes. */
struct module_change {
	__u64 start, init_start; /* code, and code that is freed after its init */
	__u32 size, init_size;	 /* bytes; 0: there is none */
	__u32 changes;		 /* loaded: present from this count on; gone: up to it */
	__u32 gone;
	char name[MODULE_NAME];
};

/* Set before load: unused branches are dead code. */
struct profiler_config {
	__u8 no_kernel;
	__u8 no_user;
	__u8 has_task_regs; /* bpf_get_current_task_btf and bpf_task_pt_regs (Linux 5.15) */
	__u8 capture;	    /* user space may ask for a capture_record */
	__u8 checks_lists;  /* the kernel's mappings can be looked up (bpf/prog/vma.bpf.h) */
	__u8 runtimes; /* a program may call another (arm64: Linux 6.0, beside global functions) */
	__u8 pad[2];
	__u64 thread_size; /* offset of the end of pt_regs in the stack, without has_task_regs */
	__u32 seen_mask;   /* sets of seen_stacks - 1 */
	__u32 ring_wake;   /* user space is woken when the ring holds so many bytes */
	__u32 pidns_inode; /* of the PID namespace to count in; 0: the initial one */
	__u32 pidns_level; /* of nested namespaces, at which it is */
	__u64 code_mask;   /* bits of an address of user space */
	__u64 boottime_offset;		/* ns; added to the start of processes, as /proc does */
	__u64 hash_key[STACKHASH_KEYS]; /* random for each run */
	__u64 calls[CALLS_MAX / 16];	/* for each system call, four bits: why it waits */
	__u32 unfollowed; /* a process of the initial PID namespace whose waits are left out */
	__u32 sampler;	  /* id of on_sample; 0: not known to it */
	__u64 wait_share; /* of a CPU, 1 / this: what taking stacks of waits may cost */
	/* The kernel's code at which it is entered, by interrupts, too; both 0: not known. */
	__u64 entry_text, entry_text_end;
};

#define CLOCK_TICK_NS 10000000u /* 1 s / USER_HZ */

/* What pidns.bpf.c returns: a level in the upper bits, a PID (22 bits) in the lower. */
#define PIDNS_LEVEL_SHIFT 24
#define PIDNS_NUMBER_MASK ((1u << PIDNS_LEVEL_SHIFT) - 1)
#define PIDNS_LEVEL_MAX	  32u /* MAX_PID_NS_LEVEL of include/linux/pid_namespace.h */

/* Per CPU, only ever growing. */
struct profiler_stats {
	__u64 samples; /* taken, filtered ones included, idle ones not */
	__u64 filtered;
	__u64 user;	   /* that hit user mode */
	__u64 walks;	   /* user stacks walked */
	__u64 complete;	   /* to their outermost frame */
	__u64 complete_fp; /* ... of these, by frame pointers alone */
	__u64 frames;	   /* of all walks */
	__u64 counts_full;
	__u64 counts_busy;
	__u64 ring_full;
	__u64 stacks;	   /* sent through the ring */
	__u64 kernel_lost; /* kernel stacks that the kernel did not hand out */
	__u64 again;	   /* of frames: by a row that was kept from another walk */
	__u64 outside;	   /* of filtered: processes without a number in our PID namespace */
	__u64 skipped;	   /* of samples: taken by on_timer_end */
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

/* Kernel text to be copied by the syscall program. */
#define KCODE_BYTES 1024u

struct kcode_piece {
	__u64 addr;
	__u8 bytes[KCODE_BYTES];
};

#endif
