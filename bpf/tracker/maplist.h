/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_BPF_TRACKER_MAPLIST_H
#define STACKTOP_BPF_TRACKER_MAPLIST_H

/*
 * What the walk needs to know of mappings: sorted lists of spans and gaps in the map_lists map.
 * Guarded by the tracker's lock.
 */

#include <stdbool.h>
#include <stdint.h>

#include "bpf/prog/layout.h"

struct file_id;
struct mapping;
struct object;

/* A list in the map; shared by processes that forked from each other. */
struct maplist {
	unsigned int refs;
	uint32_t word; /* in the list allocator's space, MAPLIST_ENTRY_WORDS an entry */
	uint32_t count;
	uint32_t ncode;	  /* of these, the last ones: rows that were made for the process */
	bool cold;	  /* stands for a longer one, see publish.c */
	bool changed;	  /* entries of processes do not refer to it yet */
	uint64_t scanned; /* evict.c: time of the last scan */
	uint64_t sampled; /* time of the last sample that was seen in it; 0: never */
	uint64_t since;	  /* when it was made, or made warm again */
	/* publish.c, within a round over all lists */
	uint64_t round, order;
	const struct process *owner;
};

struct maplists {
	struct shards *shards;
	struct sampler *sampler;
	struct garbage *garbage;
};

struct map_entries {
	struct map_entry *at;
	uint32_t *tags; /* of the entries' mappings, see struct entry_check */
	uint32_t count, room;
	uint32_t ncode; /* as in struct maplist */
};

#define MAPLIST_ENTRY_WORDS (sizeof(struct map_entry) / sizeof(uint32_t))

/* Adds the entries of a mapping. -E2BIG: more than the walk can search; -ENOMEM. */
int map_entries_add(struct map_entries *e, const struct mapping *m);
/*
 * The entries of all mappings of a process, or, of more than the walk can search, of those that
 * matter most: then *left_out is true. Behind them those of its own rows (runcode.h), as far as
 * there is room. -ENOMEM.
 */
int map_entries_of(struct map_entries *e, const struct process *p, bool *left_out);
void map_entries_free(struct map_entries *e);
/*
 * What makes a frame of an address in the mapping, as in struct map_entry. 0: frames stay
 * addresses, because it is no ELF file; it may be code that the process has made, which has names
 * by address.
 */
uint64_t maplist_frame(const struct mapping *m);
/* May it have code that the process has made at run time? */
bool maplist_is_runcode(const struct mapping *m);
/* Copies the entries to the map, unmarked. -ENOSPC. */
int maplist_put(struct maplists *lists, const struct map_entries *e, uint32_t *word);
/* Gives back a reference; NULL is none. */
void maplist_unref(struct maplists *lists, struct maplist *list);
/* vma_file_tag of a file, by its numbers as the mapping has them. */
uint64_t maplist_file_tag(const struct file_id *id);

#endif
