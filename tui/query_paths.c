// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Answers from paths that are kept (paths.h) instead of from stacks that are walked again for each
 * question: a sample is added where its path ends, sums flow up in one pass, and what has samples
 * is the answer. Who has no screen asks once and is better served without (query_tree.c,
 * query_funcs.c), as is who has more paths than are kept.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tui/prefetch.h"
#include "tui/query_priv.h"

#define WALKS_MAX	(2 * PATHS_NODES_MAX)
#define FRAMES_OF_STACK 16   /* about */
#define FUNCS_AHEAD	12   /* nodes */
#define PORTION		4096 /* cells that are looked at ahead under one lock, ... */
#define PORTION_NODES	8192 /* ... or nodes that are made */

/* --- walks ----------------------------------------------------------------------------------- */

static void number_walk(const struct profile *p, uint32_t stack)
{
	if (stack != PROFILE_NO_STACK && !stack_at(p, stack)->walk)
		stack_at(p, stack)->walk = ++p->scratch->walks;
}

static int end_of_cell(const struct profile *p, struct paths *paths, uint32_t ustack,
		       uint32_t kstack, uint32_t *node)
{
	number_walk(p, ustack);
	number_walk(p, kstack);
	return paths_end(paths, p, ustack, kstack, node);
}

static struct paths *paths_of(const struct profile *p, bool callers)
{
	struct paths *paths = &p->scratch->paths[callers];

	paths->callers = callers;
	return paths;
}

static void forget(struct scratch *scratch, bool callers)
{
	paths_clear(&scratch->paths[callers]);
	scratch->forgot[callers] = true;
	scratch_stamp(scratch);
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
	struct cell_place *place = NULL;

	if (cell->count && at < table->nplaces) {
		scratch->place = &table->places[at];
		scratch->cell = cell;
		place = query_place(p, &all);
		see_cell(p, cell);
		scratch->place = NULL;
	}
	for (int callers = 0; callers < 2 && cell->count; callers++) {
		struct paths *paths = paths_of(p, callers);
		uint32_t before = paths->count, node = place ? place->ends[callers] : 0;
		int err = 0;

		if (!node && !scratch->too_many[callers] &&
		    (recent || before < PATHS_NODES_MAX / 2))
			err = end_of_cell(p, paths, cell->ustack, cell->kstack, &node);
		if (place && !err)
			place->ends[callers] = node;
		if (err) {
			/* The second time in a slice they are too many, not too old. */
			scratch->too_many[callers] = scratch->forgot[callers];
			forget(scratch, callers);
			scratch->prepared = 0;
			return false;
		}
		scratch->made += paths->count - before;
	}
	/* For all sums that have such cells. */
	if (place && query_has_id(p, cell))
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
		/* Who waits for the lock gets it only while nobody asks for it. */
		if (more)
			nanosleep(&pause, NULL);
	} while (more);
}

/* --- sums ------------------------------------------------------------------------------------ */

struct weigher {
	const struct profile *p;
	const struct query *q;
	struct paths *paths;
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

/* The end of the cell that the question is at. */
static int end_of_this(const struct profile *p, const struct query *q, struct paths *paths,
		       const struct profile_cell *cell, uint32_t *node)
{
	struct cell_place *place = query_place(p, q);
	int err = 0;

	*node = place ? place->ends[paths->callers] : 0;
	if (!*node)
		err = end_of_cell(p, paths, cell->ustack, cell->kstack, node);
	if (!err && place)
		place->ends[paths->callers] = *node;
	return err;
}

static int weigh_cell(const struct profile_cell *cell, void *arg)
{
	struct weigher *w = arg;
	uint32_t node;
	int err = end_of_this(w->p, w->q, w->paths, cell, &node);

	if (!err)
		err = sums_reserve(w, node);
	if (!err)
		(*w->sums)[node].self += cell->count;
	return err;
}

static void sum_up(const struct paths *paths, struct path_sum *sums)
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
	const struct paths_node *nodes = w->paths->nodes;
	bool *has = calloc((size_t)w->paths->count + 1, sizeof(*has));

	if (!has)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->paths->count; i++) {
		uint32_t func = nodes[i].func;

		if (i)
			has[i] = has[nodes[i].parent] ||
				 (func < sieve->nfuncs && sieve->funcs[func] &&
				  query_shows(w->p, w->q, func));
		if (has[i] == sieve->without)
			(*w->sums)[i].self = 0;
	}
	free(has);
	return 0;
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
	err = query_cells(w->p, &q, weigh_cell, w);
	if (!err)
		err = sums_reserve(w, w->paths->count);
	if (!err && filter && filter->funcs)
		err = sieve_paths(w, filter);
	return err;
}

