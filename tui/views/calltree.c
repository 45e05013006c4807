// SPDX-License-Identifier: GPL-2.0-or-later
/* See calltree.h. */
#include "tui/views/calltree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/ui/ui.h"
#include "tui/util/share.h"
#include "tui/views/procgroups.h"
#include "tui/views/treerows.h"

#define PATH_MAX_NODES 64
#define RUNS	       32 /* run i has 2^i nodes */

struct calltree_process {
	struct profile_func func; /* which has the name */
	pid_t pid;		  /* 0: a group */
	uint64_t image;
	char name[64];
};

static void forget(struct calltree *calls)
{
	free(calls->tree.nodes);
	free(calls->procs);
	calls->procs = NULL;
	calls->nprocs = 0;
	calls->tree = (struct tree){0};
	calls->samples = calls->before_samples = 0;
	calls->compared = calls->part = false;
	calls->hottest = 0;
	calls->order = (struct treeorder){0};
}

int calltree_init(struct calltree *calls)
{
	*calls = (struct calltree){.names = names_new()};
	return calls->names ? 0 : -ENOMEM;
}

void calltree_free(struct calltree *calls)
{
	forget(calls);
	names_free(calls->names);
	calls->names = NULL;
}

/* There are far more nodes than functions: asks for each function once. */
static int copy_names(struct calltree *calls, const struct profile *p)
{
	const struct tree *tree = &calls->tree;
	uint32_t last = 0;
	bool *known;
	int err = 0;

	for (uint32_t i = 1 + calls->nprocs; i < tree->count; i++) {
		if (tree->nodes[i].func > last)
			last = tree->nodes[i].func;
	}
	known = calloc((size_t)last + 1, sizeof(*known));
	if (!known)
		return -ENOMEM;
	names_renew(calls->names);
	for (uint32_t i = 1 + calls->nprocs; i < tree->count && !err; i++) {
		uint32_t func = tree->nodes[i].func;

		if (!known[func] && !names_get(calls->names, p, func))
			err = -ENOMEM;
		known[func] = true;
	}
	free(known);
	return err;
}

/* --- processes ----------------------------------------------------------------------------- */

static const char *text_of_group(const struct profile_proc *proc)
{
	return proc->group[0] ? proc->group : PROCGROUPS_NO_UNIT;
}

static const char *text_of_user(const struct profile_proc *proc)
{
	return proc->user[0] ? proc->user : PROCGROUPS_NO_USER;
}

static const char *text_of_program(const struct profile_proc *proc)
{
	return proc->comm;
}

static const char *text_of_exited(const struct profile_proc *proc)
{
	return proc->exited ? proc->comm : NULL;
}

/* What stands together as one row of Procs does so here; NULL: each process has its own. A frozen
 * view does not change because a process ends. */
static const char *(*grouped_by(const struct ui *ui))(const struct profile_proc *proc)
{
	return ui->grouping == GROUP_CGROUP    ? text_of_group
	       : ui->grouping == GROUP_USER    ? text_of_user
	       : ui->grouping == GROUP_PROGRAM ? text_of_program
	       : ui->frozen		       ? NULL
					       : text_of_exited;
}

static int choose_processes(const struct ui *ui, const struct profile *p, struct query *q,
			    uint32_t **owners)
{
	*owners = NULL;
	q->by_process = !ui->zoom.on;
	q->process_text = grouped_by(ui);
	if (ui->zoom.on || !q->process_text)
		return 0;
	if (query_owners(p, q->process_text, owners))
		return -ENOMEM;
	q->owners = *owners;
	return 0;
}

/* "10201 python3", or the name of the group. */
static int name_processes(struct calltree *calls, const struct profile *p, const struct query *q)
{
	const struct tree_node *nodes = calls->tree.nodes;
	uint32_t n = 0;

	if (!q->by_process || calls->tree.count < 2 || nodes[1].func != QUERY_NONE)
		return 0;
	n = nodes[0].nchildren;
	calls->procs = calloc(n, sizeof(*calls->procs));
	if (!calls->procs)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		const struct profile_proc *proc = query_proc(p, nodes[i + 1].proc);
		struct calltree_process *named = &calls->procs[i];

		named->func = (struct profile_func){.name = named->name, .module = ""};
		if (q->process_text && q->process_text(proc)) {
			snprintf(named->name, sizeof(named->name), "%s%s", q->process_text(proc),
				 q->process_text == text_of_exited ? " (exited)" : "");
			continue;
		}
		snprintf(named->name, sizeof(named->name), "%d %s", (int)proc->pid, proc->comm);
		named->pid = proc->pid;
		named->image = proc->image;
	}
	calls->nprocs = n;
	return 0;
}

bool calltree_is_process(const struct calltree *calls, uint32_t node)
{
	return node && node <= calls->nprocs;
}

bool calltree_process(const struct calltree *calls, uint32_t node, pid_t *pid, uint64_t *image)
{
	while (node > calls->nprocs)
		node = calls->tree.nodes[node].parent;
	if (!node || !calls->procs[node - 1].pid)
		return false;
	*pid = calls->procs[node - 1].pid;
	*image = calls->procs[node - 1].image;
	return true;
}

