// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A tree of calls in words. A path without a branch is one row; the largest paths are listed, in
 * the order of the tree.
 */
#include "tui/views/calltree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "tui/ui/names.h"
#include "tui/ui/plain_list.h"
#include "tui/ui/ui.h"
#include "tui/views/treerun.h"

#define LINKS_MAX   4096 /* parts of a tree that are looked at */
#define CHAIN_SHOWN 4	 /* functions that are named of a path without a branch */

struct link { /* a path without a branch, or recursion */
	uint32_t first, last;
	uint32_t nodes, level;
	uint32_t cycle; /* see treerun.h */
	uint64_t total;
};

struct links {
	const struct calltree *calls;
	struct link *link;
	size_t count;
	uint64_t least; /* smaller ones are not looked at */
};

static uint32_t only_child(const struct calltree *calls, uint32_t node)
{
	const struct tree_node *n = &calls->tree.nodes[node];

	if (calltree_is_process(calls, node))
		return 0;
	return n->first_child && calls->tree.nodes[n->first_child].total == n->total
		       ? n->first_child
		       : 0;
}

static void add_run(struct link *link, struct treerun run)
{
	link->last = run.last;
	link->nodes += run.nodes;
	link->cycle = run.cycle;
}

/* Siblings are in order, so those behind a small one are small. */
static int find_links(struct links *l)
{
	const struct tree_node *nodes = l->calls->tree.nodes;
	/* Each turn takes one from the stack and puts two there at most. */
	struct open {
		uint32_t node, level;
	} *open = calloc(LINKS_MAX + 2, sizeof(*open));
	size_t depth = 0;

	if (!open)
		return -ENOMEM;
	if (l->calls->tree.count)
		open[depth++] = (struct open){nodes[0].first_child, 1};
	while (depth && l->count < LINKS_MAX) {
		struct open at = open[--depth];
		struct link *link = &l->link[l->count];
		uint32_t next;

		if (!at.node || !nodes[at.node].total || nodes[at.node].total < l->least)
			continue;
		*link = (struct link){
			.first = at.node, .level = at.level, .total = nodes[at.node].total};
		add_run(link, treerun_find(l->calls, at.node));
		while (!link->cycle && (next = only_child(l->calls, link->last))) {
			const struct treerun run = treerun_find(l->calls, next);

			if (run.cycle)
				break;
			add_run(link, run);
		}
		l->count++;
		open[depth++] = (struct open){nodes[at.node].next, at.level};
		open[depth++] = (struct open){nodes[link->last].first_child, at.level + 1};
	}
	free(open);
	return 0;
}

static int by_total(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x < *y) - (*x > *y);
}

/* The total of the smallest row, if there are more than the list takes. */
static int choose_least(struct links *l, uint64_t *least)
{
	uint64_t *totals = calloc(l->count + 1, sizeof(*totals));

	*least = 0;
	if (!totals)
		return -ENOMEM;
	for (size_t i = 0; i < l->count; i++)
		totals[i] = l->link[i].total;
	qsort(totals, l->count, sizeof(*totals), by_total);
	if (l->count > PLAIN_ROWS)
		*least = totals[PLAIN_ROWS - 1];
	free(totals);
	return 0;
}

static uint32_t next_in(const struct calltree *calls, uint32_t node)
{
	const uint32_t next = only_child(calls, node);

	return next ? next : treerun_next(calls, node);
}

/* process: what stands before the names of a level of processes. */
static void name_link(const struct calltree *calls, const struct link *link, const char *arrow,
		      const char *process, struct plain_row *row)
{
	const struct treerun run = {link->first, link->last, link->nodes, link->cycle};
	uint32_t at = link->first;
	size_t length = 0;

	if (run.cycle) {
		treerun_words(calls, &run, row->name, sizeof(row->name));
		return;
	}
	if (calltree_is_process(calls, link->first))
		length = (size_t)snprintf(row->name, sizeof(row->name), "%s", process);
	for (uint32_t i = 0; i < link->nodes && length < sizeof(row->name); i++) {
		char name[160];

		names_show(calltree_func(calls, at), name, sizeof(name));
		if (i + 2 == CHAIN_SHOWN && link->nodes > CHAIN_SHOWN) {
			uint32_t left = link->nodes - (CHAIN_SHOWN - 1);

			length += (size_t)snprintf(row->name + length, sizeof(row->name) - length,
						   "%s%u more", arrow, left);
			for (; i + 2 < link->nodes; i++)
				at = next_in(calls, at);
			at = next_in(calls, at);
			continue;
		}
		length += (size_t)snprintf(row->name + length, sizeof(row->name) - length, "%s%s",
					   i ? arrow : "", name);
		at = next_in(calls, at);
	}
}

static void add_links(const struct ui *ui, struct plain_list *list, const struct links *l,
		      uint64_t least, bool callers)
{
	const char *process = ui->grouping ? "" : "process ";

	for (size_t i = 0; i < l->count; i++) {
		const struct link *link = &l->link[i];
		const struct tree_node *first = &l->calls->tree.nodes[link->first];
		const struct tree_node *last = &l->calls->tree.nodes[link->last];
		struct plain_row *row;
		double before = calltree_before(l->calls, link->first);

		if (link->total < least) {
			list->whole++;
			continue;
		}
		row = plain_list_add(list, first->path,
				     100 * calltree_share(l->calls, link->total));
		if (!row)
			continue;
		name_link(l->calls, link, callers ? ", called by " : " calls ", process, row);
		plain_row_few(ui, row, link->total);
		if (link->cycle)
			plain_row_add(row, "%u %s", link->nodes / link->cycle,
				      link->cycle == 1 ? "deep" : "times");
		plain_row_add(row, "level %u", link->level);
		if (last->self && last->first_child)
			plain_row_add(row, "%.1f %s", 100 * calltree_share(l->calls, last->self),
				      callers ? "begin here" : "in it itself");
		if (before >= 0)
			plain_row_add(row, "%.1f in the baseline", 100 * before);
	}
}

int tree_plain(struct plain_list *list, const struct ui *ui, const struct calltree *calls,
	       bool callers, const char *by)
{
	struct links l = {.calls = calls,
			  .link = calloc(LINKS_MAX, sizeof(*l.link)),
			  .least = (uint64_t)(calls->limit * (double)calls->samples)};
	uint64_t least;
	char of[320];
	int err = l.link ? find_links(&l) : -ENOMEM;

	if (!err)
		err = choose_least(&l, &least);
	if (!err)
		add_links(ui, list, &l, least, callers);
	free(l.link);
	ui_zoom_name(ui, of, sizeof(of));
	snprintf(list->title, sizeof(list->title), "%s of %s by %s, %% of %s",
		 callers		  ? "Callers"
		 : ui->view == VIEW_FLAME ? "Flame: call paths"
					  : "Call paths",
		 of, by, plain_samples(ui, calls->samples));
	return err;
}

int tree_plain_whole(const struct ui *ui, struct plain_list *list)
{
	struct profile *p = ui_profile(ui);
	struct calltree calls;
	int err = calltree_init(&calls);

	if (!err) {
		profile_lock(p);
		err = calltree_load(&calls, ui, p, false, false);
		profile_unlock(p);
	}
	if (!err)
		err = tree_plain(list, ui, &calls, false, "TOTAL%");
	calltree_free(&calls);
	return err;
}
