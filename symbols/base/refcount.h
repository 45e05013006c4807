/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_BASE_REFCOUNT_H
#define STACKTOP_SYMBOLS_BASE_REFCOUNT_H

/* The count of references to what several threads read and the last of them frees; 1 at first. */

#include <stdbool.h>

static inline void refcount_get(unsigned int *refs)
{
	__atomic_add_fetch(refs, 1, __ATOMIC_RELAXED);
}

/* True: that was the last one. What the other threads did before is visible then. */
static inline bool refcount_put(unsigned int *refs)
{
	return !__atomic_sub_fetch(refs, 1, __ATOMIC_ACQ_REL);
}

#endif
