/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_INVENTORY_H
#define STACKTOP_BPF_TRACKER_INVENTORY_H

/*
 * A snapshot of the tables in the shards and of those that should be there but are not. It is plain
 * data that never changes once made: readers need a reference, but no lock.
 */

#include <stdbool.h>
#include <stdint.h>

#include "symbols/elf/elffile.h"
#include "unwind/row.h" /* the word space: SHARD_WORDS, SHARD_SHIFT */

struct tracker;

/* Limits of an inventory; objects and blocks beyond them are counted in left_out. */
#define INVENTORY_OBJECTS_MAX 65536u
#define INVENTORY_BLOCKS_MAX  262144u

struct inventory_shard {
	bool created;
	uint32_t generation; /* how often it was created */
	uint32_t words;	     /* of tables, without garbage */
	uint32_t objects;    /* with words here */
	uint32_t largest;    /* gap between blocks, or behind the last, in words */
	uint64_t since;	     /* when it was created, CLOCK_MONOTONIC ns; 0: it is not */
	uint64_t evictions;  /* of tables with words here, since the start */
};

enum inventory_state {
	INVENTORY_READY,   /* the table is in the shards */
	INVENTORY_QUEUED,  /* is about to be built */
	INVENTORY_EVICTED, /* comes back when it is sampled */
	INVENTORY_FAILED,  /* unreadable, or larger than the budget */
	INVENTORY_REFUSED, /* more CFI than any real file has, or too much for its size */
};

struct inventory_object {
	uint64_t id;
	char name[64]; /* base name, raw */
	enum inventory_state state;
	bool pinned;
	uint64_t words;	    /* in all shards */
	uint64_t cfi_bytes; /* of which the table was made; 0: not built yet */
	uint32_t rows;
	uint32_t derived;   /* rows that no CFI but the machine code has given */
	uint32_t processes; /* that map it, live ones */
	uint64_t sampled;   /* time of the last sample that was seen in it; 0: never */
	uint64_t missed;    /* seconds in which it was sampled without a table */
	uint8_t build_id[BUILD_ID_MAX];
	uint8_t build_id_size; /* bytes; 0: it has none */
};

struct inventory_block {
	uint32_t word; /* in the word space */
	uint32_t words;
	uint32_t object; /* index */
};

struct inventory {
	unsigned int refs;
	uint64_t time;	   /* CLOCK_MONOTONIC ns */
	uint64_t left_out; /* objects and blocks beyond the limits */
	unsigned int nshards;
	uint32_t nobjects, nblocks;
	struct inventory_shard *shards; /* all that the budget allows */
	struct inventory_object *objects;
	struct inventory_block *blocks; /* ascending by word */
};

/* All zero, with one reference; NULL: no memory. */
struct inventory *inventory_new(unsigned int nshards, uint32_t nobjects, uint32_t nblocks);
struct inventory *inventory_get(struct inventory *inventory);
void inventory_put(struct inventory *inventory); /* NULL is none */
/* Sorts the blocks and sums them up in the shards. */
void inventory_settle(struct inventory *inventory);

/* A new one, with a reference; -ENOMEM. Any thread, without locks that tracker_say takes. */
int tracker_inventory(struct tracker *t, struct inventory **out);

#endif
