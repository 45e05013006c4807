/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_CHECK_H
#define STACKTOP_BPF_CHECK_H

/* What this kernel and this user can do, one by one: `stacktop --check`. */

#include <stddef.h>
#include <stdio.h>

/* A line per requirement: `ok  NAME  detail` or `no  NAME  what is missing; what to do`. Returns
 * 0 when stacktop can run, 1 when not, -EIO when writing failed. */
int check_print(FILE *to);

/* The first thing that is missing to run at all, with its remedy, in error; 0 when nothing is.
 * Cheap: no program is loaded. */
int check_privileges(char *error, size_t size);

/* Kernels 5.19 to 6.1.35, 6.2.x and 6.3 before 6.3.10 may hang when a perf event's program reads
 * user memory: a warning to show, or NULL. */
const char *check_hang_warning(void);

#endif
