/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_COLLECT_CHILD_H
#define STACKTOP_TUI_COLLECT_CHILD_H

/*
 * The COMMAND of `stacktop -- COMMAND`: a child that waits until it is followed and sampled, so
 * that not even its first instruction is missed.
 */

#include <stdbool.h>
#include <sys/types.h>

struct command;

enum command_streams {
	COMMAND_PLAIN, /* as they are */
	COMMAND_ASIDE, /* standard output goes to standard error, apart from the report */
	/* As that, and it reads from /dev/null: the lines of standard input are commands. */
	COMMAND_APART,
	/* Its terminal belongs to the screen: it reads from and writes to /dev/null where it would
	 * use the terminal. */
	COMMAND_QUIET,
};

/*
 * Forks the child; call it before there are threads and before signals are blocked. argv must stay
 * valid. 0 or -errno.
 */
int command_new(char **argv, enum command_streams streams, struct command **out);
/* A child that did not end gets SIGTERM (one that was never let go: it just ends). */
void command_free(struct command *c);

pid_t command_pid(const struct command *c);
/* Lets it go: 0, or the -errno of its execvp. Waits for that. */
int command_go(struct command *c);
/* errno of its execvp; 0: it was not tried, or succeeded. */
int command_error(const struct command *c);
/* Readable when it has ended. */
int command_fd(const struct command *c);
/* Passes a signal on, if it runs. */
void command_signal(const struct command *c, int signal);
/* Its exit status, 128 and the number of the signal that ended it, or -1: it has not ended. */
int command_status(struct command *c);

#endif
