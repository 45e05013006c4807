/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_OPENHELPER_H
#define STACKTOP_BPF_TRACKER_OPENHELPER_H

/*
 * The processes that open files for the tracker. One is forked at the start, holds no resources and
 * only forks and kills the others, which answer requests of bpf/tracker/openfile.h in order. A
 * process that waits forever for a dead file system, and cannot even be killed, is left behind: it
 * holds only the file that it waits for.
 */

#include <stddef.h>
#include <sys/types.h>

#define OPENHELPERS	    4u
#define OPENHELPER_HELLO    1	/* shorter than an answer */
#define OPENHELPER_LEFT_MAX 16u /* killed but not gone; then none is started any more */

struct openhelpers {
	pid_t pid;   /* of the first process; 0: none */
	int control; /* socket */
};

/* Forks the first process. -errno. */
int openhelpers_new(struct openhelpers *h);
void openhelpers_free(struct openhelpers *h);
/*
 * Starts number i. Returns the socket for requests, SOCK_SEQPACKET and non-blocking, the caller's
 * own, whose end of file means that the helper is gone; or -errno. The first message, of
 * OPENHELPER_HELLO bytes, comes when the helper runs, with its /proc/PID/stat if that can be
 * opened.
 */
int openhelpers_start(struct openhelpers *h, unsigned int i);
void openhelpers_kill(struct openhelpers *h, unsigned int i);

/* Sends an order, a question or an answer, with a descriptor unless that is -1. -errno. */
int openhelper_send(int socket, const void *data, size_t size, int fd);
/*
 * Receives one of at most `room` bytes. Returns its size, 0 at the end of file, or -errno.
 * *fd: the descriptor that came with it, the caller's own, or -1.
 */
ssize_t openhelper_receive(int socket, void *to, size_t room, int *fd);

#endif
