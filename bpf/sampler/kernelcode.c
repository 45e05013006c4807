// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * There are few pieces, and few addresses are among them: the bounds of all exclude most addresses;
 * for the others each piece is compared.
 */
#include "bpf/sampler/kernelcode.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define PIECES_MAX 1024u
#define STILL	   UINT32_MAX

struct kernelcode_piece {
	uint64_t start, end;
	uint32_t from, to; /* generations: from <= g < to */
	char name[KERNELCODE_NAME];
};

struct kernelcode {
	pthread_mutex_t lock;
	uint32_t generation;
	uint64_t low, high; /* bounds of all pieces that ever existed */
	struct kernelcode_piece pieces[PIECES_MAX];
	size_t n;
};

int kernelcode_new(struct kernelcode **out)
{
	struct kernelcode *k = calloc(1, sizeof(*k));

	*out = k;
	if (!k)
		return -ENOMEM;
	k->low = UINT64_MAX;
	pthread_mutex_init(&k->lock, NULL);
	return 0;
}

void kernelcode_free(struct kernelcode *k)
{
	if (!k)
		return;
	pthread_mutex_destroy(&k->lock);
	free(k);
}

static struct kernelcode_piece *add_piece(struct kernelcode *k)
{
	struct kernelcode_piece *oldest = k->pieces;

	if (k->n < PIECES_MAX)
		return &k->pieces[k->n++];
	for (size_t i = 1; i < k->n; i++)
		if (k->pieces[i].to < oldest->to)
			oldest = &k->pieces[i];
	return oldest;
}

static void apply_change(struct kernelcode *k, uint64_t start, uint64_t end, const char *name,
			 bool gone)
{
	struct kernelcode_piece *p = NULL;

	/* The last piece that starts there and still exists. */
	for (size_t i = k->n; i-- > 0 && !p;)
		if (k->pieces[i].start == start && k->pieces[i].to == STILL)
			p = &k->pieces[i];
	/* If the record of its end was lost, the next piece there ends it. */
	if (p)
		p->to = k->generation;
	if (p && gone)
		return;
	p = add_piece(k);
	*p = (struct kernelcode_piece){.start = start,
				       .end = end,
				       .from = gone ? 0 : k->generation,
				       .to = gone ? k->generation : STILL};
	snprintf(p->name, sizeof(p->name), "%s", name);
	if (start < k->low)
		k->low = start;
	if (end > k->high)
		k->high = end;
}

uint32_t kernelcode_note(struct kernelcode *k, uint64_t start, uint64_t length, const char *name,
			 bool gone)
{
	uint32_t generation;

	pthread_mutex_lock(&k->lock);
	k->generation++;
	if (length && length <= UINT64_MAX - start)
		apply_change(k, start, start + length, name, gone);
	generation = k->generation;
	pthread_mutex_unlock(&k->lock);
	return generation;
}

uint32_t kernelcode_generation(struct kernelcode *k)
{
	uint32_t generation;

	pthread_mutex_lock(&k->lock);
	generation = k->generation;
	pthread_mutex_unlock(&k->lock);
	return generation;
}

bool kernelcode_find(struct kernelcode *k, uint32_t generation, uint64_t addr, char *name,
		     size_t size)
{
	const struct kernelcode_piece *found = NULL;

	pthread_mutex_lock(&k->lock);
	for (size_t i = 0; i < k->n && addr >= k->low && addr < k->high && !found; i++) {
		const struct kernelcode_piece *p = &k->pieces[i];

		if (addr >= p->start && addr < p->end && generation >= p->from &&
		    generation < p->to)
			found = p;
	}
	if (found)
		snprintf(name, size, "%s", found->name);
	pthread_mutex_unlock(&k->lock);
	return found != NULL;
}