/* Which nodes get children: those that rows need, those that grow asks for, or all. */
struct wish {
	bool callers, rows;
	int (*grow)(struct tree_part *part, void *arg);
	void *arg;
};

/* Processes of which all frames are hidden have no stacks. */
static void forget_empty(struct tree *tree)
{
	struct tree_node *root = tree->nodes;

	if (tree->count < 2 || root[1].func != QUERY_NONE || tree->count != root->nchildren + 1)
		return;
	for (uint32_t i = 1; i < tree->count; i++)
		if (root[i].self != root[i].total)
			return;
	root->self = root->total;
	root->first_child = root->nchildren = 0;
	tree->count = 1;
}

static int take(struct calltree *calls, const struct profile *p, const struct query *q,
		const struct wish *wish)
{
	struct query all = *q;
	int err;

	all.filter = NULL;
	calls->samples = query_samples(p, &all, NULL);
	calls->part = wish->grow != NULL;
	if (wish->grow)
		err = query_part(p, q, wish->callers, wish->grow, wish->arg, &calls->tree);
	else
		err = query_rows(p, q, wish->callers,
				 wish->rows ? calls->limit * (double)calls->samples : 0,
				 &calls->tree, &calls->hottest);
	if (err)
		return err;
	calls->compared = q->baseline;
	all.span = SPAN_BASELINE;
	if (q->baseline)
		calls->before_samples = query_samples(p, &all, NULL);
	forget_empty(&calls->tree);
	err = name_processes(calls, p, q);
	return err ? err : copy_names(calls, p);
}

static int load(struct calltree *calls, const struct ui *ui, const struct profile *p,
		const struct wish *wish)
{
	uint32_t *owners = NULL;
	struct query q;
	int err = 0;

	forget(calls);
	calls->limit = ui->limit;
	calls->callers = wish->callers;
	if (!ui_query(ui, p, &q))
		return 0;
	if (!wish->callers)
		err = choose_processes(ui, p, &q, &owners);
	if (!err)
		err = take(calls, p, &q, wish);
	free(owners);
	if (err)
		forget(calls);
	return err;
}

int calltree_load(struct calltree *calls, const struct ui *ui, const struct profile *p,
		  bool callers, bool rows)
{
	return load(calls, ui, p, &(struct wish){.callers = callers, .rows = rows});
}

int calltree_load_part(struct calltree *calls, const struct ui *ui, const struct profile *p,
		       bool callers, int (*grow)(struct tree_part *part, void *arg), void *arg)
{
	return load(calls, ui, p, &(struct wish){.callers = callers, .grow = grow, .arg = arg});
}

const struct profile_func *calltree_func(const struct calltree *calls, uint32_t node)
{
	if (calltree_is_process(calls, node))
		return &calls->procs[node - 1].func;
	return names_kept(calls->names, calls->tree.nodes[node].func);
}

/* A function has one id while the profile is locked, so names are compared until it is found. */
static uint32_t func_id(const struct calltree *calls, uint64_t func)
{
	const struct tree_node *nodes = calls->tree.nodes;

	for (uint32_t i = calls->nprocs + 1; i < calls->tree.count; i++)
		if (names_hash(calltree_func(calls, i)) == func)
			return nodes[i].func;
	return QUERY_NONE;
}

uint32_t calltree_heaviest(const struct calltree *calls, uint64_t func, uint32_t top, bool children)
{
	const struct tree_node *nodes = calls->tree.nodes;
	uint32_t id = func_id(calls, func), best = 0;

	for (uint32_t i = calls->nprocs + 1; i < calls->tree.count && id != QUERY_NONE; i++) {
		uint32_t above = children ? nodes[i].parent : i;

		if (nodes[i].func != id || (best && nodes[i].total <= nodes[best].total))
			continue;
		while (!children && above && above != top)
			above = nodes[above].parent;
		if (above == top)
			best = i;
	}
	return best;
}

double calltree_share(const struct calltree *calls, uint64_t samples)
{
	return calls->samples ? (double)samples / (double)calls->samples : 0;
}

double calltree_before(const struct calltree *calls, uint32_t node)
{
	if (!calls->compared || !calls->before_samples)
		return -1;
	return (double)calls->tree.nodes[node].before / (double)calls->before_samples;
}

struct delta calltree_delta(const struct calltree *calls, uint32_t node)
{
	const struct tree_node *n = &calls->tree.nodes[node];

	return calls->compared
		       ? delta_of_shares(n->total, calls->samples, n->before, calls->before_samples)
		       : delta_none();
}

