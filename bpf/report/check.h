/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_REPORT_CHECK_H
#define STACKTOP_BPF_REPORT_CHECK_H

/* Checks what stacktop needs from the kernel and its user: `stacktop --check`. */

#include <stddef.h>
#include <stdio.h>

/*
 * Prints a line for each requirement: `ok  NAME  detail`, `no  NAME  what is missing; remedy`, or
 * `--  NAME  detail` where stacktop runs without it. Names have no spaces. Returns 0 if stacktop
 * can run, 1 if not (there is a `no`), -EIO if writing failed. Loads small BPF programs and opens
 * perf events, and leaves none behind. Behind them come the runtimes of languages (languages.h).
 */
int check_print(FILE *to);

/*
 * -EPERM: something is missing to run at all; error says what, with a remedy. Cheap: no program is
 * loaded.
 */
int check_privileges(char *error, size_t size);

#endif
