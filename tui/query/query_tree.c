/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call trees, top down and bottom up. All cells of the query are in one array. A node is a range of
 * that array: the cells whose stacks go through the node. A node gets its children by sorting its
 * range by the next function of each cell. So the cost depends on what is asked for: a screen shows
 * a few hundred of up to a million nodes. Nothing is kept from one query to the next.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "tui/util/prefetch.h"
#include "tui/query/query_priv.h"

#define NO_FUNC	     UINT32_MAX
#define FRAMES_AHEAD 12
#define FEW_CHILDREN 16 /* so many are sorted by insertion */

struct tree_cell {
	const uint32_t *next;  /* frame after func */
	uint32_t left : 29;    /* frames of the stack from there on */
	uint32_t language : 1; /* of the stack that next is in */
	uint32_t inside : 1;   /* in the inner stack */
	uint32_t baseline : 1;
	uint32_t outer, inner; /* stacks, or PROFILE_NO_STACK */
	uint32_t func;	       /* next function; NO_FUNC: none is left; the process, before all */
	uint64_t count;
};

struct tree_range { /* the cells of a node */
	uint32_t first, count;
	bool asked; /* cells are sorted by child */
};

struct tree_group { /* a child in the making */
	struct tree_range range;
	struct tree_node node;
};

struct tree_part {
	const struct profile *p;
	const struct query *q;
	bool callers;
	bool baseline; /* take_cells adds those of the baseline now */
	bool procs;    /* the root's children are processes */
	struct tree_cell *cells, *sorted;
	uint32_t ncells, cells_room;
	struct tree tree;
	struct tree_range *ranges; /* by node */
	uint32_t nodes_room, ranges_room;
	/* Used by query_part_children: */
	uint32_t *group_of; /* by function: its group + 1; 0: none */
	struct tree_group *groups;
	uint32_t ngroups, groups_room;
};

/* --- cells ----------------------------------------------------------------------------------- */

static void cell_enter(const struct tree_part *part, struct tree_cell *cell, uint32_t id)
{
	const struct profile_stack *stack = &stack_at(part->p, id)->stack;

	cell->left = stack->nframes & ((1u << 29) - 1);
	cell->language = stack->language;
	cell->next = stack->frames + (part->callers && cell->left ? cell->left - 1 : 0);
}

/* Looks at the stack only where it has to: stacks are scattered in memory. */
static bool cell_shows(const struct tree_part *part, const struct tree_cell *cell,
		       const uint32_t *frame)
{
	const struct profile_stack *stack;

	if (!cell->language)
		return !part->q->hide_inline || func_at(part->p, *frame)->func.kind != FUNC_INLINE;
	stack = &stack_at(part->p, cell->inside ? cell->inner : cell->outer)->stack;
	return query_shows(part->p, part->q, stack, (uint32_t)(frame - stack->frames));
}

/* Advances to the next function that is shown. */
static void cell_step(const struct tree_part *part, struct tree_cell *cell)
{
	for (;;) {
		while (cell->left) {
			const uint32_t *frame = cell->next;

			cell->left--;
			if (cell->left)
				cell->next += part->callers ? -1 : 1;
			if (cell_shows(part, cell, frame)) {
				cell->func = *frame;
				return;
			}
		}
		if (cell->inside || cell->inner == PROFILE_NO_STACK)
			break;
		cell_enter(part, cell, cell->inner);
		cell->inside = true;
	}
	cell->func = NO_FUNC;
}

/* Puts the cell before its first function. */
static void cell_start(const struct tree_part *part, struct tree_cell *cell)
{
	cell->inside = false;
	cell->left = 0;
	if (cell->outer != PROFILE_NO_STACK)
		cell_enter(part, cell, cell->outer);
}

