// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Answers from paths that are kept (stacktrie.h) instead of from stacks that are walked again for
 * each question: a sample is added where its path ends, sums flow up in one pass, and what has
 * samples is the answer. Who has no screen asks once and is better served without (query_tree.c,
 * query_funcs.c), as is who has more paths than are kept.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tui/util/prefetch.h"
#include "tui/query/query_priv.h"

#define WALKS_MAX	(2 * STACKTRIE_NODES_MAX)
#define FRAMES_OF_STACK 16 /* about */
#define CELLS_AHEAD	12
#define TREES_TOLD	(1u << 12) /* of place_end.tree */
#define PLACE_NODES	(1u << 20) /* of place_end.node */
#define PORTION		4096	   /* cells that are looked at ahead under one lock, ... */
#define PORTION_NODES	8192	   /* ... or nodes that are made */

_Static_assert(STACKTRIE_NODES_MAX <= PLACE_NODES, "a place has room for each node");

/* --- walks ----------------------------------------------------------------------------------- */

static void number_walk(const struct profile *p, uint32_t stack)
{
	if (stack != PROFILE_NO_STACK && !stack_at(p, stack)->walk)
		stack_at(p, stack)->walk = ++p->scratch->walks;
}

static int end_of_cell(const struct profile *p, struct stacktrie *paths, uint32_t ustack,
		       uint32_t kstack, uint32_t *node)
{
	number_walk(p, ustack);
	number_walk(p, kstack);
	return stacktrie_end(paths, p, ustack, kstack, node);
}

static struct stacktrie *paths_of(const struct profile *p, bool callers)
{
	struct stacktrie *paths = &p->scratch->paths[callers];

	paths->callers = callers;
	return paths;
}

/* Ends in the other tree, and what else is known of cells, still hold. */
static void forget(struct scratch *scratch, bool callers)
{
	stacktrie_clear(&scratch->paths[callers]);
	scratch->forgot[callers] = true;
	scratch->prepared = 0;
	scratch->trees[callers] = (scratch->trees[callers] + 1) % TREES_TOLD;
	if (!scratch->trees[callers])
		scratch_stamp(scratch);
}

static void end_keep(const struct scratch *scratch, struct cell_place *place, bool callers,
		     uint32_t node)
{
	place->ends[callers].node = node % PLACE_NODES;
	place->ends[callers].tree = scratch->trees[callers] % TREES_TOLD;
}

void query_paths_renew(struct profile *p)
{
	struct scratch *scratch = p->scratch;
	bool old = scratch->walks > WALKS_MAX;

	scratch->prepared = 0;
	for (int callers = 0; callers < 2; callers++) {
		scratch->too_many[callers] = scratch->forgot[callers] = false;
		if (old)
			forget(scratch, callers);
	}
	for (uint32_t i = 0; old && i < p->stacks.count; i++)
		stack_at(p, i)->walk = 0;
	if (old)
		scratch->walks = 0;
}

/* --- ahead of questions ---------------------------------------------------------------------- */

static const struct query all = {.proc = QUERY_ALL};

/* What is beside the paths. */
static void see_cell(const struct profile *p, const struct cell *cell)
{
	const struct profile_cell raw = {cell->proc, 0, cell->ustack, cell->kstack, cell->count, 0};

	query_leaf(p, &all, &raw);
	query_complete(p, &all, &raw);
}

/* False: that is enough for this time. */
static bool prepare_cell(struct profile *p, struct celltable *table, size_t at, bool recent)
{
	const struct cell *cell = &table->cells[at];
	struct scratch *scratch = p->scratch;
	struct cell_place *place = NULL, *known = NULL;

	/* The totals have no places before a question needs them, but many of their cells are
	 * those of slices. */
	if (at < table->nplaces)
		known = &table->places[at];
	else if (query_has_id(p, cell))
		known = &p->ids.at[cell->id].place;
	if (cell->count && known) {
		scratch->place = known;
		scratch->cell = cell;
		place = query_place(p, &all);
		see_cell(p, cell);
		scratch->place = NULL;
	}
	for (int callers = 0; callers < 2 && cell->count; callers++) {
		struct stacktrie *paths = paths_of(p, callers);
		uint32_t before = paths->count;
		uint32_t node = place ? query_end_known(scratch, place, callers) : 0;
		int err = 0;

		if (!node && !scratch->too_many[callers] &&
		    (recent || before < STACKTRIE_NODES_MAX / 2))
			err = end_of_cell(p, paths, cell->ustack, cell->kstack, &node);
		if (place && !err)
			end_keep(scratch, place, callers, node);
		if (err) {
			/* The second time in a slice they are too many, not too old. */
			scratch->too_many[callers] = scratch->forgot[callers];
			forget(scratch, callers);
			return false;
		}
		scratch->made += paths->count - before;
	}
	/* For all sums that have such cells. */
	if (place && at < table->nplaces && query_has_id(p, cell))
		p->ids.at[cell->id].place = *place;
	return scratch->made < PORTION_NODES;
}

