// SPDX-License-Identifier: GPL-2.0-or-later
/* See treerows.h. */
#include "tui/views/treerows.h"

#include <errno.h>
#include <stdlib.h>

#include "symbols/base/grow.h"
#include "symbols/base/hash.h"
#include "tui/views/calltree.h"

#define NODES_MAX    65536
#define HOT	     0.02 /* share from which nodes are open at first */
#define REST_OF_PATH 0x9e3779b97f4a7c15ULL
#define UNFOLDED     0xd6e8feb86659fd93ULL /* of a path in the set: its run is */

struct openset_node {
	uint64_t path;
	bool open, hashed;
	UT_hash_handle hh;
};

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
	*row = (struct tree_row){.node = node,
				 .run = {.first = node, .last = node, .nodes = 1},
				 .parent = (uint32_t)parent,
				 .chained = chained};
	row->indent = (parent ? rows->row[parent - 1].indent : 0) + !chained;
	return row;
}

/* Sums up the small children of all nodes of the run. */
static struct tree_row sum_small(const struct calltree *calls, const struct treerun *run)
{
	const struct tree_node *nodes = calls->tree.nodes;
	struct tree_row sum = {0};
	uint32_t node = run->first;

	for (uint32_t i = 0; i < run->nodes; i++) {
		for (uint32_t c = nodes[node].first_child; c; c = nodes[c].next) {
			if (!treerows_small(calls, c))
				continue;
			sum.small++;
			sum.self += nodes[c].self;
			sum.total += nodes[c].total;
		}
		node = treerun_next(calls, node);
	}
	return sum;
}

static int add_run(struct row_maker *m, const struct treerun *run, size_t parent, bool chained)
{
	const struct tree_node *nodes = m->calls->tree.nodes;
	const struct tree_node *last = &nodes[run->last];
	struct tree_row *row = row_add(m, run->last, parent, chained);
	bool hot = calltree_share(m->calls, last->total) >= HOT;
	uint32_t node = run->first;

	if (!row)
		return -ENOMEM;
	row->run = *run;
	row->path = last->path;
	row->total = nodes[run->first].total;
	row->more = nodes[run->first].next != 0;
	row->level = (parent ? m->rows->row[parent - 1].level : 0) + run->nodes;
	for (uint32_t i = 0; i < run->nodes; i++) {
		row->self += nodes[node].self;
		node = treerun_next(m->calls, node);
	}
	if (last->first_child || (run->nodes > 1 && sum_small(m->calls, run).small)) {
		row->open = openset_get(m->open, last->path, row->level, hot);
		row->closed = !row->open;
	}
	return 0;
}

/* 1: the run of the node was unfolded, -1: folded, 0: neither. */
static int openset_fold(const struct openset *set, uint64_t path)
{
	const struct openset_node *node;

	path ^= UNFOLDED;
	HASH_FIND(hh, set->nodes, &path, sizeof(path), node);
	return !node ? 0 : node->open ? 1 : -1;
}

static bool is_unfolded(const struct row_maker *m, const struct treerun *run)
{
	const struct tree_node *nodes = m->calls->tree.nodes;
	const int first = openset_fold(m->open, nodes[run->first].path);
	const int last = openset_fold(m->open, nodes[run->last].path);

	if (first > 0 || last > 0)
		return true;
	return !first && !last && m->open->mode == OPENSET_ALL;
}

/* The run ends where a node was closed, or at the level down to which the tree is open. */
static struct treerun find_run(const struct row_maker *m, uint32_t first, uint32_t level)
{
	const uint32_t levels = m->open->mode == OPENSET_DEPTH ? m->open->levels : 0;
	struct treerun run = treerun_find(m->calls, first);
	uint32_t node = first;

	for (uint32_t i = 1; i < run.nodes; i++) {
		if (openset_closed(m->open, m->calls->tree.nodes[node].path) ||
		    (level < levels && level + i - 1 >= levels)) {
			run.nodes = i;
			run.last = node;
			/* What is left may be less than a turn of the recursion. */
			run.cycle = run.nodes < 2 * run.cycle ? 0 : run.cycle;
			break;
		}
		node = treerun_next(m->calls, node);
	}
	return run;
}

