/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_EVICT_H
#define STACKTOP_BPF_TRACKER_EVICT_H

/*
 * Which tables go when the budget is used up, and which come back. Guarded by the tracker's lock.
 *
 * Tables that no process maps go first. Then, for a table that a sample asked for, the one whose
 * last sample is the longest ago. When all are in use, each stays for a while and then gives way to
 * one that waits: with too small a budget every process gets its turn. A table without a sample so
 * far evicts no table that a process maps, with one exception: where targets are chosen, the table
 * of a target evicts those that no target maps.
 *
 * Tables are evicted only for one that is then certain to fit (placement.h) and is placed at once,
 * so that no eviction is in vain.
 */

#include <stdbool.h>
#include <stdint.h>

#include "unwind/shards.h"

struct object;

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
/* Number of objects that are sampled and have no room. */
unsigned int evict_waiting(const struct evictor *ev);

#endif