/* True: there is more to see to. */
static bool prepare_some(struct profile *p)
{
	struct scratch *scratch = p->scratch;
	size_t recent = p->sliding.count, end = recent;
	bool more = p->keep_ns != 0;

	/* What is not recent was met when it was. */
	if (scratch->forgot[0] || scratch->forgot[1])
		end += p->totals.count;
	scratch->made = 0;
	if (scratch->prepared_stamp != scratch->stamp)
		scratch->prepared = 0;
	scratch->prepared_stamp = scratch->stamp;
	if (more)
		celltable_places(&p->sliding);
	for (int i = 0; more && i < PORTION && scratch->prepared < end; i++) {
		size_t at = scratch->prepared++;

		more = at < recent ? prepare_cell(p, &p->sliding, at, true)
				   : prepare_cell(p, &p->totals, at - recent, false);
	}
	return p->keep_ns && scratch->prepared < end;
}

void profile_prepare(struct profile *p)
{
	static const struct timespec pause = {.tv_nsec = 50000};
	bool more;

	do {
		profile_lock(p);
		more = prepare_some(p);
		profile_unlock(p);
		/* Without a pause this thread retakes the lock before a waiting one wakes up. */
		if (more)
			nanosleep(&pause, NULL);
	} while (more);
}

/* --- sums ------------------------------------------------------------------------------------ */

struct weigher {
	const struct profile *p;
	const struct query *q;
	struct stacktrie *paths;
	struct path_sum **sums;
	uint32_t *room;
};

