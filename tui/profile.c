/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slices in, window and totals kept up to date. Whatever may fail is done before the first change,
 * so that a slice counts as a whole or not at all; from there on a commit only moves numbers.
 */
#include "tui/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tui/profile_priv.h"
#include "tui/query.h"

struct profile *profile_new(unsigned int window, size_t cells_max)
{
	struct profile *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->window = window ? window : 1;
	p->cells_max = cells_max ? cells_max : 1;
	pthread_mutex_init(&p->lock, NULL);
	pool_init(&p->funcs, sizeof(struct func_entry));
	pool_init(&p->stacks, sizeof(struct stack_entry));
	pool_init(&p->procs, sizeof(struct proc_entry));
	p->scratch = calloc(1, sizeof(*p->scratch));
	if (!p->scratch || profile_fold_new(p)) {
		profile_free(p);
		return NULL;
	}
	return p;
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	for (size_t age = 0; age < p->nslices; age++)
		free(slice_at(p, age)->cells);
	free(p->slices);
	celltable_free(&p->totals);
	celltable_free(&p->sliding);
	profile_names_free(p);
	if (p->scratch) {
		free(p->scratch->marks);
		free(p->scratch->funcs);
	}
	free(p->scratch);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

void profile_lock(struct profile *p)
{
	pthread_mutex_lock(&p->lock);
}

void profile_unlock(struct profile *p)
{
	pthread_mutex_unlock(&p->lock);
}

size_t profile_span(const struct profile *p, size_t age)
{
	double seconds = 0;
	size_t n = 0;

	/* Half a slice of tolerance: ten slices of 0.999 s are the ten seconds that were meant. */
	for (; age < p->nslices; age++, n++) {
		double elapsed = (double)slice_at(p, age)->health.elapsed / NS_PER_SEC;

		if (n && seconds + elapsed / 2 >= p->window)
			break;
		seconds += elapsed;
	}
	return n;
}

/* --- slices ---------------------------------------------------------------------------------- */

static int slices_reserve(struct profile *p)
{
	size_t room = p->slices_room ? p->slices_room * 2 : 32;
	struct slice *grown;

	if (p->nslices < p->slices_room)
		return 0;
	grown = calloc(room, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	for (size_t i = 0; i < p->nslices; i++)
		/* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): no slices, no round */
		grown[i] = p->slices[(p->first + i) % p->slices_room];
	free(p->slices);
	p->slices = grown;
	p->slices_room = room;
	p->first = 0;
	return 0;
}

static void slice_drop_oldest(struct profile *p)
{
	struct slice *slice = slice_at(p, p->nslices - 1);

	for (size_t i = 0; i < slice->ncells; i++) {
		const struct profile_cell *cell = &slice->cells[i];

		proc_at(p, cell->proc)->slices--;
		profile_unrefer(p, cell->proc, cell->ustack, cell->kstack);
	}
	free(slice->cells);
	memset(slice, 0, sizeof(*slice));
	p->first = (p->first + 1) % p->slices_room;
	p->nslices--;
}

static void window_add(struct profile *p, const struct slice *slice)
{
	for (size_t i = 0; i < slice->ncells; i++) {
		const struct profile_cell *from = &slice->cells[i];
		bool made;
		struct cell *cell =
			celltable_get(&p->sliding, from->proc, from->ustack, from->kstack, &made);

		p->sliding_zeros -= !made && !cell->count;
		cell->count += from->count;
	}
}

static void window_subtract(struct profile *p, const struct slice *slice)
{
	for (size_t i = 0; i < slice->ncells; i++) {
		const struct profile_cell *from = &slice->cells[i];
		struct cell *cell =
			celltable_get(&p->sliding, from->proc, from->ustack, from->kstack, NULL);

		cell->count -= from->count;
		p->sliding_zeros += !cell->count;
	}
}

/* Slices that left the window are taken out of its sum, those beyond the time before freed. */
static void window_move(struct profile *p)
{
	size_t old = p->nwindow + 1, keep;

	p->nwindow = profile_span(p, 0);
	if (p->nwindow > SLICES_MAX / 2)
		p->nwindow = SLICES_MAX / 2;
	for (size_t age = p->nwindow; age < old; age++)
		window_subtract(p, slice_at(p, age));
	keep = p->nwindow + profile_span(p, p->nwindow);
	while (p->nslices > keep || p->nslices > SLICES_MAX)
		slice_drop_oldest(p);
	if (p->sliding_zeros > p->sliding.count / 2) {
		celltable_rebuild(&p->sliding, NULL, NULL);
		p->sliding_zeros = 0;
	}
}

/* --- commit ---------------------------------------------------------------------------------- */

static bool cell_valid(const struct profile *p, const struct profile_cell *cell)
{
	return pool_has(&p->procs, cell->proc) &&
	       (cell->ustack == PROFILE_NO_STACK || pool_has(&p->stacks, cell->ustack)) &&
	       (cell->kstack == PROFILE_NO_STACK || pool_has(&p->stacks, cell->kstack));
}

static int commit_prepare(struct profile *p, const struct profile_cell *cells, size_t ncells,
			  struct slice *slice)
{
	size_t kept = 0;

	for (size_t i = 0; i < ncells; i++) {
		if (!cell_valid(p, &cells[i]))
			return -EINVAL;
	}
	if (slices_reserve(p) || celltable_reserve(&p->totals, p->totals.count + ncells) ||
	    celltable_reserve(&p->sliding, p->sliding.count + ncells))
		return -ENOMEM;
	if (!ncells)
		return 0;
	slice->cells = malloc(ncells * sizeof(*cells));
	if (!slice->cells)
		return -ENOMEM;
	for (size_t i = 0; i < ncells; i++) {
		if (cells[i].count)
			slice->cells[kept++] = cells[i];
	}
	slice->ncells = kept;
	return 0;
}

static void totals_add(struct profile *p, const struct slice *slice)
{
	for (size_t i = 0; i < slice->ncells; i++) {
		const struct profile_cell *from = &slice->cells[i];
		bool made;
		struct cell *cell =
			celltable_get(&p->totals, from->proc, from->ustack, from->kstack, &made);

		if (made)
			profile_refer(p, from->proc, from->ustack, from->kstack);
		profile_refer(p, from->proc, from->ustack, from->kstack); /* the slice's */
		proc_at(p, from->proc)->slices++;
		cell->count += from->count;
	}
}

void profile_health_add(struct profile_health *sum, const struct profile_health *health)
{
	struct profile_health old = *sum;

	*sum = *health;
	sum->elapsed += old.elapsed;
	sum->samples += old.samples;
	sum->user_samples += old.user_samples;
	sum->kernel_samples += old.kernel_samples;
	sum->filtered += old.filtered;
	sum->user_walks += old.user_walks;
	sum->complete_walks += old.complete_walks;
	for (int i = 0; i < LOSS_COUNT; i++)
		sum->loss[i] += old.loss[i];
	sum->drain_ns += old.drain_ns;
	sum->self_ns += old.self_ns;
}

static void timeline_add(struct profile *p, const struct profile_health *health)
{
	double whole = health->elapsed / NS_PER_SEC * health->frequency * health->ncpus;
	double use = whole > 0 ? (double)health->samples / whole : 0;

	p->timeline[p->ntimeline++ % TIMELINE_MAX] = use > 1 ? 1 : (float)use;
}

int profile_commit(struct profile *p, const struct profile_cell *cells, size_t ncells,
		   const struct profile_health *health)
{
	struct slice slice = {.health = *health};
	int err = commit_prepare(p, cells, ncells, &slice);

	if (err)
		return err;
	slice.health.event[sizeof(slice.health.event) - 1] = 0;
	p->slices[(p->first + p->nslices++) % p->slices_room] = slice;
	totals_add(p, &slice);
	window_add(p, &slice);
	window_move(p);
	profile_fold(p);
	profile_health_add(&p->total_health, &slice.health);
	timeline_add(p, &slice.health);
	p->last = slice.health;
	p->committed++;
	profile_sweep(p);
	return 0;
}

void profile_zero(struct profile *p)
{
	while (p->nslices)
		slice_drop_oldest(p);
	p->nwindow = 0;
	celltable_clear(&p->sliding);
	p->sliding_zeros = 0;
	for (size_t i = 0; i < p->totals.count; i++)
		profile_unrefer(p, p->totals.cells[i].proc, p->totals.cells[i].ustack,
				p->totals.cells[i].kstack);
	celltable_clear(&p->totals);
	memset(&p->total_health, 0, sizeof(p->total_health));
}
