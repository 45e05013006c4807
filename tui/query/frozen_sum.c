/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a frozen view shows, and what is compared with it: sums of cells that hold references of
 * their own, so that they outlive their slices and a zero of the counts. Stacks, functions and
 * names are shared with the profile, which is why this costs one addition a cell and no copies.
 */
#include <errno.h>

#include "tui/query/query_priv.h"

void extract_drop(struct profile *p, enum extract_kind kind)
{
	struct extract *extract = &p->extracts[kind];

	profile_unrefer_cells(p, &extract->cells);
	celltable_free(&extract->cells);
	*extract = (struct extract){0};
}

/* What is new may be made of what is old, so that the old goes last. Cells of no samples hold
 * nothing. */
void extract_replace(struct profile *p, enum extract_kind kind, const struct extract *extract)
{
	profile_refer_cells(p, &extract->cells);
	extract_drop(p, kind);
	p->extracts[kind] = *extract;
	p->extracts[kind].taken = true;
}

/* A sum of slices that is there already. */
struct source {
	const struct celltable *cells;
	uint64_t first, last;
};

/* How many slices make the one out of the other; SIZE_MAX: one that is gone would have to go. */
static size_t distance(const struct profile *p, const struct source *s, uint64_t first,
		       uint64_t last)
{
	uint64_t from = s->first > first ? s->first : first, to = s->last < last ? s->last : last;
	uint64_t both = to >= from ? to + 1 - from : 0;

	if (!s->first || s->first > s->last || s->last > p->committed ||
	    s->first < p->committed - p->nslices + 1)
		return SIZE_MAX;
	return (size_t)(s->last + 1 - s->first + last + 1 - first - 2 * both);
}

/* The sum that is the least work, or none, which is slices 1 to 0. */
static struct source source_of(const struct profile *p, uint64_t first, uint64_t last)
{
	static const struct celltable empty;
	const uint64_t window = p->committed - p->nwindow;
	const struct extract *moment = &p->extracts[EXTRACT_MOMENT];
	const struct extract *before = &p->extracts[EXTRACT_BEFORE];
	const struct source sources[] = {
		{&p->sliding, p->nwindow ? window + 1 : 0, p->committed},
		{&p->prior, p->prior_valid && p->nprior ? window + 1 - p->nprior : 0, window},
		{&moment->cells, moment->taken ? moment->first : 0, moment->last},
		{&before->cells, before->taken ? before->first : 0, before->last},
	};
	struct source best = {&empty, 1, 0};
	size_t least = (size_t)(last + 1 - first);

	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		size_t far = distance(p, &sources[i], first, last);

		if (far < least) {
			best = sources[i];
			least = far;
		}
	}
	return best;
}

/* There is room. refer: the sum holds references to what its cells are of. */
static void slice_add(struct profile *p, struct extract *sum, uint64_t number, bool refer)
{
	const struct slice *slice = slice_at(p, p->committed - number);

	for (size_t i = 0; i < slice->ncells; i++) {
		const struct profile_cell *from = &slice->cells[i];
		struct cell *cell;
		bool made;

		celltable_expect(&sum->cells, slice->ids, i, slice->ncells);
		cell = celltable_get_id(&sum->cells, from, slice->ids[i], &made);
		sum->zeros -= !made && !cell->count;
		if (refer && !cell->count)
			profile_refer(p, from->proc, from->ustack, from->kstack);
		cell->count += from->count;
	}
}

static void slice_take(struct profile *p, struct extract *sum, uint64_t number, bool refer)
{
	const struct slice *slice = slice_at(p, p->committed - number);

	for (size_t i = 0; i < slice->ncells; i++) {
		const struct profile_cell *from = &slice->cells[i];
		struct cell *cell;

		celltable_expect(&sum->cells, slice->ids, i, slice->ncells);
		cell = celltable_get_id(&sum->cells, from, slice->ids[i], NULL);
		cell->count -= from->count;
		if (cell->count)
			continue;
		sum->zeros++;
		if (refer)
			profile_unrefer(p, from->proc, from->ustack, from->kstack);
	}
}