/* One row, or one for each frame of a run that is unfolded: all but the last are open. */
static int add_node(struct row_maker *m, uint32_t node, size_t parent, bool chained)
{
	const uint32_t level = (parent ? m->rows->row[parent - 1].level : 0) + 1;
	const struct treerun run = find_run(m, node, level);

	if (run.nodes == 1 || !is_unfolded(m, &run))
		return add_run(m, &run, parent, chained);
	for (uint32_t i = 0; i < run.nodes; i++) {
		const struct treerun one = {.first = node, .last = node, .nodes = 1};

		if (add_run(m, &one, parent, chained))
			return -ENOMEM;
		parent = m->rows->count;
		chained = true;
		m->rows->row[parent - 1].head = run.first;
		if (i + 1 < run.nodes) {
			m->rows->row[parent - 1].open = true;
			m->rows->row[parent - 1].closed = false;
		}
		node = treerun_next(m->calls, node);
	}
	return 0;
}

static int add_small(struct row_maker *m, uint32_t node, size_t parent, bool chained)
{
	const struct tree_node *nodes = m->calls->tree.nodes;
	const struct treerun run =
		parent ? m->rows->row[parent - 1].run : (struct treerun){.first = node, .nodes = 1};
	const struct tree_row sum = sum_small(m->calls, &run);
	struct tree_row *row;

	if (!sum.small)
		return 0;
	row = row_add(m, run.first, parent, chained);
	if (!row)
		return -ENOMEM;
	row->path = nodes[node].path ^ REST_OF_PATH;
	row->small = sum.small;
	row->self = sum.self;
	row->total = sum.total;
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
	const struct tree_row *row;

	for (;;) {
		uint32_t first = nodes[node].first_child;
		/* The children take one line: small ones come last. */
		bool chained = !first || !nodes[first].next || treerows_small(m->calls, first);

		if (child && !treerows_small(m->calls, child)) {
			if (add_node(m, child, parent, chained))
				return -ENOMEM;
			row = &m->rows->row[m->rows->count - 1];
			parent = row->open ? m->rows->count : row->parent;
			node = parent ? m->rows->row[parent - 1].node : 0;
			/* A run that is unfolded may have small children on the way. */
			child = row->open ? nodes[node].first_child : nodes[row->run.first].next;
			continue;
		}
		if (add_small(m, node, parent, chained))
			return -ENOMEM;
		if (parent == 0)
			return 0;
		child = nodes[m->rows->row[parent - 1].run.first].next;
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

size_t treerows_find(const struct treerows *rows, const struct calltree *calls, uint64_t path)
{
	const struct tree_node *nodes = calls->tree.nodes;

	for (size_t i = 0; i < rows->count; i++) {
		const struct treerun *run = &rows->row[i].run;
		uint32_t node = run->first;

		if (rows->row[i].path == path)
			return i;
		for (uint32_t n = 1; n < run->nodes; n++) {
			if (nodes[node].path == path)
				return i;
			node = treerun_next(calls, node);
		}
	}
	return rows->count;
}

/* All of its frames are marked: a run that becomes longer or shorter stays unfolded. */
int treerows_unfold(const struct treerows *rows, const struct calltree *calls, struct openset *open,
		    size_t row, bool unfold)
{
	const struct tree_row *of = &rows->row[row];
	const struct treerun run = of->head ? treerun_find(calls, of->head) : of->run;
	uint32_t node = run.first;
	int err = 0;

	for (uint32_t i = 0; i < run.nodes && !err; i++) {
		err = openset_put(open, calls->tree.nodes[node].path ^ UNFOLDED, unfold);
		node = treerun_next(calls, node);
	}
	return err;
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
		if (nodes[at].first_child && (openset_put(open, nodes[at].path, true) ||
					      openset_put(open, nodes[at].path ^ UNFOLDED, true)))
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

bool openset_closed(const struct openset *set, uint64_t path)
{
	const struct openset_node *node;

	HASH_FIND(hh, set->nodes, &path, sizeof(path), node);
	return node && !node->open;
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
