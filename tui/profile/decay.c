/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Weights that decay: the half-life is half a window, so the end of the window weighs a quarter.
 * The sum is computed from the slices by the first query after a commit: keeping it up to date
 * would cost more, even without queries. Weights are 48.16 fixed point. Cells have whole samples:
 * the fraction cut from one is added to the next, else all stacks seen once, of which there are
 * many, would vanish at the same time.
 */
#include <math.h>
#include <stdlib.h>

#include "tui/profile/profile_priv.h"
#include "tui/util/prefetch.h"

#define ONE	     65536.0
#define WEIGHT_LEAST 0.001
#define AHEAD	     12 /* cells */

static double weight_of(const struct profile *p, double age)
{
	return exp2(-age / (p->window / 2.0));
}

/* Weighted sums by sample id, and the ids in the order in which they were seen. */
struct weights {
	uint64_t *sum;
	double *weight; /* of the cells, likewise */
	uint32_t *seen;
	uint32_t count;
};

static void add_slice(struct weights *w, const struct slice *slice, double weight)
{
	uint64_t fixed = (uint64_t)(weight * ONE + 0.5);

	for (size_t i = 0; i < slice->ncells; i++) {
		uint32_t id = slice->ids[i];

		if (!w->sum[id])
			w->seen[w->count++] = id;
		w->sum[id] += slice->cells[i].count * fixed;
		w->weight[id] += (double)slice->cells[i].weight * weight;
	}
}

static void add_slices(const struct profile *p, struct weights *w)
{
	double seconds = 0;

	for (size_t age = 0; age < p->nslices; age++) {
		const struct slice *slice = slice_at(p, age);
		double weight = weight_of(p, seconds);

		if (weight < WEIGHT_LEAST)
			break;
		add_slice(w, slice, weight);
		seconds += (double)slice->health.elapsed / NS_PER_SEC;
	}
}

/* Cuts sums to whole samples. */
static void fill_table(const struct profile *p, const struct weights *w, struct celltable *table)
{
	uint64_t carry = 0;

	for (uint32_t i = 0; i < w->count; i++) {
		uint32_t id = w->seen[i];

		if (i + AHEAD < w->count) {
			prefetch_read(&p->ids.at[w->seen[i + AHEAD]]);
			prefetch_read(&w->sum[w->seen[i + AHEAD]]);
		}
		carry += w->sum[id];
		celltable_append(table, &p->ids.at[id], id, carry >> 16,
				 (uint64_t)(w->weight[id] + 0.5));
		carry &= 0xffff;
	}
}

const struct celltable *decay_cells(const struct profile *p)
{
	struct celltable *table = &p->decayed->cells;
	struct weights w = {0};
	bool made = false;

	if (p->decayed->valid)
		return table;
	celltable_clear(table);
	w.sum = calloc((size_t)p->ids.count + 1, sizeof(*w.sum));
	w.weight = calloc((size_t)p->ids.count + 1, sizeof(*w.weight));
	w.seen = malloc(((size_t)p->ids.count + 1) * sizeof(*w.seen));
	if (w.sum && w.weight && w.seen) {
		add_slices(p, &w);
		made = !celltable_reserve(table, w.count);
	}
	if (made)
		fill_table(p, &w, table);
	free(w.sum);
	free(w.weight);
	free(w.seen);
	p->decayed->valid = made;
	return made ? table : NULL;
}

static uint64_t scaled(uint64_t n, double weight)
{
	return (uint64_t)((double)n * weight + 0.5);
}

static void weigh_health(struct profile_health *h, double weight)
{
#define WEIGH(counter) h->counter = scaled(h->counter, weight);
	HEALTH_COUNTERS(WEIGH);
#undef WEIGH
	for (int i = 0; i < LOSS_COUNT; i++)
		h->loss[i] = scaled(h->loss[i], weight);
}

void decay_health(const struct profile *p, struct profile_health *sum)
{
	double seconds = 0;
	size_t n = 0;

	while (n < p->nslices && weight_of(p, seconds) >= WEIGHT_LEAST)
		seconds += (double)slice_at(p, n++)->health.elapsed / NS_PER_SEC;
	/* The newest last, since the state is taken from it. */
	while (n-- > 0) {
		struct profile_health health = slice_at(p, n)->health;

		seconds -= (double)health.elapsed / NS_PER_SEC;
		weigh_health(&health, weight_of(p, seconds));
		profile_health_add(sum, &health);
	}
}
