// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the level of the PID namespace of the process that runs it. User space cannot know: the
 * kernel hides the namespaces above.
 */
#include "bpf/prog/pidns.bpf.h"

#include "bpf/prog/layout.h"

const volatile __u32 inode;

/* Level and PID of the caller, see PIDNS_LEVEL_SHIFT; 0: it is not in that namespace. */
SEC("raw_tp/sched_process_exit")
int find_level(void *ctx)
{
	const struct task_struct___pidns *task = (void *)bpf_get_current_task(), *leader = NULL;
	__u32 level, number;
	unsigned int last;
	const struct pid *pid;

	if (bpf_core_read(&leader, sizeof(leader), &task->group_leader))
		return 0;
	pid = pidns_pid(leader, &last);
	if (!pid)
		return 0;
	for (level = 0; level <= PIDNS_LEVEL_MAX && level <= last; level++) {
		number = pidns_number_at(pid, level, inode);
		if (number)
			return level << PIDNS_LEVEL_SHIFT | number;
	}
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
