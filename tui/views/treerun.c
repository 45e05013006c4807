// SPDX-License-Identifier: GPL-2.0-or-later
/* See treerun.h. A stack is a thousand frames deep at most, and so is a run. */
#include "tui/views/treerun.h"

#include <stdio.h>
#include <string.h>

#include "tui/screen/grid.h"
#include "tui/ui/names.h"
#include "tui/ui/shortname.h"
#include "tui/views/calltree.h"
#include "tui/views/treerows.h"

#define CYCLE_MAX  8 /* functions that call each other in turn */
#define CYCLES_MIN 3 /* turns from which on it is recursion */
#define FIRST_MIN  6 /* cells of the first name; with fewer it is left out */

/* The only child that has a row of its own; 0: none, or several. */
static uint32_t only_child(const struct calltree *calls, uint32_t node)
{
	const struct tree_node *nodes = calls->tree.nodes;
	const uint32_t child = nodes[node].first_child;

	if (!child || treerows_small(calls, child))
		return 0;
	return nodes[child].next && !treerows_small(calls, nodes[child].next) ? 0 : child;
}

uint32_t treerun_next(const struct calltree *calls, uint32_t node)
{
	return only_child(calls, node);
}

/* Recursion that begins at the node: the length of one turn, and in *nodes all of it. */
static uint32_t find_cycle(const struct calltree *calls, uint32_t first, uint32_t *nodes)
{
	const struct tree_node *all = calls->tree.nodes;
	uint32_t ahead = first;

	for (uint32_t length = 1; length <= CYCLE_MAX; length++) {
		uint32_t a = first, b, same = 0;

		ahead = only_child(calls, ahead);
		if (!ahead)
			return 0;
		for (b = ahead; b && all[a].func == all[b].func; b = only_child(calls, b)) {
			a = only_child(calls, a);
			same++;
		}
		if (same + length >= CYCLES_MIN * length) {
			*nodes = same + length;
			return length;
		}
	}
	return 0;
}

/* Nothing that would have a row is lost between them. */
static bool is_only(const struct calltree *calls, uint32_t node, uint32_t child)
{
	const struct tree_node *nodes = calls->tree.nodes;
	const uint64_t lost = nodes[node].total - nodes[child].total;

	return !lost || calltree_share(calls, lost) < calls->limit;
}

static bool stands_alone(const struct calltree *calls, uint32_t node)
{
	return calltree_is_process(calls, node) || calltree_func(calls, node)->kind == FUNC_END ||
	       (calls->callers && !calls->tree.nodes[node].parent);
}

static bool is_kernel(const struct calltree *calls, uint32_t node)
{
	return calltree_func(calls, node)->kind == FUNC_KERNEL;
}

struct treerun treerun_find(const struct calltree *calls, uint32_t first)
{
	struct treerun run = {.first = first, .last = first, .nodes = 1};
	uint32_t next, nodes;

	if (stands_alone(calls, first))
		return run;
	run.cycle = find_cycle(calls, first, &nodes);
	for (; run.cycle && run.nodes < nodes; run.nodes++)
		run.last = only_child(calls, run.last);
	while (!run.cycle && (next = only_child(calls, run.last)) &&
	       is_only(calls, run.last, next) && !stands_alone(calls, next) &&
	       is_kernel(calls, next) == is_kernel(calls, first) &&
	       !find_cycle(calls, next, &nodes)) {
		run.last = next;
		run.nodes++;
	}
	return run;
}

/* --- names --------------------------------------------------------------------------------- */

static void name_of(const struct calltree *calls, uint32_t node, char *to, size_t size)
{
	names_show(calltree_func(calls, node), to, size);
}

static uint32_t node_at(const struct calltree *calls, const struct treerun *run, uint32_t at)
{
	uint32_t node = run->first;

	while (at--)
		node = only_child(calls, node);
	return node;
}

