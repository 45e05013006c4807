// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A jump does not play what lies between: everything older than the sliding window and the time
 * before goes into the profile as one slice, the figures of the timeline as slices without samples,
 * and only the rest one by one. So totals, window and timeline are the same as without the jump.
 * Where another event begins to sample, the profile starts over, as it did live: counts of two
 * events have no sum.
 */
#include "tui/session/feeder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "tui/profile/board.h"
#include "tui/util/bytes.h"
#include "tui/profile/frozen_sum.h"
#include "tui/profile/celltable.h"
#include "tui/session/feeder_priv.h"
#include "tui/profile/profile.h"
#include "tui/session/session_read.h"
#include "tui/session/session_states.h"

#define NS_PER_SEC	1000000000ull
#define TIMELINE_SHOWN	256
#define BASELINE_SLICES 60
#define WARM_STACKS	500		    /* at a time */
#define AGES_NS		((uint64_t)1 << 62) /* time of an inventory: its times are ages */
#define SINGLES_MAX	10000		    /* slices; no honest clock makes so short ones */
#define SUM_CELLS_MAX	1000000 /* of slices that are joined; then the next one begins */

/* Slices that are joined into one. */
struct feeder_sum {
	struct celltable table;
	struct profile_health health;
	struct feeder_stretch stretch;
};

/* What was in the shards. Nonsense counts as none. */
static void feed_inventory(struct feeder *f, uint32_t n)
{
	struct inventory *inv = NULL;
	struct cursor content;
	uint32_t number = session_names_state(f->names, SESSION_INVENTORY, n, &content);

	if (number == f->inventory)
		return;
	f->inventory = number;
	if (number != FEEDER_NONE && session_inventory_take(&content, AGES_NS, &inv))
		inv = NULL;
	board_set_inventory(profile_board(f->profile), inv);
}

/* The walk that was captured last, likewise. */
static void feed_walk(struct feeder *f, uint32_t n)
{
	struct inspection *walk = NULL;
	struct cursor content;
	uint32_t number = session_names_state(f->names, SESSION_WALK, n, &content);

	if (number == f->walk)
		return;
	f->walk = number;
	if (number != FEEDER_NONE && session_walk_take(&content, &walk))
		walk = NULL;
	board_set_inspection(profile_board(f->profile), walk);
}

/* --- slices ---------------------------------------------------------------------------------- */

/* False: slice n is of another event than those before. */
static bool stretch_goes_on(struct feeder_stretch *s, const char *event, uint32_t n)
{
	if (s->begun)
		return !strcmp(s->event, event);
	s->begun = true;
	s->first = n;
	snprintf(s->event, sizeof(s->event), "%s", event);
	return true;
}

/* Before slice n is fed; the profile's lock is held. */
static void stretch_enter(struct feeder *f, const char *event, uint32_t n)
{
	if (stretch_goes_on(&f->stretch, event, n) && !f->stretch.cut)
		return;
	profile_rewind(f->profile);
	f->books++;
	f->stretch = (struct feeder_stretch){0};
	stretch_goes_on(&f->stretch, event, n);
}

int feeder_slice(struct feeder *f, uint32_t n, bool quiet)
{
	struct session_slice slice;
	int err = session_read(f->session, n, &slice);

	if (!err)
		err = GROW_TO(f->cells, slice.ncells, f->cells_room, SIZE_MAX);
	if (err)
		return err;
	if (!quiet) {
		feed_inventory(f, n);
		feed_walk(f, n);
	}
	profile_lock(f->profile);
	stretch_enter(f, slice.health.event, n);
	f->round++;
	err = feeder_lines(f, n, n + 1);
	if (!err)
		err = feeder_changes(f, n);
	for (size_t i = 0; i < slice.ncells && !err; i++)
		err = feeder_cell(f, &slice.cells[i], n, &f->cells[i]);
	if (!err)
		err = profile_commit(f->profile, f->cells, slice.ncells, &slice.health);
	if (!err)
		err = profile_cpu_use(f->profile, slice.use, slice.nuse);
	for (size_t i = 0; i < slice.nmessages && !err && !quiet; i++)
		board_message(profile_board(f->profile), slice.messages[i].level, "%s",
			      slice.messages[i].text);
	profile_unlock(f->profile);
	return err;
}

/* The figures of a slice without its samples, for the timeline. */
static int feed_health(struct feeder *f, uint32_t n)
{
	struct session_slice slice;
	int err = session_read(f->session, n, &slice);

	if (err)
		return err;
	profile_lock(f->profile);
	err = profile_commit(f->profile, NULL, 0, &slice.health);
	if (!err)
		err = profile_cpu_use(f->profile, slice.use, slice.nuse);
	profile_unlock(f->profile);
	return err;
}

