/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_TUI_WARNINGS_H
#define STACKTOP_TESTS_TUI_WARNINGS_H

/* What a reader of a file of the person's complains of, a line each. */

#include <string.h>

static char warnings[4096];
static int nwarnings;

static inline void warnings_begin(void)
{
	warnings[0] = '\0';
	nwarnings = 0;
}

static inline void keep_warning(void *arg, const char *text)
{
	(void)arg;
	nwarnings++;
	strncat(warnings, text, sizeof(warnings) - strlen(warnings) - 2);
	strcat(warnings, "\n");
}

#endif