/* "first › 3 more › last" of so many functions, "3 more › last" where there is less room. */
static void show_ends(const struct grid *g, const struct profile_func *first,
		      const struct profile_func *last, const char *arrow, uint32_t between,
		      int cells, char *to, size_t size)
{
	char middle[48], from[SHORTNAME_MAX], end[SHORTNAME_MAX];
	int want, need, room;

	names_show(first, from, sizeof(from));
	names_show(last, end, sizeof(end));
	want = grid_width(g, from);
	need = grid_width(g, end);
	snprintf(middle, sizeof(middle), between ? "%s%u more%s" : "%s", arrow, between, arrow);
	/* The last one is what keys are about, and gets most of what there is. */
	room = cells - grid_width(g, middle);
	room = room - need > room / 3 ? room - need : room / 3;
	room = room < want ? room : want;
	if (room < FIRST_MIN && room < want) {
		snprintf(middle, sizeof(middle), "%u more%s", between + 1, arrow);
		from[0] = '\0';
	} else {
		shortname_func(g, first, room, from, sizeof(from));
	}
	room = cells - grid_width(g, from) - grid_width(g, middle);
	if (room < FIRST_MIN && room < need) {
		from[0] = middle[0] = '\0';
		room = cells;
	}
	shortname_func(g, last, room, end, sizeof(end));
	snprintf(to, size, "%s%s%s", from, middle, end);
}

static void show_cycle(const struct calltree *calls, const struct treerun *run,
		       const struct grid *g, int cells, char *to, size_t size)
{
	const struct profile_func *first = calltree_func(calls, run->first);
	char times[24];
	const char *arrow = g->ascii ? " <> " : " ⇄ ";
	size_t n;

	snprintf(times, sizeof(times), " %s%u", g->ascii ? "x" : "×", run->nodes / run->cycle);
	cells -= grid_width(g, times);
	if (run->cycle == 1)
		shortname_func(g, first, cells, to, size);
	else
		show_ends(g, first, calltree_func(calls, node_at(calls, run, run->cycle - 1)),
			  arrow, run->cycle - 2, cells, to, size);
	n = strlen(to);
	snprintf(to + n, size - n, "%s", times);
}

void treerun_show(const struct calltree *calls, const struct treerun *run, const struct grid *g,
		  int cells, char *to, size_t size)
{
	const char *arrow = g->ascii ? " > " : " › ";
	char first[512], middle[512], last[512];

	if (run->nodes == 1) {
		shortname_func(g, calltree_func(calls, run->first), cells, to, size);
		return;
	}
	if (run->cycle) {
		show_cycle(calls, run, g, cells, to, size);
		return;
	}
	if (run->nodes == 3) {
		name_of(calls, run->first, first, sizeof(first));
		name_of(calls, run->last, last, sizeof(last));
		name_of(calls, node_at(calls, run, 1), middle, sizeof(middle));
		snprintf(to, size, "%s%s%s%s%s", first, arrow, middle, arrow, last);
		if (grid_width(g, to) <= cells)
			return;
	}
	show_ends(g, calltree_func(calls, run->first), calltree_func(calls, run->last), arrow,
		  run->nodes - 2, cells, to, size);
}

const struct profile_func *treerun_marked(const struct calltree *calls, const struct treerun *run)
{
	const struct profile_func *func = calltree_func(calls, run->first);
	uint32_t node = run->first;

	/* A run of kernel frames has no others; elsewhere, one inlined call says nothing of all. */
	if (run->nodes == 1 || func->kind == FUNC_KERNEL)
		return func;
	if (!func_is_language(func->kind))
		return NULL;
	for (uint32_t i = 1; i < run->nodes; i++) {
		node = only_child(calls, node);
		if (calltree_func(calls, node)->kind != func->kind)
			return NULL;
	}
	return func;
}

void treerun_words(const struct calltree *calls, const struct treerun *run, char *to, size_t size)
{
	char first[160], last[160], others[48] = "";

	name_of(calls, run->first, first, sizeof(first));
	name_of(calls, node_at(calls, run, run->cycle - 1), last, sizeof(last));
	if (run->cycle == 1) {
		snprintf(to, size, "%s calls itself", first);
		return;
	}
	if (run->cycle > 2)
		snprintf(others, sizeof(others), ", %u more", run->cycle - 2);
	snprintf(to, size, "%s%s and %s call each other", first, others, last);
}
