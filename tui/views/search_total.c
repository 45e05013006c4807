// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See search_total.h. Matches each name once, not in every refresh: a tree has far more nodes than
 * functions, and a refresh has few new names.
 */
#include "tui/views/search_total.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/views/calltree.h"
#include "tui/ui/ui.h"

#define PATTERN_COLUMNS 24

void search_total_free(struct search_total *f)
{
	match_cache_free(&f->funcs);
	f->pattern[0] = '\0';
}

static bool is_searched(const struct profile_func *func, void *arg)
{
	char name[256];

	names_show(func, name, sizeof(name));
	return search_matches(arg, name);
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

bool search_total_func(uint32_t func, void *arg)
{
	const struct search_total *f = arg;

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
		if (i && search_total_func(n->func, f)) {
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
		      const struct calltree *calls, struct grid *g, int row, int col)
{
	static const char label[] = "search: ";
	int pattern = grid_width(g, f->pattern), before, width, at;
	char text[96];

	/* The search may be of another view. */
	if (!ui->search.set || !search_total_counted(f, ui) || !f->sum.nodes)
		return g->cols;
	pattern = pattern < PATTERN_COLUMNS ? pattern : PATTERN_COLUMNS;
	before = (int)strlen(label) + pattern + 2;
	in_words(f, calls, " of samples", text, sizeof(text));
	if (col + 2 + before + grid_width(g, text) > g->cols)
		in_words(f, calls, "", text, sizeof(text));
	width = grid_width(g, text);
	if (col + 2 + before + width > g->cols)
		before = 0;
	at = g->cols - before - width;
	if (at < col + 2)
		return g->cols;
	if (before) {
		grid_put(g, row, at, before, ROLE_DIM, label);
		grid_fit(g, row, at + (int)strlen(label), pattern, ROLE_MATCH, f->pattern);
	}
	grid_put(g, row, at + before, width, ROLE_TEXT, text);
	return at;
}
