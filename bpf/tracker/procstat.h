/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_PROCSTAT_H
#define STACKTOP_BPF_TRACKER_PROCSTAT_H

/* What /proc/PID/stat says of a process or thread (proc_pid_stat(5)). */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct procstat {
	pid_t ppid;
	char comm[16];
	bool zombie;
	bool kthread;
	long threads;
	uint64_t start; /* clock ticks from boot on, by the time namespace of who reads it */
	uint64_t image; /* mm->start_stack; 0: not to be seen, or within an exec */
	bool complete;
};

/*
 * An exec sets start_stack twice; only the second, after end_code, is that of the new image:
 * complete. -errno.
 */
int procstat_read(pid_t pid, struct procstat *s);

#endif
