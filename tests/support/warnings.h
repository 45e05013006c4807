/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_SUPPORT_WARNINGS_H
#define STACKTOP_TESTS_SUPPORT_WARNINGS_H

/* What a reader of a file of the person's complains of, a line each. */

extern char warnings[4096];
extern int nwarnings;

void warnings_begin(void);

void keep_warning(void *arg, const char *text);

#endif