static int sums_reserve(struct weigher *w, uint32_t node)
{
	uint32_t room = node + node / 2 + 256;
	struct path_sum *grown;

	if (node < *w->room)
		return 0;
	grown = reallocarray(*w->sums, room, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	memset(grown + *w->room, 0, (room - *w->room) * sizeof(*grown));
	*w->sums = grown;
	*w->room = room;
	return 0;
}

/* What is known of the cell that is visited by its number: there may be a tree since its place was
 * filled. */
static uint32_t end_by_id(const struct profile *p, bool callers)
{
	const struct cell *cell = p->scratch->cell;

	return query_has_id(p, cell)
		       ? query_end_known(p->scratch, &p->ids.at[cell->id].place, callers)
		       : 0;
}

int query_path_end(const struct profile *p, const struct query *q, bool callers,
		   const struct profile_cell *cell, uint32_t *node)
{
	struct stacktrie *paths = paths_of(p, callers);
	struct cell_place *place = query_place(p, q);
	int err = 0;

	*node = place ? query_end_known(p->scratch, place, paths->callers) : 0;
	if (!*node && place)
		*node = end_by_id(p, paths->callers);
	if (!*node)
		err = end_of_cell(p, paths, cell->ustack, cell->kstack, node);
	if (!err && place)
		end_keep(p->scratch, place, paths->callers, *node);
	return err;
}

static int weigh_cell(const struct profile_cell *cell, void *arg)
{
	struct weigher *w = arg;
	uint32_t node;
	int err = query_path_end(w->p, w->q, w->paths->callers, cell, &node);

	if (!err)
		err = sums_reserve(w, node);
	if (!err)
		(*w->sums)[node].self += cell->count;
	return err;
}

/* What cells that come soon need: sums lie everywhere, as does what is known by their numbers. */
static void expect_sum(const struct weigher *w, const struct celltable *table,
		       const struct cell_place *places, size_t at)
{
	const struct profile *p = w->p;
	const struct cell *cell;
	uint32_t node;

	if (at + CELLS_AHEAD >= table->count)
		return;
	cell = &table->cells[at + CELLS_AHEAD];
	node = query_end_known(p->scratch, &places[at + CELLS_AHEAD], w->paths->callers);
	if (node && node < *w->room)
		prefetch_write(&(*w->sums)[node]);
	else if (cell->count)
		query_expect_id(p, cell->id);
}

/* The same as weigh_cell for each cell of a table, of which none is left out or has hidden frames.
 */
static int weigh_table(struct weigher *w, struct celltable *table, struct cell_place *places)
{
	struct scratch *scratch = w->p->scratch;
	int err = sums_reserve(w, w->paths->count);

	for (size_t i = 0; i < table->count && !err; i++) {
		const struct cell *from = &table->cells[i];
		uint32_t node = query_end_known(scratch, &places[i], w->paths->callers);

		expect_sum(w, table, places, i);
		if (!from->count)
			continue;
		if (node) {
			(*w->sums)[node].self += from->count;
		} else {
			struct profile_cell cell = {from->proc,	  0,	       from->ustack,
						    from->kstack, from->count, 0};

			scratch->place = &places[i];
			scratch->cell = from;
			err = weigh_cell(&cell, w);
			scratch->place = NULL;
		}
	}
	return err;
}

static int weigh_cells(struct weigher *w, const struct query *q)
{
	bool plain = query_takes_all(q) && !q->hide_kernel && q->proc == QUERY_ALL;
	struct celltable *table = plain ? query_table(w->p, q) : NULL;
	struct cell_place *places = table ? celltable_places(table) : NULL;

	return places ? weigh_table(w, table, places) : query_cells(w->p, q, weigh_cell, w);
}

static void sum_up(const struct stacktrie *paths, struct path_sum *sums)
{
	for (uint32_t i = paths->count; i-- > 1;) {
		sums[i].total += sums[i].self;
		sums[paths->nodes[i].parent].total += sums[i].total;
	}
	sums[0].total += sums[0].self;
}

/* A path has the functions of the cells that end there, so that they are judged once, node by node,
 * and not in each cell. */
static int sieve_paths(const struct weigher *w, const struct sieve *sieve)
{
	bool *has = query_sieve_nodes(w->p, w->q, sieve, w->paths);

	for (uint32_t i = 0; has && i < w->paths->count; i++)
		if (has[i] == sieve->without)
			(*w->sums)[i].self = 0;
	free(has);
	return has ? 0 : -ENOMEM;
}

static int weigh_once(struct weigher *w)
{
	const struct sieve *filter = w->q->filter;
	struct query q = *w->q;
	struct sieve rest = filter ? *filter : (struct sieve){0};
	int err;

	rest.funcs = NULL;
	if (filter)
		q.filter = &rest;
	if (*w->room)
		memset(*w->sums, 0, *w->room * sizeof(**w->sums));
	err = weigh_cells(w, &q);
	if (!err)
		err = sums_reserve(w, w->paths->count);
	if (!err && filter && filter->funcs)
		err = sieve_paths(w, filter);
	return err;
}

static int weigh(const struct profile *p, const struct query *q, struct stacktrie *paths,
		 struct path_sum **sums, uint32_t *room)
{
	struct weigher w = {p, q, paths, sums, room};
	int err = weigh_once(&w);

	if (!err)
		sum_up(paths, *sums);
	return err;
}

/* The question, and the same of the baseline where that is compared (base is NULL or to be freed).
 */
static int weigh_all(const struct profile *p, const struct query *q, struct stacktrie *paths,
		     struct path_sum **base, uint32_t *nbase)
{
	struct scratch *scratch = p->scratch;
	struct weigher sums = {p, q, paths, &scratch->sums, &scratch->nsums};
	struct query baseline = query_of_baseline(q);
	int err = weigh(p, q, paths, &scratch->sums, &scratch->nsums);

	if (!err && base && q->baseline) {
		err = weigh(p, &baseline, paths, base, nbase);
		if (!err)
			err = sums_reserve(&sums, paths->count);
	}
	return err;
}

/* Once more when what is kept was in the way, since that may be of stacks that are long gone. */
static int weigh_anew(const struct profile *p, const struct query *q, struct stacktrie *paths,
		      struct path_sum **base, uint32_t *nbase)
{
	struct scratch *scratch = p->scratch;
	int err = weigh_all(p, q, paths, base, nbase);

	if (err != -E2BIG)
		return err;
	forget(scratch, paths->callers);
	err = weigh_all(p, q, paths, base, nbase);
	if (err == -E2BIG) {
		scratch->too_many[paths->callers] = true;
		forget(scratch, paths->callers);
	}
	return err;
}

static int count_cell(const struct profile_cell *cell, void *arg)
{
	(void)cell;
	*(size_t *)arg += FRAMES_OF_STACK;
	return 0;
}

bool query_by_paths(const struct profile *p, const struct query *q, bool callers)
{
	size_t frames = 0;

	if (!p->keep_ns || p->scratch->too_many[callers])
		return false;
	if (q->proc == QUERY_ALL)
		return true;
	/* To walk a few stacks takes less than to look at all nodes. */
	query_raw(p, q, count_cell, &frames);
	return frames >= p->scratch->paths[callers].count;
}

int query_path_sums(const struct profile *p, const struct query *q, const struct stacktrie **paths,
		    const struct path_sum **sums)
{
	struct stacktrie *down = paths_of(p, false);
	int err = weigh_anew(p, q, down, NULL, NULL);

	*paths = down;
	*sums = p->scratch->sums;
	return err;
}

int query_path_weigh(const struct profile *p, const struct query *q, bool callers,
		     const struct stacktrie **paths, const struct path_sum **sums,
		     struct path_sum **base)
{
	struct stacktrie *of = paths_of(p, callers);
	uint32_t nbase = 0;
	int err = weigh_anew(p, q, of, base, &nbase);

	*paths = of;
	*sums = p->scratch->sums;
	return err;
}

int query_path_links(const struct profile *p, const struct stacktrie *paths,
		     const struct path_sum *base, const struct path_link **to)
{
	struct scratch *scratch = p->scratch;
	const struct path_sum *sums = scratch->sums;
	struct path_link *links = scratch->links;

	if (paths->count > scratch->nlinks) {
		links = reallocarray(links, paths->room, sizeof(*links));
		if (!links)
			return -ENOMEM;
		scratch->links = links;
		scratch->nlinks = paths->room;
	}
	links[0] = (struct path_link){0};
	/* Who has samples has a parent who has. */
	for (uint32_t i = 1; i < paths->count; i++) {
		struct path_link *parent = &links[paths->nodes[i].parent];

		if (!sums[i].total && !(base && base[i].total))
			continue;
		links[i] = (struct path_link){.next = parent->first_child};
		parent->first_child = i;
	}
	*to = links;
	return 0;
}
