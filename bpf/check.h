/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_CHECK_H
#define STACKTOP_BPF_CHECK_H

/* What this kernel and this user can do, one by one: `stacktop --check`. */

#include <stdbool.h>
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

/* kernel.perf_event_max_sample_rate (Hz) and kernel.perf_cpu_time_max_percent (0 or 100: no limit),
 * by which the kernel throttles events; false where they cannot be read. */
bool check_rate_limits(long *rate, long *percent);

/* Kernels 5.19 to 6.1.35, 6.2.x and 6.3 before 6.3.10 may hang when a perf event's program reads
 * user memory: a warning to show, or NULL. */
const char *check_hang_warning(void);

/* Whether a kernel is one of those, by its release and version (uname -r and -v). Debian's releases
 * name an ABI ("6.1.0-37-amd64"), so a version with "Debian 6.1.140-1" in it counts instead. False
 * when no version can be read. */
bool check_kernel_hangs(const char *release, const char *version);

#endif