static int add_cell(const struct profile_cell *from, void *arg)
{
	struct tree_part *part = arg;
	struct tree_cell *cell = &part->cells[part->ncells];

	if (part->ncells == part->cells_room)
		return -E2BIG;
	part->ncells++;
	/* User code called the kernel. */
	*cell = (struct tree_cell){
		.outer = part->callers ? from->kstack : from->ustack,
		.inner = part->callers ? from->ustack : from->kstack,
		.baseline = part->baseline,
		.func = part->q->owners ? part->q->owners[from->proc] : from->proc,
		.count = from->count,
	};
	cell_start(part, cell);
	return 0;
}

static void expect_frames(const struct tree_part *part, uint32_t at, uint32_t end)
{
	if (at + FRAMES_AHEAD < end)
		prefetch_read(part->cells[at + FRAMES_AHEAD].next);
}

/* The same where cells are started again. */
static void expect_restart(const struct tree_part *part, uint32_t at, uint32_t end)
{
	const struct tree_cell *ahead = &part->cells[at + FRAMES_AHEAD];

	if (at + 2 * FRAMES_AHEAD >= end)
		return;
	if (ahead->outer != PROFILE_NO_STACK)
		prefetch_read(stack_at(part->p, ahead->outer)->stack.frames);
	ahead += FRAMES_AHEAD;
	if (ahead->outer != PROFILE_NO_STACK)
		prefetch_read(stack_at(part->p, ahead->outer));
}

static void node_count(struct tree_node *node, const struct tree_cell *cell)
{
	if (cell->baseline) {
		node->before += cell->count;
		return;
	}
	node->total += cell->count;
	if (cell->func == NO_FUNC)
		node->self += cell->count;
}

/* --- children -------------------------------------------------------------------------------- */

/* Counts the cells of a range by the function that comes next. */
static int find_groups(struct tree_part *part, const struct tree_range *range)
{
	part->ngroups = 0;
	for (uint32_t i = range->first; i < range->first + range->count; i++) {
		uint32_t func = part->cells[i].func;

		if (func == NO_FUNC)
			continue;
		if (!part->group_of[func]) {
			if (GROW_TO(part->groups, part->ngroups + 1, part->groups_room, UINT32_MAX))
				return -ENOMEM;
			part->groups[part->ngroups++] = (struct tree_group){.node.func = func};
			part->group_of[func] = part->ngroups;
		}
		part->groups[part->group_of[func] - 1].range.count++;
	}
	return 0;
}

/* Sorts the cells by group and advances each. Cells that end in the node come last. */
static void sort_cells(struct tree_part *part, const struct tree_range *range)
{
	uint32_t at = range->first, end = range->first + range->count;

	for (uint32_t i = 0; i < part->ngroups; i++) {
		part->groups[i].range.first = at;
		at += part->groups[i].range.count;
		part->groups[i].range.count = 0;
	}
	for (uint32_t i = range->first; i < end; i++) {
		const struct tree_cell *cell = &part->cells[i];
		struct tree_group *group;
		struct tree_cell *to;

		expect_frames(part, i, end);
		if (cell->func == NO_FUNC) {
			part->sorted[at++] = *cell;
			continue;
		}
		group = &part->groups[part->group_of[cell->func] - 1];
		to = &part->sorted[group->range.first + group->range.count++];
		*to = *cell;
		cell_step(part, to);
		node_count(&group->node, to);
	}
	memcpy(part->cells + range->first, part->sorted + range->first,
	       range->count * sizeof(*part->cells));
}

static int by_total(const void *a, const void *b)
{
	const struct tree_node *x = &((const struct tree_group *)a)->node,
			       *y = &((const struct tree_group *)b)->node;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return (x->path > y->path) - (x->path < y->path);
}

static void sort_groups(struct tree_group *groups, uint32_t n)
{
	if (n > FEW_CHILDREN) {
		qsort(groups, n, sizeof(*groups), by_total);
		return;
	}
	for (uint32_t i = 1; i < n; i++) {
		struct tree_group group = groups[i];
		uint32_t at = i;

		for (; at && by_total(&groups[at - 1], &group) > 0; at--)
			groups[at] = groups[at - 1];
		groups[at] = group;
	}
}

