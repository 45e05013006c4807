/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_SYMBOLS_BASE_WORK_H
#define STACKTOP_SYMBOLS_BASE_WORK_H

/*
 * What has been done for a file, counted and not timed: a unit is a record, an instruction of a CFI
 * program, a row, a symbol, or 64 bytes that were read. A loop over a foreign file
 * counts here, so that a file cannot cost more than its size allows, and so that a thread can be
 * told to give up. One thread counts; any may set *cancel.
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

/* Counts. 0; -ECANCELED; -E2BIG: over the limit. NULL counts nothing. */
static inline int work_add(struct work *work, uint64_t units)
{
	if (!work)
		return 0;
	work->done += units;
	if (work->cancel && atomic_load_explicit(work->cancel, memory_order_relaxed))
		return -ECANCELED;
	return work->limit && work->done > work->limit ? -E2BIG : 0;
}

/* As many units more may be done from now on; 0: any number. */
static inline void work_allow(struct work *work, uint64_t units)
{
	work->limit = units ? work->done + units : 0;
}

/* True for what ends the reading of a file, and not just of a record in it. */
static inline bool work_is_over(int err)
{
	return err == -ECANCELED || err == -E2BIG;
}

#endif
