// SPDX-License-Identifier: GPL-2.0-or-later
/* See treepath.h. Without recursion: a tree is as deep as the deepest stack. */
#include "tui/views/treepath.h"

#include "tui/query/query.h"

static uint32_t child_on(const struct treepath *path, const struct tree *tree, uint32_t node,
			 uint32_t depth)
{
	uint32_t c = tree->nodes[node].first_child;

	while (c && tree->nodes[c].path != path->hash[depth])
		c = tree->nodes[c].next;
	return c;
}

uint32_t treepath_node(const struct treepath *path, const struct tree *tree)
{
	uint32_t node = 0;

	for (uint32_t i = 0; tree->count && i < path->depth; i++) {
		uint32_t c = child_on(path, tree, node, i);

		if (!c)
			break;
		node = c;
	}
	return node;
}

void treepath_set(struct treepath *path, const struct tree *tree, uint32_t node)
{
	uint32_t depth = 0;

	for (uint32_t at = node; at; at = tree->nodes[at].parent)
		depth++;
	for (; depth > TREEPATH_MAX; depth--)
		node = tree->nodes[node].parent;
	path->depth = depth;
	for (uint32_t at = node; at; at = tree->nodes[at].parent)
		path->hash[--depth] = tree->nodes[at].path;
}

bool treepath_below(const struct tree *tree, uint32_t node, uint32_t top)
{
	while (node && node != top)
		node = tree->nodes[node].parent;
	return node == top;
}

int treepath_grow(const struct treepath *path, struct tree_part *part)
{
	const struct tree *tree = query_part_tree(part);
	uint32_t node = 0, depth = 0;
	int err;

	for (;;) {
		uint32_t c;

		err = query_part_children(part, node);
		if (err || depth == path->depth)
			return err;
		c = child_on(path, tree, node, depth++);
		if (!c)
			return 0;
		node = c;
	}
}

/* --- search ---------------------------------------------------------------------------------- */

static int go_on(struct tree_part *part, uint32_t *node, uint32_t top)
{
	const struct tree *tree = query_part_tree(part);
	int err = query_part_children(part, *node);

	if (err)
		return err;
	if (tree->nodes[*node].first_child) {
		*node = tree->nodes[*node].first_child;
		return 0;
	}
	while (*node != top && !tree->nodes[*node].next)
		*node = tree->nodes[*node].parent;
	if (*node != top)
		*node = tree->nodes[*node].next;
	return 0;
}

static int go_back(struct tree_part *part, uint32_t *node, uint32_t top)
{
	const struct tree *tree = query_part_tree(part);

	if (*node != top) {
		uint32_t parent = tree->nodes[*node].parent;

		if (*node == tree->nodes[parent].first_child) {
			*node = parent;
			return 0;
		}
		--*node;
	}
	for (;;) {
		int err = query_part_children(part, *node);

		if (err || !tree->nodes[*node].nchildren)
			return err;
		*node = tree->nodes[*node].first_child + tree->nodes[*node].nchildren - 1;
	}
}

int treepath_find(struct tree_part *part, uint32_t node, uint32_t top, int step, bool here,
		  bool (*matches)(uint32_t func, void *arg), void *arg, uint32_t *found)
{
	const struct tree *tree = query_part_tree(part);
	bool itself = here && node && matches(tree->nodes[node].func, arg);
	uint32_t at = node;
	int err = 0;

	*found = itself ? node : 0;
	if (itself && step > 0)
		return 0;
	do {
		err = step > 0 ? go_on(part, &at, top) : go_back(part, &at, top);
		if (!err && at != node && at && matches(tree->nodes[at].func, arg)) {
			*found = at;
			return 0;
		}
	} while (!err && at != node);
	return err;
}
