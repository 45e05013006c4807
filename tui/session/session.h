/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SESSION_SESSION_H
#define STACKTOP_TUI_SESSION_SESSION_H

/*
 * The format of session files, shared by writer and reader; docs/SESSION.md describes it. A file is
 * SESSION_MAGIC and then chunks: a header and zstd-compressed records, all little-endian.
 */

#include <stdbool.h>
#include <stdint.h>

#include "tui/profile/profile.h"

#define SESSION_MAGIC	    "stacktop session 1\n" /* includes the format's version */
#define SESSION_MAGIC_SIZE  (sizeof(SESSION_MAGIC) - 1)
#define SESSION_CHUNK_MAGIC 0x6b4b5453u /* "STKk" */
#define SESSION_CHUNK_MAX   (8u << 20)	/* bytes of a chunk, compressed or not */
#define SESSION_CHUNK_SPLIT (1u << 20)	/* beyond it, definitions go to another chunk */

enum session_chunk_type {
	SESSION_START = 1,	 /* host and time of the recording; the first chunk */
	SESSION_DEFINITIONS = 2, /* what later slices refer to */
	SESSION_SLICE = 3,	 /* a slice */
	SESSION_END = 4,	 /* the file is complete */
};

struct session_chunk {
	uint32_t magic;
	uint8_t type;
	uint8_t zero[3];
	uint32_t packed; /* bytes that follow */
	uint32_t size;	 /* bytes after decompression */
	uint64_t time;	 /* of a slice: its end, ns since the start */
	uint32_t unused; /* 0 */
	uint32_t crc;	 /* CRC-32 (RFC 1952) of all before, and of the bytes that follow */
};

_Static_assert(sizeof(struct session_chunk) == 32, "the header has no padding");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "headers are written as they are");

/* Types of definitions; unknown ones are skipped. */
enum session_record {
	SESSION_STRING = 1,
	SESSION_FUNC = 2,
	SESSION_STACK = 3,
	SESSION_STACK_AGAIN = 4, /* more of its inlined calls are known now */
	SESSION_PROC = 5,	 /* new, or changed from the next slice on */
	SESSION_MODULE = 6,	 /* the build-id of its file, or that there are several */
	SESSION_THREAD = 7,	 /* that has, or had, another name than its process */
	SESSION_LINE = 8,	 /* of a function: its hottest line from now on */
	SESSION_INVENTORY = 9,	 /* what is in the shards */
	SESSION_WALK = 10,	 /* a captured walk */
};

#define SESSION_CPU_MAX	  8192u /* the number of a CPU, + 1 */
#define SESSION_USE_WHOLE 1000u /* the time of a CPU, see struct cpu_use */
/* Of all cells of a slice together, so that sums over the slices of a profile fit in 64 bits. */
#define SESSION_WEIGHT_MAX ((uint64_t)1 << 50)

#define SESSION_STACK_KERNEL   1u
#define SESSION_STACK_COMPLETE 2u
#define SESSION_STACK_LOCK     4u /* times enum stack_lock */

#define SESSION_PROC_ATTACHED 1u
#define SESSION_PROC_EXITED   2u
#define SESSION_PROC_KTHREAD  4u
#define SESSION_PROC_MUTE     8u

/* The kinds of functions by their number in the file. */
static const enum func_kind session_kinds[] = {FUNC_USER,   FUNC_KERNEL, FUNC_JIT,    FUNC_END,
					       FUNC_INLINE, FUNC_EVAL,	 FUNC_PYTHON, FUNC_PHP,
					       FUNC_PERL,   FUNC_RUBY,	 FUNC_JS,     FUNC_JAVA,
					       FUNC_WAIT,   FUNC_TIME,	 FUNC_LOCK,   FUNC_WAKER};

#define SESSION_KINDS (sizeof(session_kinds) / sizeof(*session_kinds))

/* The figures of struct profile_health in the order of the file; new ones come last. */
#define SESSION_HEALTH(X)                                                                          \
	X(elapsed)                                                                                 \
	X(taken)                                                                                   \
	X(idle)                                                                                    \
	X(ticks)                                                                                   \
	X(samples)                                                                                 \
	X(user_samples)                                                                            \
	X(kernel_samples)                                                                          \
	X(filtered)                                                                                \
	X(user_walks)                                                                              \
	X(complete_walks)                                                                          \
	X(frames)                                                                                  \
	X(run_ns)                                                                                  \
	X(runs)                                                                                    \
	X(ncpus)                                                                                   \
	X(frequency)                                                                               \
	X(filtering)                                                                               \
	X(nattached)                                                                               \
	X(nprocs)                                                                                  \
	X(shards_used)                                                                             \
	X(shards_created)                                                                          \
	X(shards_max)                                                                              \
	X(words_used)                                                                              \
	X(words_max)                                                                               \
	X(evicted)                                                                                 \
	X(evictions)                                                                               \
	X(counts_used)                                                                             \
	X(counts_max)                                                                              \
	X(drain_ns)                                                                                \
	X(locked)                                                                                  \
	X(self_ns)                                                                                 \
	X(by_cpu)                                                                                  \
	X(outside)                                                                                 \
	X(complete_fp_walks)                                                                       \
	X(counted)                                                                                 \
	X(waits)                                                                                   \
	X(wait_ns)                                                                                 \
	X(wait_walks)                                                                              \
	X(wait_thinned)                                                                            \
	X(wait_untaken)                                                                            \
	X(wait_lost)                                                                               \
	X(wait_missed)

#define SESSION_COUNT(field)  +1
#define SESSION_HEALTH_FIELDS (0 SESSION_HEALTH(SESSION_COUNT))

/*
 * A profile keeps 20 s of slices, however many cells they have, so a slice of so many ns that
 * claims more cells than a machine could make is refused: more than 256 and one per 5 us. Threads
 * that are followed through their waits have about three cells each, however short the slice is:
 * the writer merges them if there are too many.
 */
static inline bool session_may_have(uint64_t ncells, uint64_t elapsed)
{
	return ncells <= 256 + elapsed / 5000;
}

#endif
