// SPDX-License-Identifier: GPL-2.0-or-later
/* See sample_ids.h. */
#include "tui/profile/sample_ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_MIN 256u

void sample_ids_free(struct sample_ids *ids)
{
	free(ids->at);
	idtable_free(&ids->index);
	*ids = (struct sample_ids){0};
}

int sample_ids_reserve(struct sample_ids *ids, uint32_t more)
{
	size_t need = (size_t)ids->live + more, room = ids->room ? ids->room : ROOM_MIN;
	struct sample_key *grown;

	if (need > INT32_MAX || idtable_reserve(&ids->index, need))
		return -ENOMEM;
	/* Ids below count that are not live are free. */
	if (need <= ids->room)
		return 0;
	while (room < need)
		room += room / 2;
	grown = reallocarray(ids->at, room, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	ids->at = grown;
	ids->room = (uint32_t)room;
	return 0;
}

static uint32_t id_hash(uint32_t proc, uint32_t ustack, uint32_t kstack)
{
	return (uint32_t)idtable_mix((uint64_t)ustack << 32 | kstack, proc);
}

uint32_t sample_ids_get(struct sample_ids *ids, uint32_t proc, uint32_t ustack, uint32_t kstack)
{
	uint32_t hash = id_hash(proc, ustack, kstack), id;

	for (uint32_t at = hash; (id = idtable_next(&ids->index, hash, &at)) != IDTABLE_NONE;) {
		struct sample_key *same = &ids->at[id];

		if (same->proc == proc && same->ustack == ustack && same->kstack == kstack) {
			same->refs++;
			return id;
		}
	}
	id = ids->free ? ids->free - 1 : ids->count++;
	if (ids->free)
		ids->free = ids->at[id].proc;
	ids->at[id] =
		(struct sample_key){.proc = proc, .ustack = ustack, .kstack = kstack, .refs = 1};
	ids->live++;
	idtable_add(&ids->index, hash, id);
	return id;
}

void sample_ids_put(struct sample_ids *ids, uint32_t id)
{
	struct sample_key *cell = &ids->at[id];

	if (--cell->refs)
		return;
	idtable_remove(&ids->index, id_hash(cell->proc, cell->ustack, cell->kstack), id);
	cell->proc = ids->free;
	ids->free = id + 1;
	ids->live--;
}
