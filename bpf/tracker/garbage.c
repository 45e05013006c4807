// SPDX-License-Identifier: GPL-2.0-or-later
/* See garbage.h. */
#include "bpf/tracker/garbage.h"

#include <stdlib.h>
#include <string.h>

#include "bpf/sampler/sampler.h"
#include "bpf/tracker/turnlock.h"
#include "symbols/base/grow.h"
#include "unwind/shards.h"

void garbage_add(struct garbage *g, struct shards *from, uint32_t word)
{
	if (GROW(g->blocks, g->n, g->room, SIZE_MAX)) {
		sampler_wait(g->sampler);
		shards_remove(from, word);
		return;
	}
	g->blocks[g->n++] = (struct garbage_block){from, word};
	g->unpublished |= from == g->tables;
	if (g->n == 1)
		pthread_cond_broadcast(g->wake);
}

void garbage_flush(struct garbage *g, const struct shards *from)
{
	size_t i, kept = 0, collected = 0;

	sampler_wait(g->sampler);
	for (i = 0; i < g->n; i++) {
		if (from && g->blocks[i].from != from) {
			g->blocks[kept++] = g->blocks[i];
			collected += i < g->ncollected;
		} else {
			shards_remove(g->blocks[i].from, g->blocks[i].word);
		}
	}
	g->n = kept;
	g->ncollected = collected;
}

/*
 * The blocks stay in the array during the wait: evict.c counts their room, and garbage_flush may
 * free them sooner.
 */
void garbage_collect(struct garbage *g, struct turnlock *lock)
{
	size_t i;

	if (g->collecting || g->unpublished)
		return;
	g->collecting = true;
	g->ncollected = g->n;
	turnlock_give(lock);
	sampler_wait(g->sampler);
	turnlock_take(lock);
	for (i = 0; i < g->ncollected; i++)
		shards_remove(g->blocks[i].from, g->blocks[i].word);
	g->n -= g->ncollected;
	memmove(g->blocks, g->blocks + g->ncollected, g->n * sizeof(*g->blocks));
	g->ncollected = 0;
	g->collecting = false;
}