/* In a full tree, samples of the children left out count for the parent. There is room. */
static void add_children(struct tree_part *part, uint32_t parent)
{
	uint32_t first = part->tree.count, count = part->ngroups;
	struct tree_node *nodes = part->tree.nodes;

	if (count > QUERY_TREE_MAX - first) {
		count = QUERY_TREE_MAX - first;
		for (uint32_t i = count; i < part->ngroups; i++)
			nodes[parent].self += part->groups[i].node.total;
	}
	for (uint32_t i = 0; i < count; i++) {
		nodes[first + i] = part->groups[i].node;
		nodes[first + i].next = i + 1 < count ? first + i + 1 : 0;
		part->ranges[first + i] = part->groups[i].range;
	}
	nodes[parent].nchildren = count;
	nodes[parent].first_child = count ? first : 0;
	part->tree.count += count;
}

/* A path that a group of processes keeps when those in it change. */
static uint64_t process_path(const struct tree_part *part, uint32_t id)
{
	const struct profile_proc *proc = query_proc(part->p, id);
	const char *text = part->q->process_text ? part->q->process_text(proc) : NULL;
	uint64_t path = 0;

	if (!text)
		return idtable_mix((uint64_t)proc->pid, proc->image);
	for (const char *c = text; *c; c++)
		path = idtable_mix(path, (unsigned char)*c);
	return path;
}

int query_part_children(struct tree_part *part, uint32_t node)
{
	struct tree_range *range = &part->ranges[node];
	int err;

	if (range->asked)
		return 0;
	range->asked = true;
	if (part->tree.count == QUERY_TREE_MAX) {
		part->tree.nodes[node].self = part->tree.nodes[node].total;
		return 0;
	}
	err = find_groups(part, range);
	if (!err)
		sort_cells(part, range);
	for (uint32_t i = 0; i < part->ngroups; i++) {
		struct tree_node *child = &part->groups[i].node;

		part->group_of[child->func] = 0;
		child->parent = node;
		if (part->procs && !node) {
			child->proc = child->func;
			child->func = QUERY_NONE;
			child->path = process_path(part, child->proc);
			continue;
		}
		child->path = idtable_mix(part->tree.nodes[node].path,
					  func_at(part->p, child->func)->hash);
	}
	if (err ||
	    GROW_TO(part->tree.nodes, part->tree.count + part->ngroups, part->nodes_room,
		    UINT32_MAX) ||
	    GROW_TO(part->ranges, part->tree.count + part->ngroups, part->ranges_room, UINT32_MAX))
		return -ENOMEM;
	sort_groups(part->groups, part->ngroups);
	add_children(part, node);
	return 0;
}

const struct tree *query_part_tree(const struct tree_part *part)
{
	return &part->tree;
}

/* --- search ---------------------------------------------------------------------------------- */

struct path_set { /* sums by the hash of a path */
	struct {
		uint64_t path, sum;
	} * at;
	uint32_t count, room;
	struct idtable index;
};

/* NULL: no memory. */
static uint64_t *path_sum(struct path_set *set, uint64_t path)
{
	uint32_t hash = (uint32_t)path, id;

	for (uint32_t at = hash; (id = idtable_next(&set->index, hash, &at)) != IDTABLE_NONE;)
		if (set->at && set->at[id].path == path)
			return &set->at[id].sum;
	if (idtable_reserve(&set->index, (size_t)set->count + 1) ||
	    GROW_TO(set->at, set->count + 1, set->room, UINT32_MAX))
		return NULL;
	idtable_add(&set->index, hash, set->count);
	set->at[set->count].path = path;
	set->at[set->count].sum = 0;
	return &set->at[set->count++].sum;
}

static void path_set_free(struct path_set *set)
{
	free(set->at);
	idtable_free(&set->index);
}

/* depth: functions from the outermost to that of the node. The same path of two processes is two.
 */
static int find_in_range(const struct tree_part *part, uint32_t node, uint32_t depth,
			 const struct match_cache *funcs, struct path_set *paths,
			 struct query_found *found)
{
	const struct tree_range *range = &part->ranges[node];
	int err = 0;

