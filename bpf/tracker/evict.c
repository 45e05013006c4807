// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which tables go when the budget is used up, and which come back.
 *
 * Tables that no process maps go first. Then, for a table that a sample asked for, the one whose
 * last sample is the longest ago. When all are in use, each stays for a while and then gives way to
 * one that waits: with too small a budget every process gets its turn. A table without a sample
 * so far evicts none that a process maps, unless a chosen process maps it and none maps the other:
 * where some processes are chosen, the tables of the rest are only kept for later.
 */
#include <errno.h>
#include <stdlib.h>

#include "bpf/sampler/sampler.h"
#include "bpf/tracker/tracker_priv.h"

#define RETRY_NS (2ull * 1000000000)	  /* building a table for nothing costs, too */
#define MISS_NS	 (1000000000ull * 9 / 10) /* looks are a second apart, or less under pressure */
#define WAIT_NS	 (20ull * 1000000000)	  /* who waits for longer is not overtaken any more */
#define BACK_MAX 256u			  /* objects that come back at a time */

/* --- what is chosen ------------------------------------------------------------------------- */

/* Notes which objects the chosen processes map, where some are chosen. */
static void mark_chosen(struct tracker *t)
{
	struct process *p, *next;

	if (!t->filtering)
		return;
	t->chosen_round++;
	HASH_ITER(hh, t->processes, p, next)
		for (size_t i = 0; p->target && i < p->nmappings; i++)
			if (p->mappings[i].object)
				p->mappings[i].object->chosen = t->chosen_round;
}

bool evict_is_chosen(const struct tracker *t, const struct object *o)
{
	return !t->filtering || o->chosen == t->chosen_round;
}

/* --- what is sampled ------------------------------------------------------------------------ */

static struct object *object_at(const struct process *p, uint64_t addr)
{
	size_t low = 0, high = p->nmappings, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (p->mappings[middle].end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < p->nmappings && p->mappings[low].start <= addr ? p->mappings[low].object
								    : NULL;
}

static void scan_list(struct tracker *t, struct process *p, uint64_t now)
{
	uint32_t first = p->list->word / (sizeof(struct map_entry) / sizeof(uint32_t)), i;
	const struct map_entry *entries = sampler_map_entries(t->sampler) + first;
	uint8_t *touched = sampler_touched(t->sampler) + first;
	struct object *o;

	for (i = 0; i < p->list->count; i++) {
		if (!touched[i])
			continue;
		touched[i] = 0;
		p->list->sampled = now;
		o = object_at(p, entries[i].start);
		if (!o)
			continue;
		if (o->state != OBJECT_READY && o->missed_at + MISS_NS <= now) {
			o->missed++;
			o->missed_at = now;
		}
		o->sampled = now;
	}
}

static int by_wait(const void *x, const void *y)
{
	const struct object *const *a = x, *const *b = y;

	return ((*a)->waits > (*b)->waits) - ((*a)->waits < (*b)->waits);
}

static void take(struct shards_room *room, uint64_t nwords)
{
	room->words = room->words > nwords ? room->words - nwords : 0;
	room->largest = room->largest > nwords ? room->largest - nwords : 0;
}

/*
 * Queues those that have room now, who waits for the longest first. A large table would wait for
 * ever while small ones come and go, so after a time they wait with it.
 */
static void bring_back(struct tracker *t, uint64_t now)
{
	struct object *list[BACK_MAX], *o, *next;
	struct shards_room room, ever;
	size_t n = 0, i;

	HASH_ITER(hh, t->objects, o, next) {
		if (o->state != OBJECT_EVICTED || o->sampled != now || o->tried + RETRY_NS >= now)
			continue;
		if (rest_is(o))
			rest_want(t, o); /* and comes back when it is sampled again */
		else if (n < BACK_MAX)
			list[n++] = o;
	}
	mark_chosen(t);
	if (!n || room_measure(t, ROOM_SAMPLED, &room) || room_measure(t, ROOM_EVER, &ever))
		return;
	qsort(list, n, sizeof(struct object *), by_wait);
	for (i = 0; i < n; i++) {
		if (room_fits(&room, list[i]->need)) {
			take(&room, list[i]->need);
			object_rebuild(t, list[i]);
		} else if (list[i]->waits + WAIT_NS < now && room_fits(&ever, list[i]->need)) {
			break;
		}
	}
}

void evict_scan(struct tracker *t, uint64_t now)
{
	struct process *p, *next;

	t->scanned = now;
	HASH_ITER(hh, t->processes, p, next) {
		/* Processes that forked from each other have one list, and the same objects in it.
		 */
		if (!p->list || p->list->scanned == now)
			continue;
		p->list->scanned = now;
		scan_list(t, p, now);
	}
	publish_scan_files(t, now);
	publish_scan(t, now);
	if (t->nevicted)
		bring_back(t, now);
}

unsigned int evict_waiting(const struct tracker *t)
{
	const uint64_t now = tracker_now();
	const struct object *o, *next;
	unsigned int n = 0;

	if (!t->nevicted)
		return 0;
	HASH_ITER(hh, t->objects, o, next)
		n += o->state == OBJECT_EVICTED && o->sampled + IDLE_NS >= now;
	return n;
}

/* --- making room ---------------------------------------------------------------------------- */

static bool may_go(const struct tracker *t, const struct object *o)
{
	return o != t->vdso && o->refs && o->nspans && !o->in_queue && !o->pinned;
}

/* An order of preference, and 0 for what stays. */
static unsigned int readiness(const struct tracker *t, const struct object *o, enum room_when when,
			      uint64_t now)
{
	if (!may_go(t, o))
		return 0;
	if (!evict_is_chosen(t, o))
		return 3;
	if (when == ROOM_CHOSEN)
		return 0;
	if (o->sampled + IDLE_NS < now)
		return 2;
	return o->placed + STAY_NS < now ? 1 : 0;
}

bool evict_may(const struct tracker *t, const struct object *o, enum room_when when, uint64_t now)
{
	return readiness(t, o, when, now);
}

static struct object *coldest(struct tracker *t, enum room_when when, uint64_t now)
{
	struct object *o, *next, *best = NULL;
	unsigned int ready, best_ready = 0;

