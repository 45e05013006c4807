/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_COLLECT_CHILD_H
#define STACKTOP_TUI_COLLECT_CHILD_H

/*
 * The COMMAND of `stacktop -- COMMAND`: a child that waits until it is followed and sampled, so
 * that not even its first instruction is missed.
 */

#include <stdbool.h>
#include <sys/types.h>

struct child;

enum child_streams {
	CHILD_PLAIN, /* as they are */
	CHILD_ASIDE, /* standard output goes to standard error, apart from the report */
	/* As that, and it reads from /dev/null: the lines of standard input are commands. */
	CHILD_APART,
	/* Its terminal belongs to the screen: it reads from and writes to /dev/null where it would
	 * use the terminal. */
	CHILD_QUIET,
};

/*
 * Forks the child; call it before there are threads and before signals are blocked. argv must stay
 * valid. 0 or -errno.
 */
int child_new(char **argv, enum child_streams streams, struct child **out);
/* A child that did not end gets SIGTERM (one that was never let go: it just ends). */
void child_free(struct child *c);

pid_t child_pid(const struct child *c);
/* Lets it go: 0, or the -errno of its execvp. Waits for that. */
int child_go(struct child *c);
/* errno of its execvp; 0: it was not tried, or succeeded. */
int child_error(const struct child *c);
/* Readable when it has ended. */
int child_fd(const struct child *c);
/* Passes a signal on, if it runs. */
void child_signal(const struct child *c, int signal);
/* Its exit status, 128 and the number of the signal that ended it, or -1: it has not ended. */
int child_status(struct child *c);

#endif
