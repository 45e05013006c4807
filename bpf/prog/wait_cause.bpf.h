/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_PROG_WAIT_CAUSE_BPF_H
#define STACKTOP_BPF_PROG_WAIT_CAUSE_BPF_H

/*
 * What a task that leaves the CPU waits for: by its state, else by the system call that it is in,
 * and by the file of that call. States and file types are those of the kernel.
 */
#include "bpf/prog/sample.bpf.h"

#define TASK_RUNNING	     0x0000u
#define TASK_UNINTERRUPTIBLE 0x0002u
#define TASK_STOPPED	     0x000cu /* __TASK_STOPPED, __TASK_TRACED */
#define TASK_DEAD	     0x0080u
#define TASK_WAKING	     0x0200u
#define TASK_FROZEN	     0x8000u

#define S_IFMT	 0170000
#define S_IFSOCK 0140000
#define S_IFREG	 0100000
#define S_IFBLK	 0060000
#define S_IFDIR	 0040000
#define S_IFIFO	 0010000

struct inode {
	unsigned short i_mode;
} __attribute__((preserve_access_index));

struct file {
	struct inode *f_inode;
} __attribute__((preserve_access_index));

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
} __attribute__((preserve_access_index));

struct files_struct {
	struct fdtable *fdt;
} __attribute__((preserve_access_index));

struct task_struct___before_5_14 {
	long state;
} __attribute__((preserve_access_index));

/* Of a system call that waits for the file of that descriptor. */
static __attribute__((noinline)) __u32 wait_for_file(struct task_struct *task, __u64 fd)
{
	struct files_struct *files = task->files;
	struct fdtable *fdt = files ? files->fdt : NULL;
	struct file *file = NULL;
	struct inode *inode = NULL;
	unsigned short mode = 0;

	if (!fdt || (__u32)fd >= fdt->max_fds ||
	    bpf_probe_read_kernel(&file, sizeof(file), fdt->fd + (__u32)fd) || !file ||
	    bpf_core_read(&inode, sizeof(inode), &file->f_inode) ||
	    bpf_core_read(&mode, sizeof(mode), &inode->i_mode))
		return THREAD_OTHER;
	switch (mode & S_IFMT) {
	case S_IFIFO:
		return THREAD_PIPE;
	case S_IFSOCK:
		return THREAD_SOCKET;
	case S_IFREG:
	case S_IFDIR:
	case S_IFBLK:
		return THREAD_DISK;
	default:
		return THREAD_OTHER;
	}
}

static __always_inline __u32 task_state(struct task_struct *task)
{
	if (bpf_core_field_exists(task->__state))
		return task->__state;
	return ((struct task_struct___before_5_14 *)task)->state;
}

/* Where the kernel keeps the registers of the task's entry into it. */
static __always_inline const void *task_registers(struct task_struct *task)
{
	if (config.has_task_regs)
		return (const void *)bpf_task_pt_regs(task);
	return task->stack + config.thread_size - entry_regs_size();
}

/* What the current task waits for, as it leaves the CPU; *object: see struct thread_entry. */
static __always_inline __u32 wait_cause(struct task_struct *task, __u32 state, __u64 *object)
{
	struct regs_call call;
	__u32 nr, at, cause;

	*object = 0;
	if (state & (TASK_STOPPED | TASK_FROZEN) ||
	    (bpf_core_field_exists(task->frozen) && BPF_CORE_READ_BITFIELD(task, frozen)))
		return THREAD_STOPPED;
	if (regs_read_call(&call, task_registers(task)) || call.number < 0)
		return THREAD_FAULT;
	if (BPF_CORE_READ_BITFIELD(task, in_iowait))
		return THREAD_DISK;
	nr = call.number;
	if (nr >= CALLS_MAX)
		return THREAD_OTHER;
	at = nr / 16;
	STEP_BARRIER(at);
	cause = config.calls[at & (CALLS_MAX / 16 - 1)] >> nr % 16 * 4 & 15;
	if (cause == CALL_BY_FILE)
		return wait_for_file(task, call.argument);
	if (cause == THREAD_LOCK)
		*object = call.argument;
	return cause ? cause : THREAD_OTHER;
}

#endif
