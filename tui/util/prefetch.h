/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UTIL_PREFETCH_H
#define STACKTOP_TUI_UTIL_PREFETCH_H

/*
 * Fetches memory that is going to be used, instead of waiting for it. GCC 12 drops calls of a
 * function that does nothing else; one with an asm in it is called.
 */

static inline void prefetch_read(const void *at)
{
	__builtin_prefetch(at);
	__asm__ volatile("");
}

static inline void prefetch_write(const void *at)
{
	__builtin_prefetch(at, 1);
	__asm__ volatile("");
}

#endif