	HASH_ITER(hh, t->objects, o, next) {
		ready = readiness(t, o, when, now);
		if (ready > best_ready ||
		    (best && ready == best_ready &&
		     (ready >= 2 ? o->sampled < best->sampled : o->placed < best->placed))) {
			best = o;
			best_ready = ready;
		}
	}
	return best;
}

/* A table may have many blocks in a shard. */
static void count_eviction(struct tracker *t, const struct object *o)
{
	bool seen[SHARDS_MAX] = {false};
	uint32_t i, shard;

	t->evictions++;
	for (i = 0; i < o->nspans; i++) {
		shard = o->spans[i].word >> SHARD_SHIFT;
		t->shard_evictions[shard] += !seen[shard];
		seen[shard] = true;
	}
}

static void evict(struct tracker *t, struct object *o)
{
	count_eviction(t, o);
	object_drop_spans(t, o);
	object_set_state(t, o, OBJECT_EVICTED);
	process_touch(t, o);
}

/* The coldest go until so many words are gained; false: none may. */
static bool evict_some(struct tracker *t, enum room_when when, uint64_t nwords)
{
	const uint64_t now = tracker_now();
	uint64_t gained = 0;
	struct object *o;

	while (gained < nwords && (o = coldest(t, when, now))) {
		gained += o->nwords;
		evict(t, o);
	}
	/* No list may lead to what the flush that follows gives away. */
	if (gained)
		process_publish(t);
	return gained != 0;
}

/* What may go for the object's table. */
static enum room_when going_for(struct tracker *t, const struct object *o)
{
	mark_chosen(t);
	if (o->sampled)
		return ROOM_SAMPLED;
	return t->filtering && evict_is_chosen(t, o) ? ROOM_CHOSEN : ROOM_UNUSED;
}

int evict_for(struct tracker *t, const struct object *for_whom, uint64_t nwords)
{
	struct shards_room room, later;
	enum room_when when;
	int err;

	if (!room_fits_empty(t, nwords))
		return -EFBIG;
	room_measure(t, ROOM_NOW, &room);
	if (room_fits(&room, nwords))
		return 0;
	if (t->nevicted && for_whom->sampled)
		evict_scan(t, tracker_now());
	when = going_for(t, for_whom);
	err = room_measure(t, when, &later);
	if (err)
		return err;
	if (!room_fits(&later, nwords))
		return -ENOSPC;
	for (;;) {
		if (t->unpublished)
			process_publish(t);
		if (t->ngarbage)
			tracker_flush(t, NULL);
		else if (!object_evict_unused(t) &&
			 (when == ROOM_UNUSED || !evict_some(t, when, nwords - room.words)))
			return -ENOSPC;
		room_measure(t, ROOM_NOW, &room);
		if (room_fits(&room, nwords))
			return 0;
	}
}
