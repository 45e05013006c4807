/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_PROG_ARCH_X86_64_BPF_H
#define STACKTOP_BPF_PROG_ARCH_X86_64_BPF_H

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

#define USER32_CS	0x23 /* __USER32_CS */
#define NR_RT_SIGRETURN 15
#define NR_EXECVE	59
#define NR_EXECVEAT	322

typedef bpf_user_pt_regs_t entry_regs_t;

/* Bytes of the kernel's own structure. */
static __always_inline __u64 entry_regs_size(void)
{
	return sizeof(entry_regs_t);
}

/* Those of code in user mode are a part of the sample, which is quicker. */
#define REGS_ALWAYS_OF_ENTRY 0

static __always_inline void regs_of_sample(entry_regs_t *to, const bpf_user_pt_regs_t *from)
{
	*to = *from;
}

/* to[n] becomes DWARF register n. */
static __always_inline void regs_load(__u64 *to, const entry_regs_t *regs)
{
	to[DWARF_RAX] = regs->rax;
	to[DWARF_RDX] = regs->rdx;
	to[DWARF_RCX] = regs->rcx;
	to[DWARF_RBX] = regs->rbx;
	to[DWARF_RSI] = regs->rsi;
	to[DWARF_RDI] = regs->rdi;
	to[DWARF_RBP] = regs->rbp;
	to[DWARF_RSP] = regs->rsp;
	to[DWARF_R8] = regs->r8;
	to[DWARF_R9] = regs->r9;
	to[DWARF_R10] = regs->r10;
	to[DWARF_R11] = regs->r11;
	to[DWARF_R12] = regs->r12;
	to[DWARF_R13] = regs->r13;
	to[DWARF_R14] = regs->r14;
	to[DWARF_R15] = regs->r15;
	to[DWARF_RIP] = regs->rip;
}

static __always_inline __u64 regs_sp(const entry_regs_t *regs)
{
	return regs->rsp;
}

/* 1: of code in user mode. */
static __always_inline int regs_user_mode(const entry_regs_t *regs)
{
	return (regs->cs & 3) != 0;
}

/* 1: of a 32-bit program. */
static __always_inline int regs_32_bit(const entry_regs_t *regs)
{
	return (regs->cs & 0xffff) == USER32_CS;
}

/*
 * Of an entry into the kernel, 1: the pc was executing. A system call returns behind its
 * instruction, which leaves that address in RCX; an interrupt, a fault, or a system call that ends
 * in a signal's handler, to the very pc.
 */
static __always_inline int regs_pc_executed(const entry_regs_t *regs)
{
	return (__s64)regs->orig_rax < 0 || regs->rcx != regs->rip;
}

static __always_inline int regs_in_sigreturn(const entry_regs_t *regs)
{
	return regs->orig_rax == NR_RT_SIGRETURN;
}

/*
 * Where PHP keeps its frame and its instruction if it was compiled by GCC (Zend/zend_execute.c,
 * ZEND_VM_FP_GLOBAL_REG). Other code may have other values there.
 */
static __always_inline __u64 regs_php_frame(const entry_regs_t *regs)
{
	return regs->r14;
}

static __always_inline __u64 regs_php_opline(const entry_regs_t *regs)
{
	return regs->r15;
}

/* Of the thread that runs: what pthread_self() returns. */
struct thread_struct {
	unsigned long fsbase;
} __attribute__((preserve_access_index));

struct task_struct___thread {
	struct thread_struct thread;
} __attribute__((preserve_access_index));

static __always_inline __u64 current_thread_pointer(void)
{
	const struct task_struct___thread *task = (const void *)bpf_get_current_task();
	unsigned long base = 0;

	bpf_core_read(&base, sizeof(base), &task->thread.fsbase);
	return base;
}

/* True if pthread_self() is the id. */
static __always_inline int is_thread_of(__u64 pointer, __u64 id)
{
	return id == pointer;
}

/* Of an entry into the kernel: the system call, below 0 if it is none, and its first argument. */
struct regs_call {
	__u64 argument;
	__s64 number;
};

static __always_inline long regs_read_call(struct regs_call *call, const void *regs)
{
	_Static_assert(offsetof(struct pt_regs, orig_rax) == offsetof(struct pt_regs, rdi) + 8,
		       "one read for both");
	return bpf_probe_read_kernel(call, sizeof(*call), &((const struct pt_regs *)regs)->rdi);
}

static __always_inline int regs_in_execve(const entry_regs_t *regs)
{
	return regs->orig_rax == NR_EXECVE || regs->orig_rax == NR_EXECVEAT;
}

#endif
