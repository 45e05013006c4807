/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_PLACEMENT_H
#define STACKTOP_BPF_TRACKER_PLACEMENT_H

/*
 * Whether a table fits into the shards, and its way into them. The number of free words says
 * little: they are in gaps, and a table needs gaps that its blocks fit in. A block can be cut
 * (unwind/block.h), so a gap is of use except for a remainder that is too small for a piece.
 */

#include <stdbool.h>
#include <stdint.h>

struct object;
struct objects;
struct shards;
struct shards_room;
struct unwind_table;

/* Will placement_add succeed with a table of nwords? */
bool placement_fits(const struct shards_room *room, uint64_t nwords);
/* Would it in empty shards? */
bool placement_fits_empty(const struct shards *shards, uint64_t nwords);
/* Copies all of the table's blocks to the shards, cut to fit the gaps, or none of them. */
int placement_add(struct objects *os, struct object *o, const struct unwind_table *table);

#endif
