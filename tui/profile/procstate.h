/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PROFILE_PROCSTATE_H
#define STACKTOP_TUI_PROFILE_PROCSTATE_H

/* What a process does while a walk of it is waited for. The collector looks; a view says it. */

#include <stdbool.h>
#include <sys/types.h>

struct procstate {
	pid_t pid;  /* 0: of none */
	char state; /* of its first thread, a letter of proc_pid_stat(5); 0: the process is gone */
	bool kthread;
	char comm[16];	/* clean */
	char where[64]; /* the kernel function in which it waits, clean; "": not known, or in none
			 */
};

#endif
