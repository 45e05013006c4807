/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UTIL_IDTABLE_H
#define STACKTOP_TUI_UTIL_IDTABLE_H

/*
 * An open-addressing table from hashes to small ids. The owner has the items in arrays of its own,
 * and compares them. Linear probing; removal shifts back, so there are no tombstones and a table
 * that churns for days stays as fast as a new one.
 */

#include <stddef.h>
#include <stdint.h>

#define IDTABLE_NONE UINT32_MAX

struct idtable_slot {
	uint32_t hash;
	uint32_t id; /* + 1; 0: empty */
};

struct idtable {
	struct idtable_slot *slots;
	uint32_t mask; /* number of slots - 1, when there are any */
	uint32_t used;
};

/* A zeroed struct is an empty table. */
void idtable_free(struct idtable *table);
/* Room for that many ids in all: adding them cannot fail. -ENOMEM: the table is unchanged. */
int idtable_reserve(struct idtable *table, size_t ids);
/* There must be room, and the id must not be in the table. */
void idtable_add(struct idtable *table, uint32_t hash, uint32_t id);
void idtable_remove(struct idtable *table, uint32_t hash, uint32_t id);
/* Empties the table but keeps its memory. */
void idtable_clear(struct idtable *table);

/*
 * The next id with this hash, or IDTABLE_NONE. *at starts at the hash:
 *	for (at = hash; (id = idtable_next(t, hash, &at)) != IDTABLE_NONE;)
 */
static inline uint32_t idtable_next(const struct idtable *table, uint32_t hash, uint32_t *at)
{
	if (!table->slots)
		return IDTABLE_NONE;
	for (;;) {
		const struct idtable_slot *slot = &table->slots[(*at)++ & table->mask];

		if (!slot->id)
			return IDTABLE_NONE;
		if (slot->hash == hash)
			return slot->id - 1;
	}
}

/* A mixer for keys made of words: 64x64 -> 128 bit multiplication, folded. */
static inline uint64_t idtable_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 m =
		(unsigned __int128)(a ^ 0x9e3779b97f4a7c15u) * (b ^ 0xd6e8feb86659fd93u);

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static inline uint32_t idtable_text(const char *text)
{
	uint64_t hash = 0;

	for (; *text; text++)
		hash = idtable_mix(hash, (unsigned char)*text);
	return (uint32_t)hash;
}

#endif
