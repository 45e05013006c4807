/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_CELLORDER_H
#define STACKTOP_TUI_CELLORDER_H

/*
 * The order of the cells of a slice. Samples come in that of a hash table, another one each second;
 * in the same order in each slice, what belongs to one cell lies near that of the next, in each
 * pass over slices.
 */
#include <stddef.h>
#include <sys/types.h>

#include "tui/profile.h"

/*
 * Copies n cells to `to`, which has room for them, but for those without samples: by process, user
 * stack, kernel stack, thread and CPU. The ids of processes are below nprocs. Returns how many;
 * < 0: -ENOMEM, nothing was copied.
 */
ssize_t cells_in_order(struct profile_cell *to, const struct profile_cell *cells, size_t n,
		       uint32_t nprocs);

/* The first of n cells in order whose process is not below that one; n: none. */
size_t cells_of_process(const struct profile_cell *cells, size_t n, uint32_t proc);

#endif
