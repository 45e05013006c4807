// SPDX-License-Identifier: GPL-2.0-or-later
/* See treepath.h. Without recursion: a tree is as deep as the deepest stack. */
#include "tui/views/treepath.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/ui/ui.h"
#include "tui/views/calltree.h"

#define PATTERN_COLUMNS 24

static uint32_t child_on(const struct treepath *path, const struct tree *tree, uint32_t node,
			 uint32_t depth)
{
	uint32_t c = tree->nodes[node].first_child;

	while (c && tree->nodes[c].path != path->hash[depth])
		c = tree->nodes[c].next;
	return c;
}

/* While only one process is seen, the root has its path. */
static uint32_t first_level(const struct treepath *path, const struct tree *tree)
{
	return tree->nodes[0].path && path->depth && path->hash[0] == tree->nodes[0].path;
}

uint32_t treepath_node(const struct treepath *path, const struct tree *tree)
{
	uint32_t node = 0;

	for (uint32_t i = tree->count ? first_level(path, tree) : 0; tree->count && i < path->depth;
	     i++) {
		uint32_t c = child_on(path, tree, node, i);

		if (!c)
			break;
		node = c;
	}
	return node;
}

void treepath_set(struct treepath *path, const struct tree *tree, uint32_t node)
{
	uint32_t depth = node && tree->nodes[0].path;

	for (uint32_t at = node; at; at = tree->nodes[at].parent)
		depth++;
	for (; depth > TREEPATH_MAX; depth--)
		node = tree->nodes[node].parent;
	path->depth = depth;
	for (uint32_t at = node; at; at = tree->nodes[at].parent)
		path->hash[--depth] = tree->nodes[at].path;
	if (depth)
		path->hash[0] = tree->nodes[0].path;
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
	uint32_t node = 0, depth = first_level(path, tree);
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
		  const struct search_total *f, uint32_t *found)
{
	const struct tree *tree = query_part_tree(part);
	bool itself = here && node && search_total_func(f, tree->nodes[node].func);
	uint32_t at = node;
	int err = 0;

	*found = itself ? node : 0;
	if (itself && step > 0)
		return 0;
	do {
		err = step > 0 ? go_on(part, &at, top) : go_back(part, &at, top);
		if (!err && at != node && at && search_total_func(f, tree->nodes[at].func)) {
			*found = at;
			return 0;
		}
	} while (!err && at != node);
	return err;
}

/* --- what it finds -------------------------------------------------------------------------- */

/* Matches each name once, not in every refresh: a tree has far more nodes than functions, and a
 * refresh has few new names. */
void search_total_free(struct search_total *f)
{
	match_cache_free(&f->funcs);
	f->pattern[0] = '\0';
}

static bool is_searched(const struct profile_func *func, void *arg)
{
	return search_matches_func(arg, func);
}

static const char *searched(const struct ui *ui)
{
	return ui->search.set ? ui->search.pattern : "";
}

int search_total_judge(struct search_total *f, const struct ui *ui, const struct profile *p)
{
	const char *pattern = searched(ui);

	f->sum = (struct query_found){0};
	if (strcmp(f->pattern, pattern) != 0)
		search_total_free(f);
	snprintf(f->pattern, sizeof(f->pattern), "%s", pattern);
	return pattern[0] ? query_judge_funcs(p, &f->funcs, is_searched, (void *)ui) : 0;
}

bool search_total_counted(const struct search_total *f, const struct ui *ui)
{
	return strcmp(f->pattern, searched(ui)) == 0;
}

bool search_total_func(const struct search_total *f, uint32_t func)
{
	return func < f->funcs.count && f->funcs.pass[func];
}

int search_total_in_part(struct search_total *f, struct tree_part *part, uint32_t top)
{
	return f->pattern[0] ? query_part_found(part, top, &f->funcs, &f->sum) : 0;
}

int search_total_in_tree(struct search_total *f, const struct tree *tree, uint32_t top)
{
	uint8_t *below, *with;

	f->sum = (struct query_found){0};
	if (!f->pattern[0] || !tree->count)
		return 0;
	below = calloc(tree->count, 2);
	if (!below)
		return -ENOMEM;
	with = below + tree->count;
	for (uint32_t i = 0; i < tree->count; i++) {
		const struct tree_node *n = &tree->nodes[i];

		below[i] = i == top || (i && below[n->parent]);
		if (!below[i])
			continue;
		with[i] = i != top && with[n->parent];
		if (i && search_total_func(f, n->func)) {
			f->sum.nodes++;
			with[i] = true;
		}
		f->sum.samples += with[i] ? n->self : 0;
	}
	free(below);
	return 0;
}

static void in_words(const struct search_total *f, const struct calltree *calls, const char *end,
		     char *to, size_t size)
{
	snprintf(to, size, "%u frame%s, %.1f%%%s ", f->sum.nodes, f->sum.nodes == 1 ? "" : "s",
		 100 * calltree_share(calls, f->sum.samples), end);
}

int search_total_draw(const struct search_total *f, const struct ui *ui,
		      const struct calltree *calls, struct grid *g, int row, int col, int end)
{
	static const char label[] = "search: ";
	int pattern = grid_width(g, f->pattern), before, width, at;
	char text[96];

	/* The search may be of another view. */
	if (!ui->search.set || !search_total_counted(f, ui) || !f->sum.nodes)
		return end;
	pattern = pattern < PATTERN_COLUMNS ? pattern : PATTERN_COLUMNS;
	before = (int)strlen(label) + pattern + 2;
	in_words(f, calls, " of samples", text, sizeof(text));
	if (col + 2 + before + grid_width(g, text) > end)
		in_words(f, calls, "", text, sizeof(text));
	width = grid_width(g, text);
	if (col + 2 + before + width > end)
		before = 0;
	at = end - before - width;
	if (at < col + 2)
		return end;
	if (before) {
		grid_put(g, row, at, before, ROLE_DIM, label);
		grid_fit(g, row, at + (int)strlen(label), pattern, ROLE_MATCH, f->pattern);
	}
	grid_put(g, row, at + before, width, ROLE_TEXT, text);
	return at;
}
