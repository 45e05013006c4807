/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_IDENTITY_H
#define STACKTOP_BPF_TRACKER_IDENTITY_H

/*
 * One process, and not whichever has its number: the kernel gives the number to another when the
 * process has ended. A pidfd (pidfd_open(2)) tells the end, and the time of the start tells which
 * of them something else is about.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct identity {
	pid_t pid;
	int fd;		/* pidfd; -1: there is none */
	uint64_t start; /* as in struct procstat; 0: it had ended before this was known */
	bool ended;	/* that was seen */
	bool told_reuse;
};

/*
 * Of the process that has the number now; to be dropped even if it has ended. with_fd: by a pidfd,
 * if one can be had; else /proc has to tell the end.
 */
void identity_take(struct identity *id, pid_t pid, bool with_fd);
/* Looks, unless it is known already. */
bool identity_has_ended(struct identity *id);
void identity_drop(struct identity *id);

#endif
