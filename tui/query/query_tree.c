/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call tree. A user stack that was met before is not walked again: its node is remembered, and
 * samples are added where they ended; totals flow up in one pass at the end, because a node always
 * has a higher number than its parent.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tui/util/prefetch.h"
#include "tui/query/query_priv.h"

struct grower {
	const struct profile *p;
	const struct query *q;
	struct tree_node *nodes;
	uint32_t count;
	uint32_t room;
	struct idtable children; /* by parent and function */
	uint32_t *node_of;	 /* by user stack; 0: not walked yet */
	bool callers;		 /* bottom up */
	bool baseline;		 /* which is what is added now */
	bool full;
	struct profile_cell *cells; /* for the second pass */
	size_t ncells;
};

static uint32_t node_new(struct grower *g, uint32_t parent, uint32_t func, uint32_t hash)
{
	uint32_t room = g->room * 2;
	struct tree_node *grown;

	if (idtable_reserve(&g->children, (size_t)g->count + 1))
		return IDTABLE_NONE;
	if (g->count == g->room) {
		grown = reallocarray(g->nodes, room, sizeof(*grown));
		if (!grown)
			return IDTABLE_NONE;
		g->nodes = grown;
		g->room = room;
	}
	g->nodes[g->count] = (struct tree_node){
		.func = func,
		.parent = parent,
		.path = idtable_mix(g->nodes[parent].path, func_at(g->p, func)->hash),
	};
	idtable_add(&g->children, hash, g->count);
	return g->count++;
}

/* The child, or the node itself when the tree is full; IDTABLE_NONE: no memory. */
static uint32_t node_child(struct grower *g, uint32_t parent, uint32_t func)
{
	uint32_t hash = (uint32_t)idtable_mix(parent, func), id;

	for (uint32_t at = hash; (id = idtable_next(&g->children, hash, &at)) != IDTABLE_NONE;) {
		if (g->nodes[id].parent == parent && g->nodes[id].func == func)
			return id;
	}
	if (g->count >= QUERY_TREE_MAX) {
		g->full = true;
		return parent;
	}
	return node_new(g, parent, func, hash);
}

/* Follows the frames; what has no room is counted where the path ends. */
static uint32_t node_walk(struct grower *g, uint32_t node, uint32_t id)
{
	const struct profile_stack *stack = &stack_at(g->p, id)->stack;

	for (uint32_t i = 0; i < stack->nframes; i++) {
		uint32_t frame = stack->frames[g->callers ? stack->nframes - 1 - i : i];
		uint32_t child;

		if (!query_shows(g->p, g->q, frame))
			continue;
		child = node_child(g, node, frame);
		if (child == node || child == IDTABLE_NONE)
			return child;
		node = child;
	}
	return node;
}

static void node_count(struct grower *g, uint32_t node, uint64_t count)
{
	*(g->baseline ? &g->nodes[node].before : &g->nodes[node].self) += count;
}

/* The kernel's frames were called by the user's. */
static int grow_up(struct grower *g, const struct profile_cell *cell)
{
	uint32_t node = 0;

	if (cell->kstack != PROFILE_NO_STACK)
		node = node_walk(g, node, cell->kstack);
	if (cell->ustack != PROFILE_NO_STACK && node != IDTABLE_NONE)
		node = node_walk(g, node, cell->ustack);
	if (node == IDTABLE_NONE)
		return -ENOMEM;
	node_count(g, node, cell->count);
	return 0;
}

static int grow_cell(const struct profile_cell *cell, void *arg)
{
	struct grower *g = arg;
	uint32_t node = 0;

	if (g->callers)
		return grow_up(g, cell);
	if (cell->ustack != PROFILE_NO_STACK) {
		node = g->node_of[cell->ustack];
		if (!node)
			node = node_walk(g, 0, cell->ustack);
		if (node == IDTABLE_NONE)
			return -ENOMEM;
		g->node_of[cell->ustack] = node;
	}
	if (cell->kstack != PROFILE_NO_STACK) {
		node = node_walk(g, node, cell->kstack);
		if (node == IDTABLE_NONE)
			return -ENOMEM;
	}
	node_count(g, node, cell->count);
	return 0;
}

static int copy_cell(const struct profile_cell *cell, void *arg)
{
	struct grower *g = arg;

	g->cells[g->ncells++] = *cell;
	return 0;
}

static int by_count(const void *a, const void *b)
{
	const struct profile_cell *x = a, *y = b;

	return (x->count < y->count) - (x->count > y->count);
}

/* There was not room for all: again, the most frequent first, so that rare paths go without. */
static int grow_again(struct grower *g, const struct query *q)
{
	int err = 0;

	g->cells = malloc((query_cell_count(g->p, q) + 1) * sizeof(*g->cells));
	if (!g->cells)
		return -ENOMEM;
	query_cells(g->p, q, copy_cell, g);
	qsort(g->cells, g->ncells, sizeof(*g->cells), by_count);

	g->count = 1;
	g->nodes[0].self = 0;
	idtable_clear(&g->children);
	memset(g->node_of, 0, g->p->stacks.count * sizeof(*g->node_of));
	for (size_t i = 0; i < g->ncells && !err; i++)
		err = grow_cell(&g->cells[i], g);
	return err;
}