/* Slices from..to - 1, or as many as fit and are of one event; *end is behind the last. */
static int sum_slices(struct feeder *f, uint32_t from, uint32_t to, uint32_t figures,
		      struct feeder_sum *sum, uint32_t *end)
{
	struct celltable *table = &sum->table;
	struct session_slice slice;
	uint32_t n;

	for (n = from; n < to && table->count < SUM_CELLS_MAX; n++) {
		int err = session_read(f->session, n, &slice);

		if (!err && !stretch_goes_on(&sum->stretch, slice.health.event, n))
			break;
		if (!err && celltable_reserve(table, table->count + slice.ncells))
			err = -ENOMEM;
		if (err)
			return err;
		for (size_t i = 0; i < slice.ncells; i++) {
			const struct profile_cell *cell = &slice.cells[i];

			celltable_add(table, &(struct cell){.proc = cell->proc,
							    .ustack = cell->ustack,
							    .kstack = cell->kstack,
							    .count = cell->count,
							    .weight = profile_weight(&slice.health,
										     cell)});
		}
		if (n < figures)
			profile_health_add(&sum->health, &slice.health);
	}
	*end = n;
	return 0;
}

/* For a table of the session's ids; the profile's lock is held. */
static int feed_table(struct feeder *f, const struct celltable *table, uint32_t n)
{
	int err = 0;

	f->round++;
	for (size_t i = 0; i < table->count && !err; i++) {
		const struct cell *cell = &table->cells[i];
		struct profile_cell one = {.proc = cell->proc,
					   .ustack = cell->ustack,
					   .kstack = cell->kstack,
					   .count = cell->count,
					   .weight = cell->weight};

		err = feeder_cell(f, &one, n, &f->cells[i]);
	}
	return err;
}

/* Sums of slices from..n. */
static int commit_sum(struct feeder *f, const struct feeder_sum *sum, uint32_t from, uint32_t n)
{
	int err = GROW_TO(f->cells, sum->table.count, f->cells_room, SIZE_MAX);

	if (err)
		return err;
	profile_lock(f->profile);
	stretch_enter(f, sum->stretch.event, from);
	err = feeder_lines(f, from, n + 1);
	if (!err)
		err = feed_table(f, &sum->table, n);
	if (!err)
		err = profile_commit(f->profile, f->cells, sum->table.count, &sum->health);
	profile_unlock(f->profile);
	return err;
}

/* Only those of the last event, if there are several. */
static int sum_all(struct feeder *f, const atomic_bool *stop, struct feeder_sum *sum)
{
	uint32_t count = session_slices(f->session), at = 0;
	int err = 0;

	/* A few at a time, so that *stop is checked often. */
	while (at < count && !err) {
		uint32_t to = count - at > BASELINE_SLICES ? at + BASELINE_SLICES : count;

		err = sum_slices(f, at, to, to, sum, &at);
		if (!err && at < to && sum->table.count >= SUM_CELLS_MAX) {
			err = -EFBIG;
		} else if (!err && at < to) {
			celltable_clear(&sum->table);
			sum->health = (struct profile_health){0};
			sum->stretch.begun = false;
		}
		if (atomic_load(stop))
			err = -ECANCELED;
	}
	return err;
}

/* Reports what is left out; the profile's lock is held. */
static void tell_stretch(struct feeder *f, const struct feeder_stretch *s)
{
	if (s->first)
		board_message(profile_board(f->profile), MESSAGE_WARNING,
			      "the baseline changes its event: only its samples of %s, from %.1f "
			      "s on, are compared",
			      s->event,
			      (double)session_time(f->session, s->first - 1) / (double)NS_PER_SEC);
}

int feeder_baseline(struct feeder *f, const atomic_bool *stop)
{
	struct feeder_sum sum = {0};
	int err;

	f->recorded = true;
	/* In parts, so that other threads do not wait long for the profile's lock. */
	while (!atomic_load(stop) && feeder_warm(f))
		;
	err = sum_all(f, stop, &sum);
	if (!err)
		err = GROW_TO(f->cells, sum.table.count, f->cells_room, SIZE_MAX);
	if (!err) {
		profile_lock(f->profile);
		err = feed_table(f, &sum.table, session_slices(f->session) - 1);
		if (!err)
			err = frozen_sum_recorded(f->profile, f->cells, sum.table.count,
						  &sum.health);
		if (!err)
			tell_stretch(f, &sum.stretch);
		profile_unlock(f->profile);
	}
	celltable_free(&sum.table);
	return err;
}

/* Slices from..to - 1 as one, but with the figures of those before `figures` only. */
static int feed_sum(struct feeder *f, uint32_t from, uint32_t to, uint32_t figures)
{
	int err = 0;

	while (from < to && !err) {
		struct feeder_sum sum = {0};
		uint32_t end = from;

		err = sum_slices(f, from, to, figures, &sum, &end);
		/* What is in front of another event would be dropped right then. */
		if (!err && end < to && sum.table.count < SUM_CELLS_MAX)
			f->stretch.cut = true;
		else if (!err)
			err = commit_sum(f, &sum, from, end - 1);
		from = end;
		celltable_free(&sum.table);
	}
	return err;
}

