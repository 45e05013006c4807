// SPDX-License-Identifier: GPL-2.0-or-later
/* See stack_ring.h: a ring that grows. */
#include "tui/collect/stack_ring.h"

#include <stdlib.h>

#define HITS_MIN 256u

struct stack_ring {
	struct stack_hit *ring;
	size_t room; /* a power of two */
	size_t first, count;
};

struct stack_ring *stack_ring_new(void)
{
	return calloc(1, sizeof(struct stack_ring));
}

void stack_ring_free(struct stack_ring *h)
{
	if (h)
		free(h->ring);
	free(h);
}

const struct stack_hit *stack_ring_at(const struct stack_ring *h, size_t i)
{
	return &h->ring[(h->first + i) & (h->room - 1)];
}

static void ring_grow(struct stack_ring *h)
{
	size_t room = h->room ? 2 * h->room : HITS_MIN;
	struct stack_hit *ring = calloc(room, sizeof(*ring));

	if (!ring)
		return;
	for (size_t i = 0; i < h->count; i++)
		ring[i] = *stack_ring_at(h, i);
	free(h->ring);
	h->ring = ring;
	h->room = room;
	h->first = 0;
}

void stack_ring_add(struct stack_ring *h, const struct stack_hit *hit)
{
	if (h->count == h->room && h->room < STACK_RING_MAX)
		ring_grow(h);
	if (!h->room)
		return;
	if (h->count == h->room) {
		h->first = (h->first + 1) & (h->room - 1);
		h->count--;
	}
	h->ring[(h->first + h->count++) & (h->room - 1)] = *hit;
}

void stack_ring_forget(struct stack_ring *h, uint64_t before)
{
	while (h->count && stack_ring_at(h, 0)->time < before) {
		h->first = (h->first + 1) & (h->room - 1);
		h->count--;
	}
}

size_t stack_ring_count(const struct stack_ring *h)
{
	return h->count;
}
