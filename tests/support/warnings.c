// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/warnings.h"

#include <string.h>

char warnings[4096];

int nwarnings;

void warnings_begin(void)
{
	warnings[0] = '\0';
	nwarnings = 0;
}

void keep_warning(void *arg, const char *text)
{
	(void)arg;
	nwarnings++;
	strncat(warnings, text, sizeof(warnings) - strlen(warnings) - 2);
	strcat(warnings, "\n");
}
