/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_GARBAGE_H
#define STACKTOP_BPF_TRACKER_GARBAGE_H

/*
 * Blocks of tables and lists that are no longer in use, but that running BPF programs may still
 * read. Guarded by the tracker's lock.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct turnlock;

struct garbage {
	struct sampler *sampler;
	struct shards *tables;
	pthread_cond_t *wake; /* signalled when the first block arrives */
	struct garbage_block {
		struct shards *from;
		uint32_t word;
	} * blocks;
	size_t n, room;
	bool unpublished;  /* published lists may still refer to blocks of tables */
	bool collecting;   /* a thread is in garbage_collect */
	size_t ncollected; /* the first blocks, which garbage_collect is about to free */
};

/* The block is freed once no program can read it. */
void garbage_add(struct garbage *g, struct shards *from, uint32_t word);
/*
 * Waits for the programs and frees all blocks of an allocator (NULL: of both) at once. No list may
 * refer to them.
 */
void garbage_flush(struct garbage *g, const struct shards *from);
/* The same for all blocks, without the lock during the wait; later if lists may refer to them. */
void garbage_collect(struct garbage *g, struct turnlock *lock);

#endif
