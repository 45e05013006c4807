/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_BASE_GROW_H
#define STACKTOP_SYMBOLS_BASE_GROW_H

/* Arrays that get one item after the other, up to a limit that no real file comes near. */

#include <stddef.h>
#include <stdlib.h>

/*
 * Room for one more item of `size` bytes: *room, which counts items, grows when it is used up.
 * NULL: no memory, or more than most; the items are as they were.
 */
static inline void *grow(void *items, size_t count, size_t *room, size_t size, size_t most)
{
	size_t more = *room ? *room * 2 : 64;
	void *grown;

	if (count < *room)
		return items;
	grown = count < most ? reallocarray(items, more, size) : NULL;
	if (grown)
		*room = more;
	return grown;
}

#endif
