// SPDX-License-Identifier: GPL-2.0-or-later
#include "tui/complain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/text.h"

int complain(const char *text)
{
	char clean[1024];

	text_clean(clean, sizeof(clean), text, strlen(text));
	fprintf(stderr, "stacktop: %s\n", clean);
	return EXIT_FAILURE;
}
