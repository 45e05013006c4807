/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_AGENT_RUN_H
#define STACKTOP_TUI_AGENT_RUN_H

/*
 * A run that only sends profiles, for months: --agent. It tells a service manager how it is, serves
 * its own metrics, and reads its configuration again on SIGHUP.
 */

struct arguments;
struct options;
struct profile;
struct push;
struct source;

/* The command line, for SIGHUP. */
struct agent_command {
	int argc;
	char **argv;
};

/* Until a signal ends it. Takes the push, and ends it. Returns the exit status. */
int agent_run(struct profile *profile, struct source *source, struct push *push,
	      const struct options *options, const struct agent_command *command, int signals);

#endif