static int by_total(const void *a, const void *b)
{
	const struct tree_order *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return (x->path > y->path) - (x->path < y->path);
}

#define FEW   16 /* are sorted without a call for each comparison */
#define AHEAD 12 /* nodes */

void query_tree_sort(struct tree_order *order, uint32_t n)
{
	if (n > FEW) {
		qsort(order, n, sizeof(*order), by_total);
		return;
	}
	for (uint32_t i = 1; i < n; i++) {
		struct tree_order one = order[i];
		uint32_t at = i;

		for (; at && by_total(&order[at - 1], &one) > 0; at--)
			order[at] = order[at - 1];
		order[at] = one;
	}
}

static void children_link(struct tree_node *nodes, uint32_t parent, const uint32_t *children,
			  struct tree_order *order)
{
	uint32_t n = nodes[parent].nchildren;

	nodes[parent].first_child = children[0];
	if (n == 1)
		return;
	for (uint32_t i = 0; i < n; i++)
		order[i] = (struct tree_order){nodes[children[i]].total, nodes[children[i]].path,
					       children[i]};
	query_tree_sort(order, n);
	nodes[parent].first_child = order[0].id;
	for (uint32_t i = 0; i + 1 < n; i++)
		nodes[order[i].id].next = order[i + 1].id;
}

/* Returns how many children a node has at most. */
static uint32_t sum_up(struct tree_node *nodes, uint32_t count)
{
	uint32_t most = 0;

	for (uint32_t i = count; i-- > 1;) {
		struct tree_node *parent = &nodes[nodes[i].parent];

		if (i > AHEAD)
			prefetch_write(&nodes[nodes[i - AHEAD].parent]);
		nodes[i].total += nodes[i].self;
		parent->total += nodes[i].total;
		parent->before += nodes[i].before;
		if (++parent->nchildren > most)
			most = parent->nchildren;
	}
	nodes[0].total += nodes[0].self;
	return most;
}

/* A list that leads from sibling to sibling would be waited for at each, so that children stand in
 * an array before they are linked. */
int query_tree_link(struct tree_node *nodes, uint32_t count)
{
	struct tree_order *order = malloc(((size_t)sum_up(nodes, count) + 1) * sizeof(*order));
	uint32_t *children = malloc((size_t)count * sizeof(*children));
	uint32_t *end = malloc((size_t)count * sizeof(*end)), n = 0;
	int err = order && children && end ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < count && !err; i++) {
		end[i] = n;
		n += nodes[i].nchildren;
	}
	for (uint32_t i = 1; i < count && !err; i++)
		children[end[nodes[i].parent]++] = i;
	for (uint32_t i = 0; i < count && !err; i++)
		if (nodes[i].nchildren)
			children_link(nodes, i, children + end[i] - nodes[i].nchildren, order);
	free(order);
	free(children);
	free(end);
	return err;
}

/* By walking every stack. */
static int grow(const struct profile *p, const struct query *q, bool callers, struct tree *out)
{
	struct grower g = {.p = p, .q = q, .count = 1, .room = 256, .callers = callers};
	int err = -ENOMEM;

	*out = (struct tree){0};
	g.nodes = malloc(g.room * sizeof(*g.nodes));
	g.node_of = calloc(p->stacks.count + 1, sizeof(*g.node_of));
	if (!g.nodes || !g.node_of)
		goto out;
	g.nodes[0] = (struct tree_node){.func = UINT32_MAX};
	err = query_cells(p, q, grow_cell, &g);
	if (!err && g.full)
		err = grow_again(&g, q);
	if (!err && q->baseline) {
		struct query baseline = query_of_baseline(q);

		g.baseline = true;
		err = query_cells(p, &baseline, grow_cell, &g);
	}
	if (!err)
		err = query_tree_link(g.nodes, g.count);
	if (err)
		goto out;
	*out = (struct tree){g.nodes, g.count};
	g.nodes = NULL;
out:
	idtable_free(&g.children);
	free(g.cells);
	free(g.node_of);
	free(g.nodes);
	return err;
}

int query_rows(const struct profile *p, const struct query *q, bool callers, double least,
	       struct tree *out, uint64_t *most)
{
	int err = -E2BIG;

	*most = 0;
	if (least > 0 && p->keep_ns)
		err = query_rows_in_part(p, q, callers, least, out, most);
	if (err == -E2BIG && query_by_paths(p, q, callers))
		err = query_tree_by_paths(p, q, callers, least, out, most);
	return err == -E2BIG ? grow(p, q, callers, out) : err;
}

int query_tree(const struct profile *p, const struct query *q, struct tree *out)
{
	uint64_t most;

	return query_rows(p, q, false, 0, out, &most);
}

int query_callers(const struct profile *p, const struct query *q, struct tree *out)
{
	uint64_t most;

	return query_rows(p, q, true, 0, out, &most);
}
