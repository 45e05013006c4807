/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SYMBOLIZE_SYMBOLIZE_H
#define STACKTOP_TUI_SYMBOLIZE_SYMBOLIZE_H

/* `stacktop --symbolize FILE`: names for the addresses of a file, by the code of the live view. */

#include <stdbool.h>
#include <stdio.h>

struct symbolize_options {
	unsigned int debug_memory; /* MiB of debug information */
	bool debuginfod;	   /* fetch missing debug files, and wait for them */
};

/*
 * Reads hexadecimal ELF addresses of the file at `path`, one a line, until the end of `in`. For
 * each one it writes, before it waits for more input: ADDR, tab, function, tab, FILE:LINE. Callers
 * that it is inlined into follow on lines that begin with a tab, innermost first. `?` stands for
 * unknown. A line that is not an address is answered with three `?`, and with a message to err,
 * which also shows the progress of fetching if it is a terminal.
 *
 * -EINVAL, -ENOTSUP, -ENOMEM or the error of a system call for the file; -EBADMSG: there were lines
 * that are not addresses. Errors of `out` are for the caller to check.
 */
int symbolize(const char *path, const struct symbolize_options *options, int in, FILE *out,
	      FILE *err);

#endif
