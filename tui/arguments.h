/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_ARGUMENTS_H
#define STACKTOP_TUI_ARGUMENTS_H

/*
 * Options from elsewhere than the command line: a file for a program that the system starts, and
 * the environment for one in a container. Both become arguments in front of the typed ones, so
 * that options_parse checks them all, and a typed one counts more than a variable, which counts
 * more than the file. Options that add up (--label) do so across the three.
 *
 * The file has the lines of tui/util/conflines.h, with long options as names: `frequency = 49`. An
 * option without a value is yes, which need not be written, or no. Each stands once, except those
 * that add up. A variable is named as its option, in capitals and with _ for -:
 * STACKTOP_PUSH_EVERY. Those of options that add up have several values, with commas between. An
 * empty variable counts as not set, and one that is named after no option has no effect: Kubernetes
 * makes such.
 *
 * arguments_allowed lists the options that may stand there. Others choose what the program does at
 * all, or belong to a screen or a report.
 */

#include <stdbool.h>
#include <stddef.h>

#define ARGUMENTS_FILE	   "/etc/stacktop/agent.conf"
#define ARGUMENTS_FILE_MAX (64 * 1024)
#define ARGUMENTS_MAX	   1024 /* from file and environment */

struct arguments {
	int argc;
	char **argv; /* ends with NULL, as main's */
	char *file;  /* that was read; NULL: none */
	/* What the struct owns: the arguments from elsewhere, argv[1] to argv[count]. */
	size_t count;
	struct argument *given;
};

/* The long options that file and environment may have; NULL ends the list. */
const char *const *arguments_allowed(void);

/*
 * Puts the arguments of all three places into *out; those of argv are not copied, and *out may be
 * parsed until arguments_free. file: read this one, which has to exist. NULL: the one that --config
 * in argv names, as getopt_long(3) finds it, or with --agent ARGUMENTS_FILE if that exists.
 *
 * File and environment count if file is not NULL, or argv has --agent, --config or --push. They do
 * not with --help and --version. It may be called again, with the same argv, for a file that has
 * changed, but only by the thread that parses options.
 *
 * 0, or -errno with the error in one line, which names the file and what to do; *out is empty then.
 * -EINVAL: what the file or a variable says is wrong.
 */
int arguments_merge(int argc, char **argv, const char *file, struct arguments *out, char *error,
		    size_t size);
/* Also of an empty one. */
void arguments_free(struct arguments *a);
/*
 * Where argv[i] comes from, for messages about its value: "agent.conf:3" or the name of a variable;
 * NULL: the command line. If options_parse has failed, i is optind - 1.
 */
const char *arguments_origin(const struct arguments *a, int i);
/* Says so of the value that options_parse has just refused, on standard error. */
void arguments_blame(const struct arguments *a);

#endif
