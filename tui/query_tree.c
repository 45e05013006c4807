/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call tree. A user stack that was met before is not walked again: its node is remembered, and
 * samples are added where they ended; totals flow up in one pass at the end, because a node always
 * has a higher number than its parent.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tui/query_priv.h"

#define TREE_NODES_MAX 200000u

struct grower {
	const struct profile *p;
	struct tree_node *nodes;
	uint32_t count;
	uint32_t room;
	struct idtable children; /* by parent and function */
	uint32_t *node_of;	 /* by user stack; 0: not walked yet */
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
	if (g->count >= TREE_NODES_MAX) {
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
		uint32_t child = node_child(g, node, stack->frames[i]);

		if (child == node || child == IDTABLE_NONE)
			return child;
		node = child;
	}
	return node;
}

static int grow_cell(const struct profile_cell *cell, void *arg)
{
	struct grower *g = arg;
	uint32_t node = 0;

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
	g->nodes[node].self += cell->count;
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

	g->cells = malloc((query_cell_count(g->p, q->weigh) + 1) * sizeof(*g->cells));
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

struct order {
	uint64_t total;
	uint64_t path;
	uint32_t id;
};

static int by_total(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return (x->path > y->path) - (x->path < y->path);
}

static void children_sort(struct tree_node *nodes, uint32_t parent, struct order *order)
{
	uint32_t n = 0, *link = &nodes[parent].first_child;

	for (uint32_t id = *link; id; id = nodes[id].next)
		order[n++] = (struct order){nodes[id].total, nodes[id].path, id};
	qsort(order, n, sizeof(*order), by_total);
	for (uint32_t i = 0; i < n; i++) {
		*link = order[i].id;
		link = &nodes[order[i].id].next;
	}
	*link = 0;
}

static int tree_link(struct grower *g)
{
	struct tree_node *nodes = g->nodes;
	uint32_t most = 0;
	struct order *order;

	for (uint32_t i = g->count; i-- > 0;) {
		struct tree_node *parent = &nodes[nodes[i].parent];

		nodes[i].total += nodes[i].self;
		if (!i)
			break;
		parent->total += nodes[i].total;
		nodes[i].next = parent->first_child;
		parent->first_child = i;
		if (++parent->nchildren > most)
			most = parent->nchildren;
	}
	order = malloc((most + 1) * sizeof(*order));
	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->count; i++) {
		if (nodes[i].nchildren > 1)
			children_sort(nodes, i, order);
	}
	free(order);
	return 0;
}

int query_tree(const struct profile *p, const struct query *q, struct tree *out)
{
	struct grower g = {.p = p, .count = 1, .room = 256};
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
	if (!err)
		err = tree_link(&g);
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