	for (uint32_t i = range->first; i < range->first + range->count && !err; i++) {
		struct tree_cell cell = part->cells[i];
		uint64_t path = part->procs ? part->tree.nodes[node].path : 0;
		bool any = false;

		expect_restart(part, i, range->first + range->count);
		/* The cell may have been advanced beyond the node. */
		cell_start(part, &cell);
		cell_step(part, &cell);
		for (uint32_t level = 1; cell.func != NO_FUNC && !err; level++) {
			path = idtable_mix(path, cell.func);
			if (level >= depth && cell.func < funcs->count && funcs->pass[cell.func]) {
				any = true;
				err = path_sum(paths, path) ? 0 : -ENOMEM;
			}
			cell_step(part, &cell);
		}
		found->samples += any && !cell.baseline ? cell.count : 0;
	}
	return err;
}

int query_part_found(const struct tree_part *part, uint32_t node, const struct match_cache *funcs,
		     struct query_found *found)
{
	const struct tree_node *nodes = part->tree.nodes;
	struct path_set paths = {0};
	uint32_t depth = 0;
	int err = 0;

	for (uint32_t at = node; at && !(part->procs && !nodes[at].parent); at = nodes[at].parent)
		depth++;
	*found = (struct query_found){0};
	if (!part->procs || node) {
		err = find_in_range(part, node, depth, funcs, &paths, found);
	} else {
		for (uint32_t c = nodes[0].first_child; c && !err; c = nodes[c].next)
			err = find_in_range(part, c, 0, funcs, &paths, found);
	}
	found->nodes = paths.count;
	path_set_free(&paths);
	return err;
}

/* --- questions ------------------------------------------------------------------------------- */

/* One process needs no level of its own. */
static void choose_processes(struct tree_part *part)
{
	if (!part->q->by_process || part->callers || !part->ncells)
		return;
	for (uint32_t i = 1; i < part->ncells && !part->procs; i++)
		part->procs = part->cells[i].func != part->cells[0].func;
	if (!part->procs)
		part->tree.nodes[0].path = process_path(part, part->cells[0].func);
}

static int take_cells(struct tree_part *part)
{
	struct query baseline = query_of_baseline(part->q);
	struct tree_node *root = part->tree.nodes;
	int err = query_cells(part->p, part->q, add_cell, part);

	part->baseline = true;
	if (!err && part->q->baseline)
		err = query_cells(part->p, &baseline, add_cell, part);
	choose_processes(part);
	for (uint32_t i = 0; i < part->ncells; i++) {
		expect_frames(part, i, part->ncells);
		if (!part->procs)
			cell_step(part, &part->cells[i]);
		node_count(root, &part->cells[i]);
	}
	part->ranges[0] = (struct tree_range){.count = part->ncells};
	return err;
}

static int part_begin(struct tree_part *part)
{
	struct query baseline = query_of_baseline(part->q);
	size_t room = query_cell_count(part->p, part->q) +
		      (part->q->baseline ? query_cell_count(part->p, &baseline) : 0);
	const size_t ids = part->p->funcs.count > part->p->procs.count ? part->p->funcs.count
								       : part->p->procs.count;

	if (room >= UINT32_MAX)
		return -ENOMEM;
	part->cells_room = (uint32_t)room;
	part->cells = malloc((room + 1) * sizeof(*part->cells));
	part->sorted = malloc((room + 1) * sizeof(*part->sorted));
	part->group_of = calloc(ids + 1, sizeof(*part->group_of));
	if (!part->cells || !part->sorted || !part->group_of ||
	    GROW_TO(part->tree.nodes, 1, part->nodes_room, UINT32_MAX) ||
	    GROW_TO(part->ranges, 1, part->ranges_room, UINT32_MAX))
		return -ENOMEM;
	part->tree.nodes[0] = (struct tree_node){.func = UINT32_MAX};
	part->tree.count = 1;
	return take_cells(part);
}

