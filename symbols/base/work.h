/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_BASE_WORK_H
#define STACKTOP_SYMBOLS_BASE_WORK_H

/*
 * Counts the work done for a file, instead of timing it. A unit is a record, an instruction of a
 * CFI program, a row, a symbol, or 64 bytes that were read. A loop over a foreign file counts here,
 * so that its cost is bounded by the size of the file, and so that a thread can be cancelled. One
 * thread counts; any may set *cancel.
 */

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct work {
	uint64_t done;
	uint64_t limit;		   /* of done; 0: none */
	const atomic_bool *cancel; /* NULL: it cannot be cancelled */
};

/* Counts. 0; -ECANCELED; -E2BIG: over the limit. With NULL nothing is counted. */
static inline int work_add(struct work *work, uint64_t units)
{
	if (!work)
		return 0;
	work->done += units;
	if (work->cancel && atomic_load_explicit(work->cancel, memory_order_relaxed))
		return -ECANCELED;
	return work->limit && work->done > work->limit ? -E2BIG : 0;
}

/* Allows so many more units from now on; 0: any number. */
static inline void work_allow(struct work *work, uint64_t units)
{
	work->limit = units ? work->done + units : 0;
}

/* True for errors that end the reading of a file, not just of a record in it. */
static inline bool work_is_over(int err)
{
	return err == -ECANCELED || err == -E2BIG;
}

#endif
