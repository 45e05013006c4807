// SPDX-License-Identifier: GPL-2.0-or-later
/* See notices.h. */
#include "bpf/tracker/notices.h"

#include <stdarg.h>
#include <stdio.h>

void notices_tell(const struct notices *n, int level, const char *format, ...)
{
	char text[256];
	va_list args;

	if (!n->say)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	n->say(n->arg, level, text);
}

bool notices_first(struct notices *n, enum notice notice)
{
	const bool first = !(n->told & 1u << notice);

	n->told |= 1u << notice;
	return first;
}

void notices_renew(struct notices *n, enum notice notice)
{
	n->told &= ~(1u << notice);
}