int query_part(const struct profile *p, const struct query *q, bool callers,
	       int (*unfold)(struct tree_part *part, void *arg), void *arg, struct tree *out)
{
	struct tree_part part = {.p = p, .q = q, .callers = callers};
	int err = part_begin(&part);

	*out = (struct tree){0};
	if (!err)
		err = unfold(&part, arg);
	if (!err) {
		*out = part.tree;
		part.tree.nodes = NULL;
	}
	free(part.tree.nodes);
	free(part.ranges);
	free(part.cells);
	free(part.sorted);
	free(part.group_of);
	free(part.groups);
	return err;
}

struct tree_wish {
	double least; /* see query_rows */
	bool hottest_wanted;
	uint32_t hottest;
};

/* Nodes by the power of two of their totals: if not all nodes fit, the most frequent do. */
struct tree_queue {
	uint32_t head[65]; /* node; 0: none */
	uint32_t *next;
	uint32_t room;
};

static int queue_add(struct tree_queue *queue, const struct tree *tree, uint32_t node)
{
	uint64_t total = tree->nodes[node].total;
	int power = total ? 64 - __builtin_clzll(total) : 0;

	if (GROW_TO(queue->next, node + 1, queue->room, UINT32_MAX))
		return -ENOMEM;
	queue->next[node] = queue->head[power];
	queue->head[power] = node;
	return 0;
}

static int grow_all(struct tree_part *part, const struct tree_wish *wish)
{
	struct tree_queue queue = {0};
	int err = query_part_children(part, 0), power = 64;
	uint32_t known = 1;

	while (!err) {
		for (; known < part->tree.count && !err; known++)
			if ((double)part->tree.nodes[known].total + 1 > wish->least)
				err = queue_add(&queue, &part->tree, known);
		while (power >= 0 && !queue.head[power])
			power--;
		if (power < 0)
			break;
		if (!err) {
			uint32_t node = queue.head[power];

			queue.head[power] = queue.next[node];
			err = query_part_children(part, node);
		}
	}
	free(queue.next);
	return err;
}

/* Raises *most to the most samples of its own that a node below this one has. */
static int most_below(const struct tree_part *part, uint32_t node, uint64_t *most)
{
	const struct tree_range *range = &part->ranges[node];
	struct path_set paths = {0};
	int err = 0;

	for (uint32_t i = range->first; i < range->first + range->count && !err; i++) {
		struct tree_cell cell = part->cells[i];
		uint64_t path = 0, *sum;

		if (cell.func == NO_FUNC || cell.baseline)
			continue;
		for (; cell.func != NO_FUNC; cell_step(part, &cell))
			path = idtable_mix(path, cell.func);
		sum = path_sum(&paths, path);
		err = sum ? 0 : -ENOMEM;
		if (!err && (*sum += cell.count) > *most)
			*most = *sum;
	}
	path_set_free(&paths);
	return err;
}

static int find_hottest(const struct tree_part *part, uint32_t *hottest)
{
	const struct tree_node *nodes = part->tree.nodes;
	uint64_t most = 0;
	int err = 0;

	for (uint32_t i = 1; i < part->tree.count; i++)
		if (!*hottest || nodes[i].self > nodes[*hottest].self)
			*hottest = i;
	most = nodes[*hottest].self;
	for (uint32_t i = 1; i < part->tree.count && !err; i++)
		if (!part->ranges[i].asked && nodes[i].total - nodes[i].self > most)
			err = most_below(part, i, &most);
	if (most > nodes[*hottest].self)
		*hottest = 0;
	return err;
}

static int grow_rows(struct tree_part *part, void *arg)
{
	struct tree_wish *wish = arg;
	int err = grow_all(part, wish);

	return err || !wish->hottest_wanted ? err : find_hottest(part, &wish->hottest);
}

int query_rows(const struct profile *p, const struct query *q, bool callers, double least,
	       struct tree *out, uint32_t *hottest)
{
	struct tree_wish wish = {.least = least, .hottest_wanted = !callers};
	int err = query_part(p, q, callers, grow_rows, &wish, out);

	*hottest = wish.hottest;
	return err;
}
