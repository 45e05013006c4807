// SPDX-License-Identifier: GPL-2.0-or-later
/* See sum.h. Most cells of a slice are in the sum already, and are found by their ids. */
#include "tui/profile/sum.h"

#include <errno.h>

#include "tui/profile/profile_priv.h"
#include "tui/util/prefetch.h"

#define ENTRIES_AHEAD 8

void profile_refer(struct profile *p, uint32_t proc, uint32_t ustack, uint32_t kstack)
{
	pool_get(&p->procs, proc);
	if (ustack != PROFILE_NO_STACK)
		pool_get(&p->stacks, ustack);
	if (kstack != PROFILE_NO_STACK)
		pool_get(&p->stacks, kstack);
}

void profile_unrefer(struct profile *p, uint32_t proc, uint32_t ustack, uint32_t kstack)
{
	pool_put(&p->procs, proc);
	if (ustack != PROFILE_NO_STACK)
		pool_put(&p->stacks, ustack);
	if (kstack != PROFILE_NO_STACK)
		pool_put(&p->stacks, kstack);
}

/* Entries are scattered in memory: waiting for each would take most of the time. */
static void expect_entries(const struct profile *p, const struct celltable *cells, size_t at)
{
	const struct cell *cell;

	if (at + ENTRIES_AHEAD >= cells->count)
		return;
	cell = &cells->cells[at + ENTRIES_AHEAD];
	prefetch_write(pool_entry(&p->procs, cell->proc));
	if (cell->ustack != PROFILE_NO_STACK)
		prefetch_write(pool_entry(&p->stacks, cell->ustack));
	if (cell->kstack != PROFILE_NO_STACK)
		prefetch_write(pool_entry(&p->stacks, cell->kstack));
}

static void refer_each(struct profile *p, const struct celltable *cells,
		       void (*fn)(struct profile *p, uint32_t proc, uint32_t ustack,
				  uint32_t kstack))
{
	for (size_t i = 0; i < cells->count; i++) {
		const struct cell *cell = &cells->cells[i];

		expect_entries(p, cells, i);
		if (cell->count)
			fn(p, cell->proc, cell->ustack, cell->kstack);
	}
}

void sum_hold(struct profile *p, struct sum *sum)
{
	if (!sum->holds)
		refer_each(p, &sum->cells, profile_refer);
	sum->holds = true;
}

void sum_unhold(struct profile *p, struct sum *sum)
{
	if (sum->holds)
		refer_each(p, &sum->cells, profile_unrefer);
	sum->holds = false;
}

void sum_free(struct sum *sum)
{
	celltable_free(&sum->cells);
	*sum = (struct sum){0};
}

void sum_clear(struct profile *p, struct sum *sum)
{
	bool holds = sum->holds;

	sum_unhold(p, sum);
	celltable_clear(&sum->cells);
	sum->zeros = 0;
	sum->holds = holds;
}

int sum_reserve(const struct profile *p, struct sum *sum, size_t cells)
{
	return celltable_reserve(&sum->cells, sum->cells.count + cells) ||
			       celltable_reserve_ids(&sum->cells, p->ids.room)
		       ? -ENOMEM
		       : 0;
}

void sum_add(struct profile *p, struct sum *sum, const struct slice *slice)
{
	for (size_t i = 0; i < slice->ncells; i++) {
		const struct profile_cell *from = &slice->cells[i];
		struct cell *cell;
		bool made;

		celltable_expect(&sum->cells, slice->ids, i, slice->ncells);
		cell = celltable_get_id(&sum->cells, from, slice->ids[i], &made);
		sum->zeros -= !made && !cell->count;
		if (sum->holds && !cell->count)
			profile_refer(p, from->proc, from->ustack, from->kstack);
		cell->count += from->count;
		cell->weight += from->weight;
	}
}

void sum_take(struct profile *p, struct sum *sum, const struct slice *slice)
{
	for (size_t i = 0; i < slice->ncells; i++) {
		const struct profile_cell *from = &slice->cells[i];
		struct cell *cell;

		celltable_expect(&sum->cells, slice->ids, i, slice->ncells);
		cell = celltable_get_id(&sum->cells, from, slice->ids[i], NULL);
		cell->count -= from->count;
		cell->weight -= from->weight;
		if (cell->count)
			continue;
		sum->zeros++;
		if (sum->holds)
			profile_unrefer(p, from->proc, from->ustack, from->kstack);
	}
	if (sum->zeros > sum->cells.count / 2) {
		celltable_rebuild(&sum->cells, NULL, NULL);
		sum->zeros = 0;
	}
}

int sum_copy(struct sum *sum, const struct sum *from)
{
	int err = celltable_copy(&sum->cells, &from->cells);

	sum->zeros = 0;
	for (size_t i = 0; i < sum->cells.count; i++)
		sum->zeros += !sum->cells.cells[i].count;
	return err;
}