static int weigh(const struct profile *p, const struct query *q, struct paths *paths,
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
static int weigh_all(const struct profile *p, const struct query *q, struct paths *paths,
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
static int weigh_anew(const struct profile *p, const struct query *q, struct paths *paths,
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

int query_path_sums(const struct profile *p, const struct query *q, const struct paths **paths,
		    const struct path_sum **sums)
{
	struct paths *down = paths_of(p, false);
	int err = weigh_anew(p, q, down, NULL, NULL);

	*paths = down;
	*sums = p->scratch->sums;
	return err;
}

int query_path_weigh(const struct profile *p, const struct query *q, bool callers,
		     const struct paths **paths, const struct path_sum **sums,
		     struct path_sum **base)
{
	struct paths *of = paths_of(p, callers);
	uint32_t nbase = 0;
	int err = weigh_anew(p, q, of, base, &nbase);

	*paths = of;
	*sums = p->scratch->sums;
	return err;
}

/* --- a tree ---------------------------------------------------------------------------------- */

#define MARK_SHOWN 1 /* the node has room in the answer */
#define MARK_MIXED 2 /* it has children of its own and those of inlined calls in it */
#define MARK_KEPT  4 /* it has samples, and is not too far below the rows */
#define MARK_EDGE  8 /* it has samples and is not kept, but its parent is */

struct shape {
	const struct profile *p;
	const struct query *q;
	struct paths *paths;
	const struct path_sum *sums; /* by node of the paths, as all that is not of the answer */
	struct path_sum *base;	     /* of the baseline; NULL: none */
	uint32_t nbase;
	uint8_t *marks;
	uint32_t *outer; /* where inlined calls are hidden: the node itself, or the first around it
			    that is none; else NULL */
	uint32_t *shown; /* the node in the answer that stands for it */
	struct idtable merged; /* nodes in the answer whose parent is mixed */
	struct shape_cell {
		uint64_t count;
		uint32_t node;
	} * cells;
	size_t ncells;
	bool crowded;  /* there is not room for all */
	double least;  /* nodes of fewer samples have no children */
	uint64_t most; /* of its own, of a node that is not kept */
	struct tree_node *nodes;
	uint32_t count, room;
};

static bool has_samples(const struct shape *s, uint32_t node)
{
	return s->sums[node].total || (s->base && s->base[node].total);
}

static bool is_hidden(const struct shape *s, uint32_t node)
{
	return s->outer && s->outer[node] != node;
}

/* Of the nodes that come soon: their functions lie everywhere. */
static void expect_func(const struct shape *s, uint32_t node)
{
	if (node + FUNCS_AHEAD < s->paths->count)
		prefetch_read(&func_at(s->p, s->paths->nodes[node + FUNCS_AHEAD].func)->hash);
}

/* What is inlined where. What is below a mixed node may be there twice, too. */
static void see_inlined(struct shape *s)
{
	const struct paths_node *nodes = s->paths->nodes;

	for (uint32_t i = 1; i < s->paths->count; i++) {
		bool shown = has_samples(s, i) && query_shows(s->p, s->q, nodes[i].func);

		expect_func(s, i);
		s->outer[i] = shown ? i : s->outer[nodes[i].parent];
		if (!shown && has_samples(s, i))
			s->marks[s->outer[i]] |= MARK_MIXED;
	}
	for (uint32_t i = 1; i < s->paths->count; i++)
		s->marks[i] |= s->marks[s->outer[nodes[i].parent]] & MARK_MIXED;
}

/* What is below a node that other calls are merged into may be more than it seems. */
static bool has_children(const struct shape *s, uint32_t node)
{
	uint32_t outer = s->outer ? s->outer[node] : node;

	return !outer || (double)s->sums[outer].total + 1 > s->least ||
	       s->marks[outer] & MARK_MIXED;
}

/* Which nodes are kept; returns how many are to be shown if there is room for all. */
static uint32_t shape_keep(struct shape *s)
{
	const struct paths_node *nodes = s->paths->nodes;
	uint32_t n = 1;

	s->marks[0] |= MARK_KEPT;
	for (uint32_t i = 1; i < s->paths->count; i++) {
		if (!has_samples(s, i))
			continue;
		if (s->marks[nodes[i].parent] & MARK_KEPT) {
			bool kept = has_children(s, nodes[i].parent);

			s->marks[i] |= kept ? MARK_KEPT : MARK_EDGE;
			n += kept && !is_hidden(s, i);
		}
		if (!(s->marks[i] & MARK_KEPT) && s->sums[i].self > s->most)
			s->most = s->sums[i].self;
	}
	return n;
}

/* The path to the node gets room from the root on, as far as there is. */
static void mark_path(struct shape *s, uint32_t node, uint32_t *left)
{
	const struct paths_node *nodes = s->paths->nodes;
	uint32_t more = 0;

	for (uint32_t at = node; at && !(s->marks[at] & MARK_SHOWN); at = nodes[at].parent)
		more += !is_hidden(s, at);
	for (; more > *left; node = nodes[node].parent)
		more -= !is_hidden(s, node);
	*left -= more;
	for (; node && !(s->marks[node] & MARK_SHOWN); node = nodes[node].parent)
		s->marks[node] |= MARK_SHOWN;
}

static int copy_end(const struct profile_cell *cell, void *arg)
{
	struct shape *s = arg;
	struct shape_cell *to = &s->cells[s->ncells++];

	to->count = cell->count;
	return end_of_this(s->p, s->q, s->paths, cell, &to->node);
}

static int by_count(const void *a, const void *b)
{
	const struct shape_cell *x = a, *y = b;

	return (x->count < y->count) - (x->count > y->count);
}

/* There is not room for all: the most frequent first, so that rare paths go without. */
static int mark_most(struct shape *s, const struct query *q, bool sorted, uint32_t *left)
{
	int err;

	free(s->cells);
	s->ncells = 0;
	s->cells = malloc((query_cell_count(s->p, q) + 1) * sizeof(*s->cells));
	if (!s->cells)
		return -ENOMEM;
	err = query_cells(s->p, q, copy_end, s);
	if (!err && sorted)
		qsort(s->cells, s->ncells, sizeof(*s->cells), by_count);
	for (size_t i = 0; i < s->ncells && !err && *left; i++)
		mark_path(s, s->cells[i].node, left);
	return err;
}

static int shape_mark(struct shape *s)
{
	uint32_t n, left = QUERY_TREE_MAX - 1;
	int err;

	if (s->outer)
		see_inlined(s);
	n = shape_keep(s);
	s->crowded = n > QUERY_TREE_MAX;
	s->room = s->crowded ? QUERY_TREE_MAX : n;
	if (!s->crowded)
		return 0;
	err = mark_most(s, s->q, true, &left);
	if (!err && s->base) {
		struct query baseline = query_of_baseline(s->q);

		err = mark_most(s, &baseline, false, &left);
	}
	return err;
}

static uint32_t add_node(struct shape *s, uint32_t parent, uint32_t func)
{
	s->nodes[s->count] = (struct tree_node){
		.func = func,
		.parent = parent,
		.path = idtable_mix(s->nodes[parent].path, func_at(s->p, func)->hash),
	};
	return s->count++;
}

/* A child of a node that other calls are inlined into may be there already. */
static uint32_t merge_node(struct shape *s, uint32_t parent, uint32_t func)
{
	uint32_t hash = (uint32_t)idtable_mix(parent, func), id;

	for (uint32_t at = hash; (id = idtable_next(&s->merged, hash, &at)) != IDTABLE_NONE;)
		if (s->nodes[id].parent == parent && s->nodes[id].func == func)
			return id;
	if (idtable_reserve(&s->merged, (size_t)s->merged.used + 1))
		return IDTABLE_NONE;
	idtable_add(&s->merged, hash, s->count);
	return add_node(s, parent, func);
}

static int shape_flatten(struct shape *s)
{
	s->nodes[0] = (struct tree_node){.func = UINT32_MAX};
	s->count = 1;
	s->shown[0] = 0;
	for (uint32_t i = 0; i < s->paths->count; i++) {
		const struct paths_node *node = &s->paths->nodes[i];
		uint32_t at;

		expect_func(s, i);
		if (!(s->marks[i] & (MARK_KEPT | MARK_EDGE)))
			continue;
		at = i ? s->shown[node->parent] : 0;
		if (s->marks[i] & MARK_EDGE) {
			s->nodes[at].total += s->sums[i].total;
			s->nodes[at].before += s->base ? s->base[i].total : 0;
			continue;
		}
		if (i && (!s->crowded || s->marks[i] & MARK_SHOWN) && !is_hidden(s, i))
			at = s->outer && s->marks[s->outer[node->parent]] & MARK_MIXED
				     ? merge_node(s, at, node->func)
				     : add_node(s, at, node->func);
		if (at == IDTABLE_NONE)
			return -ENOMEM;
		s->shown[i] = at;
		s->nodes[at].self += s->sums[i].self;
		if (s->base)
			s->nodes[at].before += s->base[i].self;
	}
	return 0;
}

static int shape_make(struct shape *s)
{
	/* Without any path there is the root of the answer all the same. */
	uint32_t n = s->paths->count ? s->paths->count : 1;
	int err;

	s->marks = calloc(n, sizeof(*s->marks));
	s->shown = malloc(n * sizeof(*s->shown));
	if (s->q->hide_inline)
		s->outer = calloc(n, sizeof(*s->outer));
	if (!s->marks || !s->shown || (s->q->hide_inline && !s->outer))
		return -ENOMEM;
	err = shape_mark(s);
	if (err)
		return err;
	s->nodes = malloc(s->room * sizeof(*s->nodes));
	return s->nodes ? shape_flatten(s) : -ENOMEM;
}

int query_tree_by_paths(const struct profile *p, const struct query *q, bool callers, double least,
			struct tree *out, uint64_t *most)
{
	struct shape s = {.p = p, .q = q, .least = least};
	int err;

	*out = (struct tree){0};
	s.paths = paths_of(p, callers);
	err = weigh_anew(p, q, s.paths, &s.base, &s.nbase);
	s.sums = p->scratch->sums;
	if (!err)
		err = shape_make(&s);
	if (!err)
		err = query_tree_link(s.nodes, s.count);
	if (!err) {
		*out = (struct tree){s.nodes, s.count};
		*most = s.most;
		s.nodes = NULL;
	}
	free(s.base);
	free(s.marks);
	free(s.outer);
	free(s.shown);
	free(s.cells);
	free(s.nodes);
	idtable_free(&s.merged);
	return err;
}
