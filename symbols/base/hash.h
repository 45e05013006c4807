/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_BASE_HASH_H
#define STACKTOP_SYMBOLS_BASE_HASH_H

/*
 * uthash with the keyed hash of keyhash.h, and without its exit(-1) when memory runs out: an
 * element has a `bool hashed`, which is set before HASH_ADD and which HASH_ADD clears when it could
 * not add the element.
 */

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element)                                                               \
	do {                                                                                       \
		(element)->hashed = false;                                                         \
	} while (0)

#include "symbols/base/keyhash.h" /* uthash takes its HASH_FUNCTION */

#include <uthash.h>

#endif
