/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UTIL_TEXTPOOL_H
#define STACKTOP_TUI_UTIL_TEXTPOOL_H

/* Many short texts in one block of memory, identified by where they begin. */

#include <stddef.h>

struct textpool { /* zeroed: empty */
	char *text;
	size_t size, room;
};

/* Adds a clean copy (text_clean), terminated by NUL. -ENOMEM: the pool is unchanged. */
int textpool_add(struct textpool *pool, const char *text, size_t *at);
void textpool_free(struct textpool *pool);

#endif
