/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_PROG_PIDNS_BPF_H
#define STACKTOP_BPF_PROG_PIDNS_BPF_H

/*
 * PIDs of tasks in one PID namespace (pid_namespaces(7)). bpf_get_current_pid_tgid returns those of
 * the initial namespace, and bpf_get_ns_current_pid_tgid fails for tasks of a namespace below the
 * one in question. struct pid has a number for each level, from the initial namespace down to that
 * of the task.
 */
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

struct ns_common {
	unsigned int inum;
} __attribute__((preserve_access_index));

struct pid_namespace {
	struct ns_common ns;
} __attribute__((preserve_access_index));

struct upid {
	int nr;
	struct pid_namespace *ns;
} __attribute__((preserve_access_index));

struct pid {
	unsigned int level;
	struct upid numbers[1];
} __attribute__((preserve_access_index));

/* libbpf ignores a name from three underscores on. */
struct task_struct___pidns {
	struct task_struct___pidns *group_leader;
	struct pid *thread_pid;
	__u64 start_boottime;
} __attribute__((preserve_access_index));

/* NULL: the task has none any more, since its parent has waited for it. */
static __always_inline const struct pid *pidns_pid(const struct task_struct___pidns *task,
						   unsigned int *level)
{
	const struct pid *pid = NULL;

	*level = 0;
	if (bpf_core_read(&pid, sizeof(pid), &task->thread_pid) || !pid ||
	    bpf_core_read(level, sizeof(*level), &pid->level))
		return NULL;
	return pid;
}

/* The PID at the level, if that is the namespace with this inode; else 0. */
static __always_inline __u32 pidns_number_at(const struct pid *pid, __u32 level, __u32 inode)
{
	const struct upid *at = (const void *)__builtin_preserve_access_index(&pid->numbers[0]) +
				(__u64)level * bpf_core_type_size(struct upid);
	const struct pid_namespace *ns = NULL;
	unsigned int inum = 0;
	int number = 0;

	if (bpf_core_read(&ns, sizeof(ns), &at->ns) ||
	    bpf_core_read(&inum, sizeof(inum), &ns->ns.inum) || inum != inode ||
	    bpf_core_read(&number, sizeof(number), &at->nr))
		return 0;
	return number;
}

#endif
