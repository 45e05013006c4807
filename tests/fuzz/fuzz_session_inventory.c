// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz: -max_len=512 */
/*
 * Bytes as a session's record of the tables in the shards.
 * Covers: tui/session/session_states.c
 */
#include "tests/fuzz/fuzz.h"

#include "bpf/tracker/inventory.h"
#include "tui/util/bytes.h"
#include "tui/session/session_states.h"

static int take_input(const uint8_t *data, size_t size)
{
	uint8_t *copy = fuzz_copy(data, size);
	struct cursor c = {.at = copy, .end = copy + size};
	struct inventory *inv = NULL;
	uint64_t at = 0;
	int err = session_inventory_take(&c, (uint64_t)1 << 62, &inv);

	free(copy);
	require(err ? !inv : inv != NULL);
	for (uint32_t i = 0; inv && i < inv->nblocks; i++) {
		const struct inventory_block *block = &inv->blocks[i];

		require(block->object < inv->nobjects && block->word >= at && block->words);
		require((block->word & SHARD_MASK) + block->words <= SHARD_WORDS);
		at = block->word + block->words;
		require(at <= (uint64_t)inv->nshards << SHARD_SHIFT);
	}
	for (uint32_t i = 0; inv && i < inv->nobjects; i++) {
		const struct inventory_object *o = &inv->objects[i];

		for (const char *name = o->name; *name; name++)
			require((unsigned char)*name >= 0x20 && *name != 0x7f);
		require(o->state <= INVENTORY_REFUSED && o->sampled <= inv->time);
		require(o->build_id_size <= sizeof(o->build_id));
	}
	inventory_put(inv);
	return 0;
}

FUZZ_TARGET(take_input, 1u << 16, 1024)