void calltree_path(const struct calltree *calls, uint32_t node, bool callers, char *to, size_t size)
{
	char name[512];
	size_t length = 0;

	to[0] = '\0';
	for (uint32_t at = node; at; at = calls->tree.nodes[at].parent) {
		size_t n, more;

		/* A path is one of functions; a process is one by itself. */
		if (calltree_is_process(calls, at) && at != node)
			break;
		names_show(calltree_func(calls, at), name, sizeof(name));
		n = strlen(name);
		more = n + (length ? 1 : 0);
		while (callers && length && length + more >= size) {
			char *inner = strchr(to, ';');
			size_t cut = inner ? (size_t)(inner + 1 - to) : length;

			memmove(to, to + cut, length - cut + 1);
			length -= cut;
			more = n + (length ? 1 : 0);
		}
		if (length + more >= size)
			break;
		if (callers) { /* the root is the callee */
			memcpy(to + length, ";", length ? 1 : 0);
			memcpy(to + length + more - n, name, n + 1);
		} else {
			memmove(to + more, to, length + 1);
			memcpy(to, name, n);
			memcpy(to + n, ";", length ? 1 : 0);
		}
		length += more;
	}
}

void calltree_draw_path(const struct calltree *calls, uint32_t node, struct grid *g, int y)
{
	uint32_t chain[PATH_MAX_NODES];
	int n = 0, first = 0, room = g->cols - 10, col;

	for (uint32_t at = node; at && n < PATH_MAX_NODES; at = calls->tree.nodes[at].parent)
		chain[n++] = at;
	col = grid_put(g, y, 0, g->cols, ROLE_DIM, " path   ");
	for (first = 0; first < n; first++) {
		room -= grid_width(g, calltree_func(calls, chain[first])->name) + 3;
		if (room < 0)
			break;
	}
	if (first < n)
		col += grid_printf(g, y, col, g->cols - col, ROLE_DIM, "%s > ",
				   grid_glyph(g, GLYPH_ELLIPSIS));
	for (int i = first - 1; i >= 0; i--)
		col += grid_printf(g, y, col, g->cols - col, i ? ROLE_TEXT : ROLE_TITLE, "%s%s",
				   calltree_func(calls, chain[i])->name, i ? " > " : "");
}

/* --- the order of siblings ----------------------------------------------------------------- */

/* Siblings are lists, so this is a merge sort of lists: it needs no memory, and one pass if they
 * are in order. */
static double change(const struct calltree *calls, uint32_t node)
{
	double before = calltree_before(calls, node);

	return before < 0 ? 0 : calltree_share(calls, calls->tree.nodes[node].total) - before;
}

static int by_column(const struct calltree *calls, enum treeorder_by by, uint32_t a, uint32_t b)
{
	const struct tree_node *x = &calls->tree.nodes[a], *y = &calls->tree.nodes[b];

	switch (by) {
	case TREEORDER_SELF:
		return most_first((double)x->self, (double)y->self);
	case TREEORDER_CHANGE:
		return most_first(change(calls, a), change(calls, b));
	case TREEORDER_NAME:
		return strcmp(calltree_func(calls, a)->name, calltree_func(calls, b)->name);
	case TREEORDER_MODULE:
		return strcmp(calltree_func(calls, a)->module, calltree_func(calls, b)->module);
	default:
		return most_first((double)x->total, (double)y->total);
	}
}

/* <= 0: a stands before b. */
static int compare(const struct calltree *calls, uint32_t a, uint32_t b)
{
	const struct tree_node *x = &calls->tree.nodes[a], *y = &calls->tree.nodes[b];
	int small = treerows_small(calls, a) - treerows_small(calls, b);
	int result = small ? small : by_column(calls, calls->order.by, a, b);

	if (!small && calls->order.inverted)
		result = -result;
	if (!result)
		result = most_first((double)x->total, (double)y->total);
	return result ? result : (x->path > y->path) - (x->path < y->path);
}

static uint32_t merge(struct calltree *calls, uint32_t a, uint32_t b)
{
	struct tree_node *nodes = calls->tree.nodes;
	uint32_t first = 0, *to = &first;

	while (a && b) {
		uint32_t *least = compare(calls, a, b) <= 0 ? &a : &b;

		*to = *least;
		to = &nodes[*least].next;
		*least = *to;
	}
	*to = a ? a : b;
	return first;
}

static uint32_t sort(struct calltree *calls, uint32_t first)
{
	uint32_t run[RUNS] = {0}, all = 0;

	while (first) {
		uint32_t one = first;
		int i = 0;

		first = calls->tree.nodes[one].next;
		calls->tree.nodes[one].next = 0;
		for (; i < RUNS - 1 && run[i]; i++) {
			one = merge(calls, run[i], one);
			run[i] = 0;
		}
		run[i] = run[i] ? merge(calls, run[i], one) : one;
	}
	for (int i = 0; i < RUNS; i++)
		all = merge(calls, run[i], all);
	return all;
}

void treeorder_apply(struct treeorder order, struct calltree *calls)
{
	if (calls->order.by == order.by && calls->order.inverted == order.inverted)
		return;
	calls->order = order;
	for (uint32_t i = 0; i < calls->tree.count; i++)
		calls->tree.nodes[i].first_child = sort(calls, calls->tree.nodes[i].first_child);
}
