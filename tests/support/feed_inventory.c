// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/feed_inventory.h"

#include <stdio.h>
#include <string.h>

#include "bpf/tracker/inventory.h"

struct feed_object {
	const char *name;
	enum inventory_state state;
	bool pinned;
	uint64_t cfi_bytes;
	uint32_t rows, processes, missed;
	uint32_t ago; /* seconds since the last sample */
};

struct inventory *feed_inventory(uint64_t now)
{
	static const struct feed_object objects[FEED_OBJECTS] = {
		{"nginx", INVENTORY_READY, false, 1095733, 189921, 24, 0, 0},
		{"libc.so.6", INVENTORY_READY, true, 182364, 28272, 62, 2, 1},
		{"postgres", INVENTORY_READY, false, 604576, 98337, 12, 0, 12},
		{"libcrypto.so.3", INVENTORY_READY, false, 635577, 101828, 3, 0, 240},
		{"libssl.so.3", INVENTORY_READY, false, 194626, 29412, 24, 0, 3},
		{"node", INVENTORY_READY, false, 8388608, 1700000, 1, 0, 0},
		{"chrome", INVENTORY_READY, false, 4194304, 900000, 9, 0, 7200},
		{"libjemalloc.so.2", INVENTORY_EVICTED, false, 90000, 17000, 3, 1234, 0},
		{"huge", INVENTORY_FAILED, false, 90000000, 17000000, 1, 60, 5},
	};
	static const struct inventory_block blocks[] = {
		{0, SHARD_WORDS - 266, FEED_NODE},
		{SHARD_WORDS, 700000, FEED_NODE},
		{SHARD_WORDS + 700000, 348000, FEED_CHROME},
		{2 * SHARD_WORDS, 230105, FEED_NGINX},
		{2 * SHARD_WORDS + 230105, 33731, FEED_LIBC},
		{2 * SHARD_WORDS + 263836, 137542, FEED_POSTGRES},
		{2 * SHARD_WORDS + 401378, 139828, FEED_CRYPTO},
		{2 * SHARD_WORDS + 568701, 39412, FEED_SSL}, /* behind a hole */
		{3 * SHARD_WORDS + 4, 187896, FEED_CHROME},
	};
	struct inventory *inv = inventory_new(8, FEED_OBJECTS, sizeof(blocks) / sizeof(blocks[0]));

	if (!inv)
		return NULL;
	inv->time = now;
	memcpy(inv->blocks, blocks, sizeof(blocks));
	for (unsigned int i = 0; i < FEED_OBJECTS; i++) {
		const struct feed_object *from = &objects[i];
		struct inventory_object *to = &inv->objects[i];

		to->id = 100 + i;
		snprintf(to->name, sizeof(to->name), "%s", from->name);
		to->state = from->state;
		to->pinned = from->pinned;
		to->cfi_bytes = from->cfi_bytes;
		to->rows = from->rows;
		to->processes = from->processes;
		to->missed = from->missed;
		to->sampled = now - from->ago * MACHINE_SECOND;
		to->build_id_size = 20;
		memset(to->build_id, 0x9f - (int)i * 16, to->build_id_size);
	}
	inv->objects[FEED_CRYPTO].derived = 1527;
	for (size_t i = 0; i < inv->nblocks; i++)
		inv->objects[inv->blocks[i].object].words += inv->blocks[i].words;
	for (unsigned int i = 0; i < 4; i++)
		inv->shards[i] = (struct inventory_shard){
			.created = true,
			.generation = 12 + i / 2,
			.since = now - (i < 2 ? 10900 : 2460 - i * 100) * MACHINE_SECOND,
			.evictions = i == 2 ? 7 : 0,
		};
	inventory_settle(inv);
	return inv;
}
