/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_PROG_RETURNS_BPF_H
#define STACKTOP_BPF_PROG_RETURNS_BPF_H

/*
 * Return addresses that the kernel has replaced. A uretprobe writes the address of a trampoline in
 * place of the function's return address, and keeps that in a list of the thread, innermost first
 * (kernel/events/uprobes.c, prepare_uretprobe). Here the true addresses are written into the copy
 * of the stack that a walk reads, so that the walk need not know of probes. Functions that leave
 * by a jump to another probed function have one place on the stack and one address together.
 *
 * Probed instructions and the trampoline run in a page of the kernel's own, [uprobes]. A pc there
 * becomes that of the instruction, or the return address.
 */
#include <stddef.h>
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "unwind/walk.h"

#define RETURNS_MAX  64u /* MAX_URETPROBE_DEPTH */
#define RETURNS_ANY  (~0ull >> 1)
#define RETURNS_SLOT 128u /* bytes of an instruction or of the trampoline in [uprobes], at most */
/* With a link register, the place is somewhere in the frame, so all words are looked at. */
#define RETURNS_TURNS (RETURNS_MAX + (ARCH_HAS_LINK ? WALK_WINDOW_MAX / 8 : 0))

#define RETURNS_PUSHED	(ARCH_HAS_LINK ? 0u : 24u) /* bytes */
#define RETURNS_POP_R11 13u			   /* where the trampoline of x86-64 pops it */
#define RETURNS_POP_RCX 15u

int walk_call_after_call(__u64 addr);

struct return_instance {
	unsigned long stack; /* the stack pointer when the function was called */
	unsigned long orig_ret_vaddr;
	struct return_instance *next;
} __attribute__((preserve_access_index));

struct uprobe_task {
	unsigned long vaddr;	 /* of the probed instruction ... */
	unsigned long xol_vaddr; /* ... and of its copy that runs; or 0 */
	struct return_instance *return_instances;
} __attribute__((preserve_access_index));

struct xol_area {
	unsigned long vaddr; /* where the trampoline is */
} __attribute__((preserve_access_index));

struct returns_place {
	__u64 stack, ra;
};

struct returns {
	__u64 trampoline; /* 0: no return address is replaced; 52 bits on arm64, code has 48 */
	__u64 next;	  /* struct return_instance */
	__u32 count;
	__u32 at, n; /* words and places that were looked at */
	struct returns_place places[RETURNS_MAX];
};

static __always_inline struct returns_place *returns_place(struct returns *r, __u64 n)
{
	STEP_BARRIER(n);
	return &r->places[n & (RETURNS_MAX - 1)];
}

/*
 * Writes the true return addresses into a copy of `size` bytes of the stack, those from `from` on.
 */
static __always_inline void returns_restore(struct returns *r, __u8 *copy, __u64 from, __u64 size)
{
	const struct returns_place *p;
	__u64 at, *word;
	unsigned int i;

	if (!r->trampoline)
		return;
	r->at = r->n = 0;
	for (i = 0; i < RETURNS_TURNS; i++) {
		p = returns_place(r, r->n);
		at = ARCH_HAS_LINK ? r->at : p->stack - from;
		if (r->n >= r->count || (ARCH_HAS_LINK && at >= size))
			break;
		if (ARCH_HAS_LINK && p->stack > from + at)
			r->at += 8;
		else
			r->n++;
		if (at >= size || (ARCH_HAS_LINK && p->stack <= from + at))
			continue;
		STEP_BARRIER(at);
		word = (__u64 *)(copy + (at & (WALK_WINDOW_MAX - 1)));
		if (arch_code(*word) == arch_code(r->trampoline))
			*word = p->ra;
	}
}

/* Index of the innermost function that was called at most so far above sp; RETURNS_MAX: none. */
static __always_inline unsigned int returns_find(struct returns *r, __u64 sp, __u64 within)
{
	unsigned int i;

	for (i = 0; i < RETURNS_MAX; i++)
		if (i < r->count && returns_place(r, i)->stack - ARCH_RA_AT - sp <= within)
			break;
	return i;
}

/*
 * Leaves the trampoline. That of x86-64 pushes three words before it asks the kernel
 * (arch/x86/kernel/uprobes.c, uretprobe_trampoline_entry). When the function is not in the list any
 * more, the first of these words is its return address, and the other two are popped.
 */
static __always_inline int returns_leave(struct returns *r, __u64 regs[DWARF_COUNT])
{
	__u64 at = regs[ARCH_PC] - r->trampoline, sp = regs[ARCH_SP], ra = 0;
	unsigned int i = returns_find(r, sp, RETURNS_PUSHED);

	if (i < RETURNS_MAX) {
		regs[ARCH_PC] = returns_place(r, i)->ra;
		regs[ARCH_SP] = returns_place(r, i)->stack - ARCH_RA_AT;
		return 1;
	}
	if (ARCH_HAS_LINK)
		return 0;
	sp += at <= RETURNS_POP_R11 ? 16 : at <= RETURNS_POP_RCX ? 8 : 0;
	if (bpf_probe_read_user(&ra, sizeof(ra), (const void *)sp) || !walk_call_after_call(ra))
		return 0;
	regs[ARCH_PC] = ra;
	regs[ARCH_SP] = sp + 8;
	return 1;
}

/*
 * Reads the list, then changes the registers, by DWARF numbers, to those without a probe. utask:
 * what the thread has of probes. xol: its struct xol_area. 1: the pc is a return address then.
 */
static __always_inline int returns_begin(struct returns *r, __u64 regs[DWARF_COUNT],
					 const struct uprobe_task *utask,
					 const struct xol_area *xol)
{
	__u64 copy = 0, addr = 0;
	const struct return_instance *of;
	unsigned int i;

	bpf_core_read(&copy, sizeof(copy), &utask->xol_vaddr);
	bpf_core_read(&addr, sizeof(addr), &utask->vaddr);
	if (copy && regs[ARCH_PC] - copy < RETURNS_SLOT)
		regs[ARCH_PC] += addr - copy;
	bpf_core_read(&r->next, sizeof(r->next), &utask->return_instances);
	if (bpf_core_read(&addr, sizeof(addr), &xol->vaddr))
		return 0;
	r->trampoline = addr;
	for (i = 0; i < RETURNS_MAX; i++) {
		of = (const void *)r->next;
		if (!of)
			break;
		bpf_core_read(&r->places[i].stack, 8, &of->stack);
		bpf_core_read(&r->places[i].ra, 8, &of->orig_ret_vaddr);
		bpf_core_read(&r->next, sizeof(r->next), &of->next);
	}
	r->count = i;
	if (ARCH_HAS_LINK && arch_code(regs[ARCH_LINK]) == arch_code(addr)) {
		i = returns_find(r, regs[ARCH_SP], RETURNS_ANY);
		if (i < RETURNS_MAX)
			regs[ARCH_LINK] = returns_place(r, i)->ra;
	}
	return regs[ARCH_PC] - addr < RETURNS_SLOT && returns_leave(r, regs);
}

#endif
