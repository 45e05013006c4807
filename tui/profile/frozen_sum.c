/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See frozen_sum.h. Stacks, functions and names are shared with the profile, which is why this
 * costs one addition a cell and no copies.
 */
#include "tui/profile/frozen_sum.h"

#include <errno.h>

#include "tui/profile/profile_priv.h"

void frozen_sum_drop(struct profile *p, enum frozen_kind kind)
{
	struct frozen_sum *frozen = &p->frozen[kind];

	sum_unhold(p, &frozen->sum);
	sum_free(&frozen->sum);
	*frozen = (struct frozen_sum){0};
}

/* The new sum may have the same stacks, so it takes its references first. */
void frozen_sum_replace(struct profile *p, enum frozen_kind kind, const struct frozen_sum *made)
{
	struct frozen_sum frozen = *made;

	sum_hold(p, &frozen.sum);
	frozen_sum_drop(p, kind);
	p->frozen[kind] = frozen;
	p->frozen[kind].taken = true;
}

/* A sum of slices that exists. */
struct sum_range {
	const struct sum *sum;
	uint64_t first, last;
};

/* How many slices to add and take away; SIZE_MAX: one of them is gone. */
static size_t distance(const struct profile *p, const struct sum_range *s, uint64_t first,
		       uint64_t last)
{
	uint64_t from = s->first > first ? s->first : first, to = s->last < last ? s->last : last;
	uint64_t both = to >= from ? to + 1 - from : 0;

	if (!s->first || s->first > s->last || s->last > p->committed ||
	    s->first < p->committed - p->nslices + 1)
		return SIZE_MAX;
	return (size_t)(s->last + 1 - s->first + last + 1 - first - 2 * both);
}

/* The sum with the least distance; an empty one has slices 1 to 0. */
static struct sum_range nearest(const struct profile *p, uint64_t first, uint64_t last)
{
	static const struct sum empty;
	const uint64_t window = p->committed - p->nwindow;
	const struct frozen_sum *moment = &p->frozen[FROZEN_MOMENT];
	const struct frozen_sum *before = &p->frozen[FROZEN_BEFORE];
	const struct sum_range sums[] = {
		{&p->sliding, p->nwindow ? window + 1 : 0, p->committed},
		{&p->prior, p->prior_valid && p->nprior ? window + 1 - p->nprior : 0, window},
		{&moment->sum, moment->taken ? moment->first : 0, moment->last},
		{&before->sum, before->taken ? before->first : 0, before->last},
	};
	struct sum_range best = {&empty, 1, 0};
	size_t least = (size_t)(last + 1 - first);

	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
		size_t far = distance(p, &sums[i], first, last);

		if (far < least) {
			best = sums[i];
			least = far;
		}
	}
	return best;
}

/* Turns the sum of one range of slices into that of another. -ENOMEM. */
static int move_sum(struct profile *p, struct sum *sum, const struct sum_range *from,
		    uint64_t first, uint64_t last)
{
	for (uint64_t number = first; number <= last; number++) {
		const struct slice *slice = slice_at(p, p->committed - number);

		if (number >= from->first && number <= from->last)
			continue;
		/* Not for all slices at once: most cells of one are in the next, too. */
		if (sum_reserve(p, sum, slice->ncells))
			return -ENOMEM;
		sum_add(p, sum, slice);
	}
	for (uint64_t number = from->first; number <= from->last; number++)
		if (number < first || number > last)
			sum_take(p, sum, slice_at(p, p->committed - number));
	return 0;
}

/* Moves the sum in place, and only touches the references of what changes. */
static int move_frozen(struct profile *p, struct frozen_sum *frozen, const struct sum_range *from,
		       uint64_t first, uint64_t last)
{
	size_t more = 0;

	for (uint64_t number = first; number <= last; number++)
		if (number < from->first || number > from->last)
			more += slice_at(p, p->committed - number)->ncells;
	/* From here on nothing fails. */
	if (sum_reserve(p, &frozen->sum, more) || move_sum(p, &frozen->sum, from, first, last))
		return -ENOMEM;
	frozen->first = first;
	frozen->last = last;
	return 0;
}

static int make_frozen(struct profile *p, enum frozen_kind kind, const struct sum_range *from,
		       uint64_t first, uint64_t last)
{
	struct frozen_sum made = {.first = first, .last = last};
	int err = sum_copy(&made.sum, from->sum);

	if (!err)
		err = move_sum(p, &made.sum, from, first, last);
	if (err)
		sum_free(&made.sum);
	else
		frozen_sum_replace(p, kind, &made);
	return err;
}

int frozen_sum_slices(struct profile *p, enum frozen_kind kind, uint64_t first, uint64_t last)
{
	uint64_t oldest = p->committed - p->nslices + 1;
	struct frozen_sum *frozen = &p->frozen[kind];
	struct sum_range from;
	size_t age;
	int err;

	first = first < oldest ? oldest : first;
	if (!slice_age(p, last, &age) || first > last)
		return -ENOENT;
	from = nearest(p, first, last);
	err = from.sum == &frozen->sum ? move_frozen(p, frozen, &from, first, last)
				       : make_frozen(p, kind, &from, first, last);
	if (err)
		return err;
	frozen->health = (struct profile_health){0};
	for (uint64_t number = first; number <= last; number++)
		profile_health_add(&frozen->health, &slice_at(p, p->committed - number)->health);
	return 0;
}

/* From a table without an index. */
static int copy_cells(struct sum *sum, const struct celltable *from)
{
	if (!from || celltable_reserve(&sum->cells, from->count))
		return -ENOMEM;
	for (size_t i = 0; i < from->count; i++) {
		const struct cell *cell = &from->cells[i];

		celltable_add(&sum->cells, cell);
	}
	return 0;
}

static int copy_span(struct profile *p, struct sum *to, enum span span)
{
	const struct slice *last = p->nslices ? slice_at(p, 0) : NULL;

	switch (span) {
	case SPAN_LAST:
		if (last && sum_reserve(p, to, last->ncells))
			return -ENOMEM;
		if (last)
			sum_add(p, to, last);
		return 0;
	case SPAN_DECAY:
		return copy_cells(to, decay_cells(p));
	default:
		return sum_copy(to, span_sum(p, span));
	}
}

int frozen_sum_span(struct profile *p, enum frozen_kind kind, enum span span)
{
	struct frozen_sum made = {0};
	int err = copy_span(p, &made.sum, span);

	if (err) {
		sum_free(&made.sum);
		return err;
	}
	query_health_sum(p, span, &made.health);
	span_slices(p, span, &made.first, &made.last);
	frozen_sum_replace(p, kind, &made);
	return 0;
}

bool frozen_sum_taken(const struct profile *p, enum frozen_kind kind)
{
	return p->frozen[kind].taken;
}
