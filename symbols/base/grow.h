/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_BASE_GROW_H
#define STACKTOP_SYMBOLS_BASE_GROW_H

/* Arrays that grow by doubling, up to a limit that no real file comes near. */

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/*
 * Room for `need` items of `size` bytes: *room, which counts items, grows where it is less. NULL:
 * no memory, or more than `most`; the items and *room are as they were.
 */
static inline void *grow_to(void *items, size_t need, size_t *room, size_t size, size_t most)
{
	size_t more = *room ? *room : 8;
	void *grown;

	if (need <= *room && items)
		return items;
	if (most > PTRDIFF_MAX / size)
		most = PTRDIFF_MAX / size; /* no object is larger */
	while (more < need && more <= most / 2)
		more *= 2;
	if (more < need)
		more = most;
	grown = need <= most ? reallocarray(items, more, size) : NULL;
	if (grown)
		*room = more;
	return grown;
}

/* The same for one item more than count. */
static inline void *grow(void *items, size_t count, size_t *room, size_t size, size_t most)
{
	return grow_to(items, count + 1, room, size, most);
}

/* As grow_to, for an array and a room that are variables of any item and unsigned type. -ENOMEM. */
#define GROW_TO(array, need, room, most)                                                           \
	({                                                                                         \
		size_t room_ = (room);                                                             \
		void *grown_ = grow_to((array), (need), &room_, sizeof(*(array)), (most));         \
                                                                                                   \
		if (grown_) {                                                                      \
			(array) = grown_;                                                          \
			(room) = (__typeof__(room))room_;                                          \
		}                                                                                  \
		grown_ ? 0 : -ENOMEM;                                                              \
	})
#define GROW(array, count, room, most) GROW_TO(array, (size_t)(count) + 1, room, most)

#endif
