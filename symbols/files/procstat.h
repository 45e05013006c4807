/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_FILES_PROCSTAT_H
#define STACKTOP_SYMBOLS_FILES_PROCSTAT_H

/* What /proc/PID/stat says of a process or thread (proc_pid_stat(5)). */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct procstat {
	pid_t ppid;
	char comm[16]; /* any bytes */
	char state;    /* a letter of proc_pid_stat(5) */
	bool zombie;
	bool kthread;
	long threads;
	uint64_t start;	      /* clock ticks since boot, in the time namespace of the reader */
	uint64_t start_stack; /* mm->start_stack; 0: not visible, or within an exec */
	bool complete;
};

/*
 * An exec sets start_stack twice, and end_code between: complete is true only after the second
 * time. -errno.
 */
int procstat_read(pid_t pid, struct procstat *s);
/*
 * Whether the process runs or is ready to, and the CPU time that it has had, ns in steps of a clock
 * tick; stat: its /proc/PID/stat, open. false, too, when it is gone.
 */
bool procstat_runs(int stat, uint64_t *cpu);
/* The effective user; false: the process is gone. */
bool procstat_uid(pid_t pid, uid_t *uid);

#endif
