/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds slices and keeps window and totals up to date. All that can fail is done before the first
 * change, so a slice counts as a whole or not at all.
 */
#include "tui/profile/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/memory.h"
#include "tui/profile/board.h"
#include "tui/profile/slice_order.h"
#include "tui/profile/profile_priv.h"

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
	pool_init(&p->procs, sizeof(struct process_entry));
	p->totals.holds = true;
	p->decayed = calloc(1, sizeof(*p->decayed));
	p->board = board_new();
	if (!p->decayed || !p->board || profile_fold_new(p)) {
		profile_free(p);
		return NULL;
	}
	return p;
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	for (size_t age = 0; age < p->nslices; age++) {
		free(slice_at(p, age)->cells);
		free(slice_at(p, age)->use);
	}
	free(p->slices);
	sample_ids_free(&p->ids);
	sum_free(&p->totals);
	sum_free(&p->sliding);
	sum_free(&p->prior);
	profile_names_free(p);
	profile_lines_free(p);
	if (p->decayed)
		celltable_free(&p->decayed->cells);
	free(p->decayed);
	for (int i = 0; i < FROZEN_COUNT; i++)
		sum_free(&p->frozen[i].sum);
	board_free(p->board);
	free(p->parents);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

struct board *profile_board(const struct profile *p)
{
	return p->board;
}

void profile_lock(struct profile *p)
{
	pthread_mutex_lock(&p->lock);
}

void profile_unlock(struct profile *p)
{
	pthread_mutex_unlock(&p->lock);
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

/* Adds what left the window, from slice `first` on, to the sum of the time before it, and takes
 * away what is too old. Without memory the sum is invalid until the next slice. */
static void prior_move(struct profile *p, size_t first, size_t old_first, size_t old_n)
{
	size_t n = profile_span(p, first), end = first + n;

	/* With more slices than that, the oldest may be dropped at any time. */
	if (!p->keep_ns || !p->prior_valid || n >= SLICES_MAX / 2) {
		sum_clear(p, &p->prior);
		old_n = 0;
		old_first = end;
		p->prior_valid = p->keep_ns && n < SLICES_MAX / 2;
	}
	for (size_t age = end > old_first ? end : old_first; age < old_first + old_n; age++)
		sum_take(p, &p->prior, slice_at(p, age));
	for (size_t age = first; age < old_first && age < end && p->prior_valid; age++) {
		const struct slice *slice = slice_at(p, age);

		p->prior_valid = !sum_reserve(p, &p->prior, slice->ncells);
		if (p->prior_valid)
			sum_add(p, &p->prior, slice);
	}
	p->nprior = n;
}

/* Takes slices that left the window out of its sum, and frees those beyond all limits. */
static void window_move(struct profile *p)
{
	size_t old = p->nwindow + 1;

	p->nwindow = profile_span(p, 0);
	if (p->nwindow > SLICES_MAX / 2)
		p->nwindow = SLICES_MAX / 2;
	for (size_t age = p->nwindow; age < old; age++)
		sum_take(p, &p->sliding, slice_at(p, age));
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
	if (sum_reserve(p, &p->sliding, cells)) {
		p->window = before;
		return -ENOMEM;
	}
	for (size_t age = old; age < now; age++)
		sum_add(p, &p->sliding, slice_at(p, age));
	for (size_t age = now; age < old; age++)
		sum_take(p, &p->sliding, slice_at(p, age));
	p->nwindow = now;
	p->prior_valid = false; /* computed again with the next slice */
	history_recall(p, now + profile_span(p, now));
	p->decayed->valid = false;
	return 0;
}

/* --- commit ---------------------------------------------------------------------------------- */

static bool cell_valid(const struct profile *p, const struct profile_cell *cell)
{
	return pool_has(&p->procs, cell->proc) &&
	       (cell->ustack == PROFILE_NO_STACK || pool_has(&p->stacks, cell->ustack)) &&
	       (cell->kstack == PROFILE_NO_STACK || pool_has(&p->stacks, cell->kstack));
}

#define US_PER_SEC 1000000u

static int commit_prepare(struct profile *p, const struct profile_cell *cells, size_t ncells,
			  struct slice *slice)
{
	ssize_t kept;

	for (size_t i = 0; i < ncells; i++) {
		if (!cell_valid(p, &cells[i]))
			return -EINVAL;
	}
	if (slices_reserve(p) || ncells > INT32_MAX ||
	    sample_ids_reserve(&p->ids, (uint32_t)ncells) || sum_reserve(p, &p->totals, ncells) ||
	    sum_reserve(p, &p->sliding, ncells))
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

uint64_t profile_weight(const struct profile_health *health, const struct profile_cell *cell)
{
	if (cell->weight)
		return cell->weight;
	if (health->counted && !profile_is_time(health) && health->taken)
		return (uint64_t)((double)cell->count * (double)health->counted /
					  (double)health->taken +
				  0.5);
	if (profile_is_time(health) && health->frequency)
		return cell->count * US_PER_SEC / health->frequency;
	return cell->count;
}

/* Sets the weights of the slice's cells, and their sum. */
static void weigh_cells(const struct profile *p, struct slice *slice)
{
	slice->health.weight = 0;
	for (size_t i = 0; i < slice->ncells; i++) {
		struct profile_cell *cell = &slice->cells[i];

		cell->weight = profile_weight(&slice->health, cell);
		if (cell->kstack == PROFILE_NO_STACK ||
		    stack_at(p, cell->kstack)->stack.use == STACK_SAMPLES)
			slice->health.weight += cell->weight;
	}
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
	p->decayed->valid = false;
	slice.health.event[sizeof(slice.health.event) - 1] = 0;
	weigh_cells(p, &slice);
	p->slices[(p->first + p->nslices++) % p->slices_room] = slice;
	history_add(p, &slice);
	sum_add(p, &p->totals, &slice);
	sum_add(p, &p->sliding, &slice);
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

void profile_before_zero(struct profile *p, profile_zero_fn fn, void *arg)
{
	for (size_t i = 0; i < PROFILE_ZERO_HOOKS; i++)
		if (fn ? !p->before_zero[i].fn : p->before_zero[i].arg == arg) {
			p->before_zero[i] = (struct profile_zero_hook){fn, fn ? arg : NULL};
			return;
		}
}

void profile_zero(struct profile *p)
{
	for (size_t i = 0; i < PROFILE_ZERO_HOOKS; i++)
		if (p->before_zero[i].fn)
			p->before_zero[i].fn(p, p->before_zero[i].arg);
	while (p->nslices)
		history_drop_oldest(p);
	p->decayed->valid = false;
	p->nwindow = p->nprior = 0;
	sum_clear(p, &p->sliding);
	sum_clear(p, &p->prior);
	sum_clear(p, &p->totals);
	memset(&p->total_health, 0, sizeof(p->total_health));
}

void profile_rewind(struct profile *p)
{
	profile_zero(p);
	p->ntimeline = 0;
}

/* --- the position in a recording, passed from the player to the screen ----------------------- */

void profile_set_replay(struct profile *p, const struct profile_replay *replay)
{
	p->replay = *replay;
	p->replayed = true;
}

const struct profile_replay *profile_replay(const struct profile *p)
{
	return p->replayed ? &p->replay : NULL;
}
