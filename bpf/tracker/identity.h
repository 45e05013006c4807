/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_IDENTITY_H
#define STACKTOP_BPF_TRACKER_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Identifies a process beyond its PID, which the kernel gives to another one after it has ended. A
 * pidfd (pidfd_open(2)) shows the end; the start time tells processes with one PID apart.
 */
struct identity {
	pid_t pid;
	int fd;		/* pidfd; -1: there is none */
	uint64_t start; /* procstat.start; 0: it had ended before this was known */
	bool ended;	/* by identity_has_ended */
	bool told_reuse;
};

/*
 * Identifies the process that has the PID now; to be dropped even if it has ended. with_fd: use a
 * pidfd if possible; else /proc shows the end.
 */
void identity_take(struct identity *id, pid_t pid, bool with_fd);
/* Checks it unless the end is known already. */
bool identity_has_ended(struct identity *id);
void identity_drop(struct identity *id);

#endif