static void rewind_all(struct feeder *f)
{
	profile_lock(f->profile);
	profile_rewind(f->profile);
	profile_unlock(f->profile);
	f->books++;
	f->stretch.begun = false;
	for (uint32_t i = 0; i < session_names_counts(f->names).funcs; i++)
		f->lines[i] = FEEDER_NONE;
}

int feeder_go(struct feeder *f, uint32_t first, uint32_t from, uint32_t next)
{
	uint64_t end = session_time(f->session, next - 1), alone;
	uint32_t single = next, figures;
	int err = 0;

	/* The window and the time before, and some more, are fed slice by slice. */
	profile_lock(f->profile);
	alone = (2 * profile_window(f->profile) + 5) * NS_PER_SEC;
	profile_unlock(f->profile);
	if (next < from) {
		rewind_all(f);
		from = first;
	}
	while (single > from && next - single < SINGLES_MAX &&
	       end - session_time(f->session, single - 1) < alone)
		single--;
	figures = next > TIMELINE_SHOWN && next - TIMELINE_SHOWN > from ? next - TIMELINE_SHOWN
									: from;
	if (figures > single)
		figures = single;
	if (single > from)
		err = feed_sum(f, from, single, figures);
	if (figures < f->stretch.first && single > from)
		figures = f->stretch.first;
	for (uint32_t n = figures; n < single && !err; n++)
		err = feed_health(f, n);
	for (uint32_t n = single; n < next && !err; n++)
		err = feeder_slice(f, n, n + 1 < next);
	return err;
}

bool feeder_warm(struct feeder *f)
{
	uint32_t count = session_names_counts(f->names).stacks;
	uint32_t end = count - f->warm > WARM_STACKS ? f->warm + WARM_STACKS : count;

	/* Half of the room is for what will be shown. */
	if (f->warm == count || f->memory > FEEDER_NAMES_MAX / 2)
		return false;
	profile_lock(f->profile);
	while (f->warm < end && feeder_stack(f, f->warm) >= 0)
		f->warm++;
	profile_unlock(f->profile);
	/* Without memory nothing is lost. */
	f->warm = f->warm < end ? count : end;
	return true;
}

/* --- made and freed -------------------------------------------------------------------------- */

static uint32_t *ids_new(uint32_t count)
{
	uint32_t *ids = malloc(((size_t)count + 1) * sizeof(*ids));

	if (ids)
		memset(ids, 0xff, ((size_t)count + 1) * sizeof(*ids));
	return ids;
}

static struct feeder_proc *procs_new(uint32_t count)
{
	struct feeder_proc *procs = malloc(((size_t)count + 1) * sizeof(*procs));

	for (uint32_t i = 0; procs && i < count; i++)
		procs[i] = (struct feeder_proc){.thread = FEEDER_NONE};
	return procs;
}

/* Without memory some stay unknown. */
void feeder_modules(struct feeder *f)
{
	const char *module, *build;

	profile_lock(f->profile);
	for (uint32_t i = 0; i < session_names_counts(f->names).modules; i++) {
		session_names_module(f->names, i, &module, &build);
		if (profile_module(f->profile, module, build))
			break;
	}
	profile_unlock(f->profile);
}

int feeder_new(struct profile *p, struct session *s, struct feeder **out)
{
	struct feeder *f = calloc(1, sizeof(*f));
	struct session_counts counts;

	*out = NULL;
	if (!f)
		return -ENOMEM;
	f->profile = p;
	f->session = s;
	f->names = session_all_names(s);
	f->inventory = f->walk = FEEDER_NONE;
	counts = session_names_counts(f->names);
	f->funcs = ids_new(counts.funcs);
	f->stacks = ids_new(counts.stacks);
	f->lines = ids_new(counts.funcs);
	f->procs = procs_new(counts.procs);
	if (!f->funcs || !f->stacks || !f->lines || !f->procs) {
		feeder_free(f);
		return -ENOMEM;
	}
	*out = f;
	return 0;
}

void feeder_free(struct feeder *f)
{
	if (!f)
		return;
	profile_lock(f->profile);
	for (uint32_t i = 0; f->stacks && i < session_names_counts(f->names).stacks; i++)
		if (f->stacks[i] != FEEDER_NONE)
			profile_stack_put(f->profile, f->stacks[i]);
	profile_unlock(f->profile);
	free(f->funcs);
	free(f->stacks);
	free(f->lines);
	free(f->procs);
	free(f->cells);
	free(f);
}
