/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_RUNTIME_THREADBLOCK_H
#define STACKTOP_SYMBOLS_RUNTIME_THREADBLOCK_H

/*
 * What a C library keeps of a thread of this machine, where pthread_self() leads to. It begins with
 * its own address in the x86-64 ABI for TLS, and in musl on all processors. Elsewhere glibc has the
 * number of the thread behind 24 pointers and a list (nptl/descr.h).
 */

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#define THREADBLOCK_TID 0 /* not needed */
#else
#define THREADBLOCK_TID 208
#endif
#define THREADBLOCK_TID_MAX (1u << 22)

/* first and tid: the words at `at` and at + THREADBLOCK_TID. */
static inline bool threadblock_is_sound(uint64_t at, uint64_t first, uint64_t tid)
{
	return first == at || (THREADBLOCK_TID && (uint32_t)tid - 1 < THREADBLOCK_TID_MAX);
}

#endif
