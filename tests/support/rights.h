/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_RIGHTS_H
#define STACKTOP_TESTS_SUPPORT_RIGHTS_H

#include <stdbool.h>

bool may_sample(void);

/* Ends a test as skipped, and says what it lacks. */
void skip_since(const char *why);

/* Ends a test as skipped for the right that it lacks, which tests/run.py counts. */
void skip_without(const char *right);

/* The same, unless the rights are there. They are tried, as a filter of system calls denies what a
 * capability allows. To be called before the test has something to free. */
void need_sampling(void);   /* CAP_BPF, CAP_PERFMON */
void need_sys_admin(void);  /* for mounts and namespaces */
void need_sys_nice(void);   /* for real-time schedulers */
void need_sys_ptrace(void); /* for processes of other users */
void need_syslog(void);	    /* for addresses of the kernel */

#endif
