/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * uthash would add three pointers and a malloc to each key. Profiles look up some ten thousand keys
 * per refresh; slots of eight bytes keep them in the cache.
 */
#include "tui/util/idtable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_MIN 64u
#define SLOTS_MAX (1u << 31)

void idtable_free(struct idtable *table)
{
	free(table->slots);
	memset(table, 0, sizeof(*table));
}

int idtable_reserve(struct idtable *table, size_t ids)
{
	struct idtable old = *table;
	size_t size = SLOTS_MIN;

	if (old.slots && ids * 2 <= (size_t)old.mask + 1)
		return 0;
	if (ids > SLOTS_MAX / 2)
		return -ENOMEM;
	while (size < ids * 2)
		size *= 2;

	table->slots = calloc(size, sizeof(*table->slots));
	if (!table->slots) {
		*table = old;
		return -ENOMEM;
	}
	table->mask = (uint32_t)(size - 1);
	table->used = 0;
	for (size_t i = 0; old.slots && i <= old.mask; i++) {
		if (old.slots[i].id)
			idtable_add(table, old.slots[i].hash, old.slots[i].id - 1);
	}
	free(old.slots);
	return 0;
}

void idtable_add(struct idtable *table, uint32_t hash, uint32_t id)
{
	uint32_t at = hash & table->mask;

	while (table->slots[at].id)
		at = (at + 1) & table->mask;
	table->slots[at] = (struct idtable_slot){hash, id + 1};
	table->used++;
}

void idtable_remove(struct idtable *table, uint32_t hash, uint32_t id)
{
	uint32_t at = hash & table->mask;

	while (table->slots[at].id != id + 1)
		at = (at + 1) & table->mask;
	/* Entries behind move into the hole unless they would be in front of their home slot. */
	for (uint32_t next = (at + 1) & table->mask; table->slots[next].id;
	     next = (next + 1) & table->mask) {
		uint32_t home = table->slots[next].hash & table->mask;

		if (((next - home) & table->mask) < ((next - at) & table->mask))
			continue;
		table->slots[at] = table->slots[next];
		at = next;
	}
	table->slots[at].id = 0;
	table->used--;
}

void idtable_clear(struct idtable *table)
{
	if (table->slots && table->used)
		memset(table->slots, 0, ((size_t)table->mask + 1) * sizeof(*table->slots));
	table->used = 0;
}
