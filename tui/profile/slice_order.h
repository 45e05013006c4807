/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_PROFILE_SLICE_ORDER_H
#define STACKTOP_TUI_PROFILE_SLICE_ORDER_H

/*
 * The cells of a slice, those of a thread side by side, and those of a process. Samples come in the
 * order of a hash table, another one each second, but who goes over slices asks for the same
 * process or thread in each. Processes come by PID and image, not by their ids, threads by their
 * numbers, and the cells of one in the order in which they came: samples are exported in this
 * order, and a recording, which has other ids, is to give the same.
 */
#include <stddef.h>
#include <sys/types.h>

#include "tui/profile/profile.h"

/* Copies n cells to `to`, which has room for them, but for those without samples. Needs
 * profile_lock; the processes are the profile's. Returns how many; < 0: -ENOMEM. */
ssize_t cells_in_order(const struct profile *p, const struct profile_cell *cells, size_t n,
		       struct profile_cell *to);

/* The cells of one process, by its id, stand before those of another. */
bool cells_before(const struct profile *p, uint32_t one, uint32_t other);

struct cells_range {
	size_t from, to; /* the latter is not part of it */
};

/* Where cells of that process, by its id, are among n that are in order, or those of one of its
 * threads; tid 0: of all. */
struct cells_range cells_of(const struct profile *p, const struct profile_cell *cells, size_t n,
			    uint32_t proc, uint32_t tid);

#endif
