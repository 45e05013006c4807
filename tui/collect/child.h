/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_COLLECT_CHILD_H
#define STACKTOP_TUI_COLLECT_CHILD_H

/*
 * The COMMAND of `stacktop -- COMMAND`: a child that waits until it is tracked and sampled, and the
 * tables of its files are there, so that not even its first instruction is missed.
 */

#include <sys/types.h>

struct child;

enum child_streams {
	CHILD_PLAIN, /* as they are */
	CHILD_ASIDE, /* standard output goes to standard error, apart from the report */
	/* The same, and it reads from /dev/null: standard input has commands. */
	CHILD_APART,
	/* Its terminal belongs to the screen: /dev/null takes the terminal's place. */
	CHILD_QUIET,
};

/*
 * Forks the child; call it before there are threads and before signals are blocked. argv must stay
 * valid. 0 or -errno.
 */
int child_new(char **argv, enum child_streams streams, struct child **out);
/* Sends SIGTERM to a child that has not ended; one that was never released just ends. */
void child_free(struct child *c);

pid_t child_pid(const struct child *c);
/* Waits until it has mapped what it will execute (tui/collect/foresee.h), a second at most. */
void child_wait(struct child *c);
/* Releases the child and waits for its execvp: 0, or the -errno of that. */
int child_go(struct child *c);
/* errno of its execvp; 0: not tried yet, or successful. */
int child_error(const struct child *c);
/* Readable once it has ended. */
int child_fd(const struct child *c);
/* Forwards a signal, if it runs. */
void child_signal(const struct child *c, int signal);
/* Its exit status, 128 and the number of the signal that ended it, or -1: it has not ended. */
int child_status(struct child *c);

#endif
