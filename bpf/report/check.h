/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_REPORT_CHECK_H
#define STACKTOP_BPF_REPORT_CHECK_H

/* What this kernel and this user can do, one by one: `stacktop --check`. */

#include <stddef.h>
#include <stdio.h>

/* A line per requirement: `ok  NAME  detail`, `no  NAME  what is missing; what to do`, or
 * `--  NAME  detail` for what stacktop can do without. Names have no spaces. Returns 0 when
 * stacktop can run, 1 when not (there is a `no`), -EIO when writing failed. Loads small BPF
 * programs and opens perf events, and leaves none behind. */
int check_print(FILE *to);

/* The first thing that is missing to run at all, with its remedy, in error and -EPERM; 0 when
 * nothing is. Cheap: no program is loaded. */
int check_privileges(char *error, size_t size);

#endif
