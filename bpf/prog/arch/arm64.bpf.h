/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_PROG_ARCH_ARM64_BPF_H
#define STACKTOP_BPF_PROG_ARCH_ARM64_BPF_H

/*
 * The registers of a sample, as the kernel of this processor hands them over: those of the
 * interrupted code, or of the user code at its entry into the kernel.
 */
#include <stddef.h>
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <linux/ptrace.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "unwind/arch.h"

#define PSR_MODE	0x0000000fu /* 0: user mode */
#define PSR_MODE_32	0x00000010u
#define NR_RT_SIGRETURN 139
#define NR_EXECVE	221
#define NR_EXECVEAT	281

/* As the kernel keeps them: struct pt_regs of Linux since 4.15, up to what is used. */
typedef struct {
	bpf_user_pt_regs_t user;
	__u64 orig_x0;
	__s32 syscallno; /* -1: no system call */
	__u32 pad;
} entry_regs_t;

struct pt_regs {
	__u64 orig_x0;
} __attribute__((preserve_access_index));

/* Bytes of the kernel's own structure, which is longer. */
static __always_inline __u64 entry_regs_size(void)
{
	return bpf_core_type_size(struct pt_regs);
}

/* Those of code in user mode, too, are those of the entry: an interrupt saves them there. */
#define REGS_ALWAYS_OF_ENTRY 1

static __always_inline void regs_of_sample(entry_regs_t *to, const bpf_user_pt_regs_t *from)
{
}

/* to[n] becomes DWARF register n. */
static __always_inline void regs_load(__u64 *to, const entry_regs_t *regs)
{
	_Static_assert(offsetof(bpf_user_pt_regs_t, sp) == 8 * DWARF_SP, "in the same order");
	_Static_assert(offsetof(bpf_user_pt_regs_t, pc) == 8 * DWARF_PC, "in the same order");
	/* A loop would be as many instructions as words, twice. */
	bpf_probe_read_kernel(to, 8 * DWARF_COUNT, &regs->user);
}

static __always_inline __u64 regs_sp(const entry_regs_t *regs)
{
	return regs->user.sp;
}

/* 1: of code in user mode. */
static __always_inline int regs_user_mode(const bpf_user_pt_regs_t *regs)
{
	return !(regs->pstate & PSR_MODE);
}

/* 1: of a 32-bit program. */
static __always_inline int regs_32_bit(const entry_regs_t *regs)
{
	return (regs->user.pstate & PSR_MODE_32) != 0;
}

/*
 * Of an entry into the kernel, 1: the pc was executing, and not a system call in front of it. One
 * that ends in a signal's handler is none any more.
 */
static __always_inline int regs_pc_executed(const entry_regs_t *regs)
{
	return regs->syscallno < 0;
}

/* The kernel takes the number from x8 some functions after its entry. */
static __always_inline int regs_in_sigreturn(const entry_regs_t *regs)
{
	return regs->syscallno == NR_RT_SIGRETURN ||
	       (regs->syscallno < 0 && regs->user.regs[8] == NR_RT_SIGRETURN);
}

static __always_inline int regs_in_execve(const entry_regs_t *regs)
{
	return regs->syscallno == NR_EXECVE || regs->syscallno == NR_EXECVEAT;
}

/*
 * Where PHP keeps its frame and its instruction if it was compiled by GCC (Zend/zend_execute.c,
 * ZEND_VM_FP_GLOBAL_REG). Other code may have other values there.
 */
static __always_inline __u64 regs_php_frame(const entry_regs_t *regs)
{
	return regs->user.regs[27];
}

static __always_inline __u64 regs_php_opline(const entry_regs_t *regs)
{
	return regs->user.regs[28];
}

/*
 * Of the thread that runs: what its register was when it last left a CPU, or when it began.
 * Programs write the register themselves, once for each thread.
 */
struct thread_struct___uw {
	struct {
		unsigned long tp_value;
	} uw;
} __attribute__((preserve_access_index));

struct task_struct___thread {
	struct thread_struct___uw thread;
} __attribute__((preserve_access_index));

static __always_inline __u64 current_thread_pointer(void)
{
	const struct task_struct___thread *task = (const void *)bpf_get_current_task();
	unsigned long pointer = 0;

	bpf_core_read(&pointer, sizeof(pointer), &task->thread.uw.tp_value);
	return pointer;
}

/*
 * True if pthread_self() is the id: the C library's description of a thread is right in front of
 * where the thread pointer leads to (glibc: TLS_DTV_AT_TP, musl: TLS_ABOVE_TP).
 */
#define THREAD_DESCRIPTION_MAX 4096u

static __always_inline int is_thread_of(__u64 pointer, __u64 id)
{
	return pointer - id - 1 < THREAD_DESCRIPTION_MAX;
}

/* Of an entry into the kernel: the system call, below 0 if it is none, and its first argument. */
struct regs_call {
	__u64 argument;
	__s32 number;
	__u32 pad;
};

static __always_inline long regs_read_call(struct regs_call *call, const void *regs)
{
	return bpf_probe_read_kernel(call, sizeof(*call), &((const entry_regs_t *)regs)->orig_x0);
}

#endif
