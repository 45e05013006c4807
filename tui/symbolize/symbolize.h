/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SYMBOLIZE_SYMBOLIZE_H
#define STACKTOP_TUI_SYMBOLIZE_SYMBOLIZE_H

/* `stacktop --symbolize FILE`: names for the addresses of a file, by the code of the live view. */

#include <stdbool.h>
#include <stdio.h>

struct symbolize_options {
	unsigned int debug_memory; /* MiB of debug information */
	bool debuginfod;	   /* debug files that are not here are fetched, and waited for */
};

/*
 * Reads hexadecimal ELF addresses of the file at `path`, one a line, until the end of `in`. For
 * each, written before more input is waited for: ADDR, tab, function, tab, FILE:LINE; callers that
 * it is inlined into follow on lines that begin with a tab, innermost first. `?` is what is
 * unknown. A line that is no address is answered with three `?`, and with a message to err, which
 * also tells how far the fetching is if it is a terminal.
 *
 * -EINVAL, -ENOTSUP, -ENOMEM or the error of a system call for the file; -EBADMSG when there were
 * lines that are no addresses; what went wrong with `out` is to be asked there.
 */
int symbolize(const char *path, const struct symbolize_options *options, int in, FILE *out,
	      FILE *err);

#endif
