// SPDX-License-Identifier: GPL-2.0-or-later
/* See stack_ring.h: a ring that grows. */
#include "tui/collect/stack_ring.h"

#include <stdlib.h>

#define HITS_MIN 256u

struct hits {
	struct hit *ring;
	size_t room; /* a power of two */
	size_t first, count;
};

struct hits *hits_new(void)
{
	return calloc(1, sizeof(struct hits));
}

void hits_free(struct hits *h)
{
	if (h)
		free(h->ring);
	free(h);
}

const struct hit *hits_at(const struct hits *h, size_t i)
{
	return &h->ring[(h->first + i) & (h->room - 1)];
}

static void grow(struct hits *h)
{
	size_t room = h->room ? 2 * h->room : HITS_MIN;
	struct hit *ring = calloc(room, sizeof(*ring));

	if (!ring)
		return;
	for (size_t i = 0; i < h->count; i++)
		ring[i] = *hits_at(h, i);
	free(h->ring);
	h->ring = ring;
	h->room = room;
	h->first = 0;
}

void hits_add(struct hits *h, const struct hit *hit)
{
	if (h->count == h->room && h->room < HITS_MAX)
		grow(h);
	if (!h->room)
		return;
	if (h->count == h->room) {
		h->first = (h->first + 1) & (h->room - 1);
		h->count--;
	}
	h->ring[(h->first + h->count++) & (h->room - 1)] = *hit;
}

void hits_forget(struct hits *h, uint64_t before)
{
	while (h->count && hits_at(h, 0)->time < before) {
		h->first = (h->first + 1) & (h->room - 1);
		h->count--;
	}
}

size_t hits_count(const struct hits *h)
{
	return h->count;
}
