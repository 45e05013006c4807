/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_OPENHELPER_H
#define STACKTOP_BPF_TRACKER_OPENHELPER_H

/*
 * The processes that open files for the tracker. One is forked at the start, holds nothing and only
 * forks and kills the others, which each answer requests of bpf/tracker/openfile.h, in their order.
 * One that waits for a dead file system for ever, and may not even be killed, is left behind: it
 * holds nothing but the file that it waits for.
 */

#include <stddef.h>
#include <sys/types.h>

#define OPENHELPERS	    4u
#define OPENHELPER_LEFT_MAX 16u /* that are killed and not gone; then there is no other one */

struct open_answer;

struct openhelpers {
	pid_t pid;   /* of the first process; 0: none */
	int control; /* socket */
};

/* Forks the first process. -errno. */
int openhelpers_new(struct openhelpers *h);
void openhelpers_free(struct openhelpers *h);
/*
 * Starts number i: the socket to send requests to, SOCK_SEQPACKET and non-blocking, the caller's
 * own; end of file there says that the helper is gone. Or -errno.
 */
int openhelpers_start(struct openhelpers *h, unsigned int i);
void openhelpers_kill(struct openhelpers *h, unsigned int i);

/* Receives an answer of `room` bytes at most: its size, 0 at the end of file, or -errno; *fd: that
 * came with it, the caller's own, or -1. */
ssize_t openhelper_receive(int socket, void *to, size_t room, int *fd);

#endif
