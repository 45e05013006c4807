/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slices in, window and totals kept up to date. Whatever may fail is done before the first change,
 * so that a slice counts as a whole or not at all; from there on a commit only moves numbers.
 */
#include "tui/profile/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/memory.h"
#include "tui/profile/annotation.h"
#include "tui/profile/slice_order.h"
#include "tui/profile/profile_priv.h"
#include "tui/query/query.h"

struct profile *profile_new(unsigned int window, size_t cells_max)
{
	struct profile *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->window = window ? window : 1;
	p->cells_max = cells_max ? cells_max : 1;
	p->bound_max = memory_limit(MEMORY_STACKS);
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
	sample_ids_free(&p->ids);
	celltable_free(&p->totals);
	celltable_free(&p->sliding);
	celltable_free(&p->prior);
	profile_names_free(p);
	profile_modules_free(p);
	profile_lines_free(p);
	if (p->scratch) {
		celltable_free(&p->scratch->decayed);
	}
	free(p->scratch);
	for (int i = 0; i < EXTRACT_COUNT; i++)
		celltable_free(&p->extracts[i].cells);
	profile_set_inventory(p, NULL);
	profile_set_inspection(p, NULL);
	profile_want_annotation(p, NULL);
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

/* There is room. */
static void sum_add(struct celltable *sum, size_t *zeros, const struct slice *slice)
{
	for (size_t i = 0; i < slice->ncells; i++) {
		const struct profile_cell *from = &slice->cells[i];
		bool made;
		struct cell *cell;

		celltable_expect(sum, slice->ids, i, slice->ncells);
		cell = celltable_get_id(sum, from, slice->ids[i], &made);
		*zeros -= !made && !cell->count;
		cell->count += from->count;
	}
}

static void sum_subtract(struct celltable *sum, size_t *zeros, const struct slice *slice)
{
	for (size_t i = 0; i < slice->ncells; i++) {
		const struct profile_cell *from = &slice->cells[i];
		struct cell *cell;

		celltable_expect(sum, slice->ids, i, slice->ncells);
		cell = celltable_get_id(sum, from, slice->ids[i], NULL);
		cell->count -= from->count;
		*zeros += !cell->count;
	}
	if (*zeros > sum->count / 2) {
		celltable_rebuild(sum, NULL, NULL);
		*zeros = 0;
	}
}

/* The sum of the time before goes on by what left the window, from slice `first` on, and without
 * what is too old by now. Without memory there is none until the next slice. */
static void prior_move(struct profile *p, size_t first, size_t old_first, size_t old_n)
{
	size_t n = profile_span(p, first), end = first + n;

	/* Of more slices than that the oldest may go any time. */
	if (!p->keep_ns || !p->prior_valid || n >= SLICES_MAX / 2) {
		celltable_clear(&p->prior);
		p->prior_zeros = old_n = 0;
		old_first = end;
		p->prior_valid = p->keep_ns && n < SLICES_MAX / 2;
	}
	for (size_t age = end > old_first ? end : old_first; age < old_first + old_n; age++)
		sum_subtract(&p->prior, &p->prior_zeros, slice_at(p, age));
	for (size_t age = first; age < old_first && age < end && p->prior_valid; age++) {
		const struct slice *slice = slice_at(p, age);

		p->prior_valid = !celltable_reserve(&p->prior, p->prior.count + slice->ncells) &&
				 !celltable_reserve_ids(&p->prior, p->ids.room);
		if (p->prior_valid)
			sum_add(&p->prior, &p->prior_zeros, slice);
	}
	p->nprior = n;
}

/* Slices that left the window are taken out of its sum, those beyond all bounds freed. */
static void window_move(struct profile *p)
{
	size_t old = p->nwindow + 1;

	p->nwindow = profile_span(p, 0);
	if (p->nwindow > SLICES_MAX / 2)
		p->nwindow = SLICES_MAX / 2;
	for (size_t age = p->nwindow; age < old; age++)
		sum_subtract(&p->sliding, &p->sliding_zeros, slice_at(p, age));
	prior_move(p, p->nwindow, old, p->nprior);
	history_bound(p, p->nwindow + p->nprior);
}

unsigned int profile_window(const struct profile *p)
{
	return p->window;
}

int profile_set_window(struct profile *p, unsigned int seconds)
{
	const unsigned int before = p->window;
	size_t old = p->nwindow, now, cells = 0;

	p->window = seconds < 1 ? 1 : seconds < PROFILE_WINDOW_MAX ? seconds : PROFILE_WINDOW_MAX;
	now = profile_span(p, 0);
	if (now > SLICES_MAX / 2)
		now = SLICES_MAX / 2;
	for (size_t age = old; age < now; age++)
		cells += slice_at(p, age)->ncells;
	if (celltable_reserve(&p->sliding, p->sliding.count + cells)) {
		p->window = before;
		return -ENOMEM;
	}
	for (size_t age = old; age < now; age++)
		sum_add(&p->sliding, &p->sliding_zeros, slice_at(p, age));
	for (size_t age = now; age < old; age++)
		sum_subtract(&p->sliding, &p->sliding_zeros, slice_at(p, age));
	p->nwindow = now;
	p->prior_valid = false; /* made anew with the next slice */
	history_recall(p, now + profile_span(p, now));
	p->scratch->decayed_valid = false;
	return 0;
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
	ssize_t kept;

	for (size_t i = 0; i < ncells; i++) {
		if (!cell_valid(p, &cells[i]))
			return -EINVAL;
	}
	if (slices_reserve(p) || celltable_reserve(&p->totals, p->totals.count + ncells) ||
	    celltable_reserve(&p->sliding, p->sliding.count + ncells) || ncells > INT32_MAX ||
	    sample_ids_reserve(&p->ids, (uint32_t)ncells) ||
	    celltable_reserve_ids(&p->totals, p->ids.room) ||
	    celltable_reserve_ids(&p->sliding, p->ids.room))
		return -ENOMEM;
	if (!ncells)
		return 0;
	slice->cells = malloc(ncells * SLICE_CELL_BYTES);
	if (!slice->cells)
		return -ENOMEM;
	slice->ids = (uint32_t *)(slice->cells + ncells);
	kept = cells_in_order(p, cells, ncells, slice->cells);
	if (kept < 0) {
		free(slice->cells);
		return -ENOMEM;
	}
	slice->ncells = (size_t)kept;
	for (size_t i = 0; i < ncells; i++)
		if (cells[i].cpu >= p->ncpus)
			p->ncpus = cells[i].cpu + 1;
	return 0;
}

static void totals_add(struct profile *p, const struct slice *slice)
{
	for (size_t i = 0; i < slice->ncells; i++) {
		const struct profile_cell *from = &slice->cells[i];
		bool made;
		struct cell *cell;

		celltable_expect(&p->totals, slice->ids, i, slice->ncells);
		cell = celltable_get_id(&p->totals, from, slice->ids[i], &made);
		if (made)
			profile_refer(p, from->proc, from->ustack, from->kstack);
		cell->count += from->count;
	}
}

bool profile_is_time(const struct profile_health *health)
{
	static const char *const events[] = {"",       "cpu-clock",  "task-clock",
					     "cycles", "cpu-cycles", "ref-cycles"};

	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		if (strcmp(health->event, events[i]) == 0)
			return true;
	return health->ticks > 0;
}

double profile_full(const struct profile_health *health)
{
	return profile_is_time(health) ? (double)health->elapsed / NS_PER_SEC * health->frequency
				       : (double)health->samples;
}

void profile_health_add(struct profile_health *sum, const struct profile_health *health)
{
	struct profile_health old = *sum;

	*sum = *health;
	sum->elapsed += old.elapsed;
	sum->taken += old.taken;
	sum->idle += old.idle;
	sum->ticks += old.ticks;
	sum->samples += old.samples;
	sum->user_samples += old.user_samples;
	sum->kernel_samples += old.kernel_samples;
	sum->filtered += old.filtered;
	sum->outside += old.outside;
	sum->user_walks += old.user_walks;
	sum->complete_walks += old.complete_walks;
	sum->frames += old.frames;
	sum->run_ns += old.run_ns;
	sum->runs += old.runs;
	for (int i = 0; i < LOSS_COUNT; i++)
		sum->loss[i] += old.loss[i];
	sum->drain_ns += old.drain_ns;
	sum->self_ns += old.self_ns;
	sum->evictions += old.evictions;
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
	p->scratch->decayed_valid = false;
	slice.health.event[sizeof(slice.health.event) - 1] = 0;
	p->slices[(p->first + p->nslices++) % p->slices_room] = slice;
	history_add(p, &slice);
	totals_add(p, &slice);
	sum_add(&p->sliding, &p->sliding_zeros, &slice);
	window_move(p);
	profile_fold(p);
	profile_health_add(&p->total_health, &slice.health);
	timeline_add(p, &slice.health);
	p->last = slice.health;
	p->committed++;
	profile_sweep(p);
	bound_keep(p);
	return 0;
}

void profile_zero(struct profile *p)
{
	while (p->nslices)
		history_drop_oldest(p);
	p->scratch->decayed_valid = false;
	p->nwindow = p->nprior = 0;
	celltable_clear(&p->sliding);
	celltable_clear(&p->prior);
	p->sliding_zeros = p->prior_zeros = 0;
	profile_unrefer_cells(p, &p->totals);
	celltable_clear(&p->totals);
	memset(&p->total_health, 0, sizeof(p->total_health));
}
