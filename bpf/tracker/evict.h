/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_EVICT_H
#define STACKTOP_BPF_TRACKER_EVICT_H

/*
 * The room for tables in the shards: which go when the budget is used up, and which come back.
 * Guarded by the tracker's lock.
 *
 * Tables that no process maps go first. Then, for a table that a sample asked for, the one whose
 * last sample is the longest ago. When all are in use, each stays for a while and then gives way to
 * one that waits: with too small a budget every process gets its turn. A table without a sample so
 * far evicts no table that a process maps, with one exception: where targets are chosen, the table
 * of a target evicts those that no target maps.
 *
 * Tables are evicted only for one that is then certain to fit and is placed at once, so that no
 * eviction is in vain. The number of free words says little: they are in gaps, and a table needs
 * gaps that its blocks fit in. A block can be cut (unwind/block.h), so a gap is of use except for a
 * remainder that is too small for a piece.
 */

#include <stdbool.h>
#include <stdint.h>

#include "unwind/shards.h"

struct object;
struct objects;
struct unwind_table;

#define EVICT_IDLE_NS (2ull * 1000000000) /* a table without a sample for so long may go */

enum evict_extent {
	EVICT_NONE,
	EVICT_UNUSED,	   /* tables that no process maps */
	EVICT_NOT_TARGETS, /* also those that no target mapped at the last evict_for */
	EVICT_FOR_SAMPLED, /* EVICT_UNUSED, and what gives way to a table that was sampled */
	EVICT_NOT_PINNED,  /* all that are not pinned */
};

struct evictor {
	uint64_t evictions; /* of tables in use, since the start */
	uint64_t shard_evictions[SHARDS_MAX];
	uint64_t scanned;      /* time of the last evict_scan */
	uint64_t chosen_round; /* see object.chosen */

	struct sampler *sampler;
	struct shards *shards;
	struct garbage *garbage;
	struct objects *objects;
	struct proctable *procs;
	struct publisher *publisher;
	struct idlefiles *idlefiles;
	const struct targets *targets;
};

/* Reads the marks of the walks, and queues evicted objects that were sampled. */
void evict_scan(struct evictor *ev, uint64_t now);
/* Did a target map the object at the last evict_for, or is every process a target? */
bool evict_is_of_target(const struct evictor *ev, const struct object *o);
/* The room for tables after an eviction of that extent. -ENOMEM: *out is none. */
int evict_measure(const struct evictor *ev, enum evict_extent extent, struct shards_room *out);
/*
 * Makes room for the object's table of nwords. -EFBIG: larger than the budget; -ENOSPC: not now,
 * and no table has gone that could stay.
 */
int evict_for(struct evictor *ev, const struct object *o, uint64_t nwords);
/* Will placement_add succeed with a table of nwords? */
bool placement_fits(const struct shards_room *room, uint64_t nwords);
/* Would it in empty shards? */
bool placement_fits_empty(const struct shards *shards, uint64_t nwords);
/* Copies all of the table's blocks to the shards, cut to fit the gaps, or none of them. */
int placement_add(struct objects *os, struct object *o, const struct unwind_table *table);
/* Number of objects that are sampled and have no room. */
unsigned int evict_waiting(const struct evictor *ev);

#endif