/* Makes the sum of the source's slices that of the slices from first to last. -ENOMEM. */
static int sum_move(struct profile *p, struct extract *sum, const struct source *source,
		    uint64_t first, uint64_t last, bool refer)
{
	if (celltable_reserve_ids(&sum->cells, p->ids.room))
		return -ENOMEM;
	for (uint64_t number = first; number <= last; number++) {
		if (number >= source->first && number <= source->last)
			continue;
		/* Room for all at once: most cells are the same in the next slice. */
		if (celltable_reserve(&sum->cells,
				      sum->cells.count +
					      slice_at(p, p->committed - number)->ncells))
			return -ENOMEM;
		slice_add(p, sum, number, refer);
	}
	for (uint64_t number = source->first; number <= source->last; number++)
		if (number < first || number > last)
			slice_take(p, sum, number, refer);
	return 0;
}

/* The extract itself is the least work: what stays has its references already. */
static int move_extract(struct profile *p, struct extract *extract, const struct source *source,
			uint64_t first, uint64_t last)
{
	size_t more = 0;

	for (uint64_t number = first; number <= last; number++)
		if (number < source->first || number > source->last)
			more += slice_at(p, p->committed - number)->ncells;
	/* From here on nothing fails. */
	if (celltable_reserve(&extract->cells, extract->cells.count + more) ||
	    sum_move(p, extract, source, first, last, true))
		return -ENOMEM;
	if (extract->zeros > extract->cells.count / 2) {
		celltable_rebuild(&extract->cells, NULL, NULL);
		extract->zeros = 0;
	}
	extract->first = first;
	extract->last = last;
	return 0;
}

static void count_zeros(struct extract *extract)
{
	for (size_t i = 0; i < extract->cells.count; i++)
		extract->zeros += !extract->cells.cells[i].count;
}

static int make_extract(struct profile *p, enum extract_kind kind, const struct source *source,
			uint64_t first, uint64_t last)
{
	struct extract extract = {.first = first, .last = last};
	int err = celltable_copy(&extract.cells, source->cells);

	count_zeros(&extract);
	if (!err)
		err = sum_move(p, &extract, source, first, last, false);
	if (err)
		celltable_free(&extract.cells);
	else
		extract_replace(p, kind, &extract);
	return err;
}

int extract_slices(struct profile *p, enum extract_kind kind, uint64_t first, uint64_t last)
{
	uint64_t oldest = p->committed - p->nslices + 1;
	struct extract *extract = &p->extracts[kind];
	struct source source;
	size_t age;
	int err;

	first = first < oldest ? oldest : first;
	if (!slice_age(p, last, &age) || first > last)
		return -ENOENT;
	source = source_of(p, first, last);
	err = source.cells == &extract->cells ? move_extract(p, extract, &source, first, last)
					      : make_extract(p, kind, &source, first, last);
	if (err)
		return err;
	extract->health = (struct profile_health){0};
	for (uint64_t number = first; number <= last; number++)
		profile_health_add(&extract->health, &slice_at(p, p->committed - number)->health);
	return 0;
}

static int weighed_cell(const struct profile_cell *cell, void *arg)
{
	struct extract *extract = arg;

	if (celltable_reserve(&extract->cells, extract->cells.count + 1))
		return -ENOMEM;
	celltable_get(&extract->cells, cell->proc, cell->ustack, cell->kstack, NULL)->count +=
		cell->count;
	return 0;
}

/* A sum is copied as it is, with what is known of its cells. That of decay has no index. */
static int copy_weighed(const struct profile *p, const struct query *q, struct extract *extract)
{
	const struct celltable *table = q->weigh == WEIGH_DECAY ? NULL : query_table(p, q);
	int err;

	if (!table)
		return query_raw(p, q, weighed_cell, extract);
	err = celltable_copy(&extract->cells, table);
	count_zeros(extract);
	return err;
}

int extract_weighed(struct profile *p, enum extract_kind kind, enum weigh weigh)
{
	struct query q = {.weigh = weigh, .proc = QUERY_ALL};
	struct extract extract = {0};
	int err = copy_weighed(p, &q, &extract);

	if (err) {
		celltable_free(&extract.cells);
		return err;
	}
	query_health_sum(p, weigh, &extract.health);
	query_slices_weighed(p, weigh, &extract.first, &extract.last);
	extract_replace(p, kind, &extract);
	return 0;
}

bool extract_taken(const struct profile *p, enum extract_kind kind)
{
	return p->extracts[kind].taken;
}
