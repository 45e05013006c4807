// SPDX-License-Identifier: GPL-2.0-or-later
/* See sourcename.h. Only the end of a path is shown: its beginning is the build directory. */
#include "tui/profile/sourcename.h"

#include <stdio.h>
#include <string.h>

#include "tui/profile/profile.h"

void sourcename(const struct profile_func *func, char *to, size_t size)
{
	const char *slash = func->file ? strrchr(func->file, '/') : NULL;

	if (size)
		to[0] = '\0';
	if (func->file)
		snprintf(to, size, "%s:%u", slash ? slash + 1 : func->file, func->line);
}
