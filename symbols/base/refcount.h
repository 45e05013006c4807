/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_BASE_REFCOUNT_H
#define STACKTOP_SYMBOLS_BASE_REFCOUNT_H

/*
 * A reference count for data that several threads read; the last of them frees it. It starts at 1.
 */

#include <stdbool.h>

static inline void refcount_get(unsigned int *refs)
{
	__atomic_add_fetch(refs, 1, __ATOMIC_RELAXED);
}

/* True: that was the last reference. The other threads' accesses happened before. */
static inline bool refcount_put(unsigned int *refs)
{
	return !__atomic_sub_fetch(refs, 1, __ATOMIC_ACQ_REL);
}

#endif
