/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PROFILE_SOURCENAME_H
#define STACKTOP_TUI_PROFILE_SOURCENAME_H

#include <stddef.h>

struct profile_func;

/* The function's hottest source line as "parse.c:42", "" if it is not known. */
void sourcename(const struct profile_func *func, char *to, size_t size);

#endif
