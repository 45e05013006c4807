// SPDX-License-Identifier: GPL-2.0-or-later
/* See treerows.h. */
#include "tui/views/treerows.h"

#include <errno.h>
#include <stdlib.h>

#include "symbols/base/grow.h"
#include "symbols/base/hash.h"
#include "tui/views/calltree.h"

#define NODES_MAX    32768
#define HOT	     0.02 /* share from which nodes are open at first */
#define REST_OF_PATH 0x9e3779b97f4a7c15ULL

struct row_maker {
	struct treerows *rows;
	const struct calltree *calls;
	struct openset *open;
};

bool treerows_small(const struct calltree *calls, uint32_t node)
{
	return calltree_share(calls, calls->tree.nodes[node].total) < calls->limit;
}

/* parent: row + 1; 0: the root. NULL: no memory. */
static struct tree_row *row_add(struct row_maker *m, uint32_t node, size_t parent, bool chained)
{
	struct treerows *rows = m->rows;
	struct tree_row *row;

	if (GROW(rows->row, rows->count, rows->room, SIZE_MAX))
		return NULL;
	row = &rows->row[rows->count++];
	*row = (struct tree_row){.node = node, .parent = (uint32_t)parent, .chained = chained};
	row->indent = (parent ? rows->row[parent - 1].indent : 0) + !chained;
	return row;
}

static int add_node(struct row_maker *m, uint32_t node, size_t parent, bool chained)
{
	const struct tree_node *n = &m->calls->tree.nodes[node];
	struct tree_row *row = row_add(m, node, parent, chained);
	bool hot = calltree_share(m->calls, n->total) >= HOT;

	if (!row)
		return -ENOMEM;
	row->path = n->path;
	row->self = n->self;
	row->total = n->total;
	row->more = n->next != 0;
	row->level = (parent ? m->rows->row[parent - 1].level : 0) + 1;
	if (n->first_child) {
		row->open = openset_get(m->open, n->path, row->level, hot);
		row->closed = !row->open;
	}
	return 0;
}

static int add_small(struct row_maker *m, uint32_t node, size_t parent, bool chained)
{
	const struct tree_node *nodes = m->calls->tree.nodes;
	struct tree_row *row = row_add(m, node, parent, chained);

	if (!row)
		return -ENOMEM;
	row->path = nodes[node].path ^ REST_OF_PATH;
	for (uint32_t c = nodes[node].first_child; c; c = nodes[c].next) {
		if (!treerows_small(m->calls, c))
			continue;
		row->small++;
		row->self += nodes[c].self;
		row->total += nodes[c].total;
	}
	return 0;
}

/* Children are sorted, so small ones come last. Without recursion: a tree is as deep as the deepest
 * stack. */
static int flatten(struct row_maker *m)
{
	const struct tree_node *nodes = m->calls->tree.nodes;
	uint32_t node = 0;
	size_t parent = 0; /* row + 1 of node, 0: the root */
	uint32_t child = nodes[0].first_child;

	for (;;) {
		uint32_t first = nodes[node].first_child;
		/* The children take one line: small ones come last. */
		bool chained = first && (!nodes[first].next || treerows_small(m->calls, first));

		if (child && !treerows_small(m->calls, child)) {
			if (add_node(m, child, parent, chained))
				return -ENOMEM;
			if (m->rows->row[m->rows->count - 1].open) {
				node = child;
				parent = m->rows->count;
				child = nodes[child].first_child;
			} else {
				child = nodes[child].next;
			}
			continue;
		}
		if (child && add_small(m, node, parent, chained))
			return -ENOMEM;
		if (parent == 0)
			return 0;
		child = nodes[node].next;
		parent = m->rows->row[parent - 1].parent;
		node = parent ? m->rows->row[parent - 1].node : 0;
	}
}

int treerows_make(struct treerows *rows, const struct calltree *calls, struct openset *open)
{
	struct row_maker m = {rows, calls, open};

	rows->count = 0;
	return calls->tree.count ? flatten(&m) : 0;
}

size_t treerows_all(const struct calltree *calls, uint32_t *order)
{
	const struct tree_node *nodes = calls->tree.nodes;
	uint32_t at = nodes[0].first_child;
	size_t n = 0;

	while (at && n < calls->tree.count) {
		if (!treerows_small(calls, at)) {
			order[n++] = at;
			if (nodes[at].first_child) {
				at = nodes[at].first_child;
				continue;
			}
		}
		while (at && !nodes[at].next)
			at = nodes[at].parent;
		at = at ? nodes[at].next : 0;
	}
	return n;
}

void treerows_open(const struct calltree *calls, struct openset *open, uint32_t top)
{
	const struct tree_node *nodes = calls->tree.nodes;
	uint32_t at = top;

	while (at) {
		if (nodes[at].first_child && openset_put(open, nodes[at].path, true))
			break;
		if (nodes[at].first_child && !treerows_small(calls, nodes[at].first_child)) {
			at = nodes[at].first_child;
			continue;
		}
		while (at != top && (!nodes[at].next || treerows_small(calls, nodes[at].next)))
			at = nodes[at].parent;
		if (at == top)
			break;
		at = nodes[at].next;
	}
}

/* --- which are open ------------------------------------------------------------------------ */

struct openset_node {
	uint64_t path;
	bool open, hashed;
	UT_hash_handle hh;
};

void openset_reset(struct openset *set, enum openset_mode mode)
{
	struct openset_node *node = set->nodes, *next;

	/* Frees the table; nodes keep their list. */
	HASH_CLEAR(hh, set->nodes);
	for (; node; node = next) {
		next = node->hh.next;
		free(node);
	}
	set->mode = mode;
}

void openset_depth(struct openset *set, uint32_t levels)
{
	openset_reset(set, OPENSET_DEPTH);
	set->levels = levels;
}

int openset_put(struct openset *set, uint64_t path, bool open)
{
	struct openset_node *node;

	HASH_FIND(hh, set->nodes, &path, sizeof(path), node);
	if (node) {
		node->open = open;
		return 0;
	}
	/* After days of changing load there may be more hot nodes than were ever shown. */
	if (HASH_COUNT(set->nodes) >= NODES_MAX)
		openset_reset(set, set->mode);
	node = calloc(1, sizeof(*node));
	if (!node)
		return -ENOMEM;
	*node = (struct openset_node){.path = path, .open = open, .hashed = true};
	HASH_ADD(hh, set->nodes, path, sizeof(node->path), node);
	if (!node->hashed) {
		free(node);
		return -ENOMEM;
	}
	return 0;
}

bool openset_get(struct openset *set, uint64_t path, uint32_t level, bool hot)
{
	struct openset_node *node;

	HASH_FIND(hh, set->nodes, &path, sizeof(path), node);
	if (node)
		return node->open;
	if (set->mode == OPENSET_ALL)
		return true;
	if (set->mode == OPENSET_DEPTH)
		return level < set->levels;
	/* Kept, so that the node stays open when it cools down. */
	return set->mode == OPENSET_HOT && hot && openset_put(set, path, true) == 0;
}
