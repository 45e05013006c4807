/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See textpool.h. Cleaning never makes a text longer. */
#include "tui/util/textpool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "symbols/base/text.h"

int textpool_add(struct textpool *pool, const char *text, size_t *at)
{
	size_t length = strlen(text) + 1;

	if (GROW_TO(pool->text, pool->size + length, pool->room, SIZE_MAX))
		return -ENOMEM;
	*at = pool->size;
	pool->size += text_clean(pool->text + *at, length, text, length - 1) + 1;
	return 0;
}

void textpool_free(struct textpool *pool)
{
	free(pool->text);
	*pool = (struct textpool){0};
}
