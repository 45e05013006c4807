/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PROFILE_SLICE_ORDER_H
#define STACKTOP_TUI_PROFILE_SLICE_ORDER_H

/*
 * The order of cells in a slice: by process, then by thread. Samples arrive in the order of a hash
 * table, which differs each second, but queries ask for the same process or thread in each slice.
 * Processes are sorted by PID and image, not by id, and the cells of a thread keep their order:
 * exports use this order, and a recording, which has other ids, must give the same.
 */
#include <stddef.h>
#include <sys/types.h>

#include "tui/profile/profile.h"

/* Copies n cells to `to`, which has room for them, in order and without those of count 0. The lock
 * is held. Returns how many, or -ENOMEM. */
ssize_t cells_in_order(const struct profile *p, const struct profile_cell *cells, size_t n,
		       struct profile_cell *to);

/* True if cells of process `one` come before those of `other`. */
bool cells_before(const struct profile *p, uint32_t one, uint32_t other);

struct cells_range {
	size_t from, to; /* without `to` */
};

/* Where the cells of a process, or of one of its threads (tid 0: all), are among n sorted cells. */
struct cells_range cells_of(const struct profile *p, const struct profile_cell *cells, size_t n,
			    uint32_t proc, uint32_t tid);

#endif
