/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_BASE_HASH_H
#define STACKTOP_SYMBOLS_BASE_HASH_H

/*
 * uthash with the keyed hash of keyhash.h, and without its exit(-1) when memory runs out. An
 * element has a `bool hashed`: set it before HASH_ADD, which clears it if it could not add the
 * element.
 */

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element)                                                               \
	do {                                                                                       \
		(element)->hashed = false;                                                         \
	} while (0)

#include "symbols/base/keyhash.h" /* uthash takes its HASH_FUNCTION */

#include <uthash.h>

#endif
