/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UTIL_TEXTPOOL_H
#define STACKTOP_TUI_UTIL_TEXTPOOL_H

/* Many short texts in one block of memory, identified by where they begin. */

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "symbols/base/text.h"

struct textpool { /* zeroed: empty */
	char *text;
	size_t size, room;
};

/*
 * Adds a clean copy (text_clean), terminated by NUL, which is never longer. -ENOMEM: the pool is
 * unchanged.
 */
static inline int textpool_add(struct textpool *pool, const char *text, size_t *at)
{
	size_t length = strlen(text) + 1;

	if (GROW_TO(pool->text, pool->size + length, pool->room, SIZE_MAX))
		return -ENOMEM;
	*at = pool->size;
	pool->size += text_clean(pool->text + *at, length, text, length - 1) + 1;
	return 0;
}

static inline void textpool_free(struct textpool *pool)
{
	free(pool->text);
	*pool = (struct textpool){0};
}

#endif
