// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A whole tree from the sums of paths that are kept (query_paths.c): which nodes are part of it,
 * and which are put together where inlined calls are hidden.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tui/util/prefetch.h"
#include "tui/query/query_priv.h"

#define FUNCS_AHEAD 12 /* nodes */

#define MARK_SHOWN 1 /* the node has room in the answer */
#define MARK_MIXED 2 /* it has children of its own and those of inlined calls in it */
#define MARK_KEPT  4 /* it has samples, and is not too far below the rows */
#define MARK_EDGE  8 /* it has samples and is not kept, but its parent is */

struct shape {
	const struct profile *p;
	const struct query *q;
	const struct stacktrie *paths;
	const struct path_sum *sums; /* by node of the paths, as all that is not of the answer */
	struct path_sum *base;	     /* of the baseline; NULL: none */
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
	const struct stacktrie_node *nodes = s->paths->nodes;

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
	const struct stacktrie_node *nodes = s->paths->nodes;
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
	const struct stacktrie_node *nodes = s->paths->nodes;
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
	return query_path_end(s->p, s->q, s->paths->callers, cell, &to->node);
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
		const struct stacktrie_node *node = &s->paths->nodes[i];
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
	err = query_path_weigh(p, q, callers, &s.paths, &s.sums, &s.base);
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
