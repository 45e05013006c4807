/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interning, reference counts and recycling of functions, stacks and processes, so that one file
 * ensures that references go back to zero.
 */
#include "tui/profile/profile_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void pool_init(struct pool *pool, size_t size)
{
	*pool = (struct pool){.size = size, .free = IDTABLE_NONE, .idle = IDTABLE_NONE};
}

struct pool_entry *pool_entry(const struct pool *pool, uint32_t id)
{
	return (struct pool_entry *)((char *)pool->entries + id * pool->size);
}

bool pool_has(const struct pool *pool, uint32_t id)
{
	return id < pool->count && pool_entry(pool, id)->live;
}

int pool_reserve(struct pool *pool)
{
	uint32_t room = pool->room ? pool->room * 2 : 64;
	void *grown;

	if (idtable_reserve(&pool->index, (size_t)pool->live + 1))
		return -ENOMEM;
	if (pool->free != IDTABLE_NONE || pool->count < pool->room)
		return 0;
	if (room > INT32_MAX)
		return -ENOMEM;
	grown = reallocarray(pool->entries, room, pool->size);
	if (!grown)
		return -ENOMEM;
	pool->entries = grown;
	pool->room = room;
	return 0;
}

static void pool_idle(struct pool *pool, uint32_t id)
{
	struct pool_entry *entry = pool_entry(pool, id);

	if (entry->idle)
		return;
	entry->idle = true;
	entry->next = pool->idle;
	pool->idle = id;
}

uint32_t pool_take(struct pool *pool, uint32_t hash)
{
	uint32_t id = pool->free;

	if (id != IDTABLE_NONE)
		pool->free = pool_entry(pool, id)->next;
	else
		id = pool->count++;
	memset(pool_entry(pool, id), 0, pool->size);
	pool_entry(pool, id)->live = true;
	pool_entry(pool, id)->serial = ++pool->serials;
	pool->live++;
	idtable_add(&pool->index, hash, id);
	pool_idle(pool, id);
	return id;
}

void pool_get(struct pool *pool, uint32_t id)
{
	pool_entry(pool, id)->refs++;
}

void pool_put(struct pool *pool, uint32_t id)
{
	if (!--pool_entry(pool, id)->refs)
		pool_idle(pool, id);
}

void pool_sweep(struct pool *pool, bool (*keep)(const struct pool_entry *entry),
		uint32_t (*drop)(struct pool_entry *entry, void *arg), void *arg)
{
	uint32_t id = pool->idle, next;

	pool->idle = IDTABLE_NONE;
	for (; id != IDTABLE_NONE; id = next) {
		struct pool_entry *entry = pool_entry(pool, id);

		next = entry->next;
		entry->idle = false;
		if (entry->refs || (keep && keep(entry)))
			continue;
		idtable_remove(&pool->index, drop(entry, arg), id);
		entry->live = false;
		entry->next = pool->free;
		pool->free = id;
		pool->live--;
	}
}

void pool_free(struct pool *pool)
{
	idtable_free(&pool->index);
	free(pool->entries);
	pool->entries = NULL;
	pool->count = pool->room = pool->live = 0;
}

#define OVERHEAD 48 /* of an entry: two allocations and its slots in the index */

size_t stack_bytes(const struct stack_entry *entry)
{
	size_t words = entry->stack.nframes * (entry->stack.sites ? 2 : 1);

	return sizeof(*entry) + OVERHEAD + words * sizeof(*entry->stack.frames);
}

size_t func_bytes(const struct func_entry *entry)
{
	return sizeof(*entry) + OVERHEAD + strlen(entry->func.name) + strlen(entry->func.module) +
	       (entry->lines ? sizeof(*entry->lines) : 0);
}
