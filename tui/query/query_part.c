// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The part of a tree that is seen. A screen shows a few thousand boxes of a hundred thousand
 * nodes, and to copy, link and sort the others takes most of the time of an answer. So the sums of
 * the paths that are kept are made for all nodes, which is one pass, and then only those nodes
 * become part of the answer whose parents were asked about. By callers, and where paths are not
 * kept, the cells are split instead, node by node (query_split.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tui/util/prefetch.h"
#include "tui/query/query_priv.h"
#include "tui/query/query_split.h"

#define ROOM_MIN 256u

/* What a node of the answer stands for: nodes of the paths, several where hidden calls that were
 * inlined lead to the same function; or a range of cells. */
struct origin {
	uint32_t first, count; /* of members, or the range */
	bool asked;
};

struct child {
	uint32_t func;
	uint32_t node; /* of the paths */
};

struct tree_part {
	const struct profile *p;
	const struct query *q;
	const struct stacktrie *paths;
	const struct path_sum *sums, *base; /* base: NULL, or of the baseline */
	const struct path_link *links;	    /* of the nodes that have samples in one of these */
	struct split *split;		    /* instead of these, where paths are not kept */
	bool callers;
	struct tree tree;
	struct origin *origins; /* by node of the answer */
	uint32_t room, origins_room;
	uint32_t *members; /* nodes of the paths */
	uint32_t nmembers, members_room;
	bool *taken; /* by node of the paths: its own samples are part of the answer; may be NULL */
	/* Of the node that was asked about last: */
	uint32_t *around; /* what it stands for, and the hidden calls inside */
	uint32_t naround, around_room;
	struct child *children; /* of these */
	uint32_t nchildren, children_room;
	struct tree_order *order; /* of its children in the answer; id: the first of children */
	uint32_t order_room;
};

/* Room for `count` things of that size. */
static int reserve(void **array, uint32_t *room, uint32_t count, size_t size)
{
	uint32_t more = *room > ROOM_MIN ? *room : ROOM_MIN;
	void *grown;

	if (count <= *room)
		return 0;
	while (more < count)
		more += more / 2;
	grown = reallocarray(*array, more, size);
	if (!grown)
		return -ENOMEM;
	*array = grown;
	*room = more;
	return 0;
}

#define RESERVE(array, room, count)                                                                \
	({                                                                                         \
		void *words_ = (array);                                                            \
		int err_ = reserve(&words_, &(room), (count), sizeof(*(array)));                   \
		(array) = words_;                                                                  \
		err_;                                                                              \
	})

static int around_add(struct tree_part *part, uint32_t node)
{
	if (RESERVE(part->around, part->around_room, part->naround + 1))
		return -ENOMEM;
	part->around[part->naround++] = node;
	return 0;
}

static int child_add(struct tree_part *part, uint32_t node)
{
	if (RESERVE(part->children, part->children_room, part->nchildren + 1))
		return -ENOMEM;
	part->children[part->nchildren++] = (struct child){part->paths->nodes[node].func, node};
	return 0;
}

/* The children of a node of the paths; those that are hidden are part of their parent. */
static int look_below(struct tree_part *part, uint32_t node)
{
	const struct stacktrie_node *nodes = part->paths->nodes;
	int err = 0;

	for (uint32_t c = part->links[node].first_child, next; c && !err; c = next) {
		next = part->links[c].next;
		prefetch_read(&nodes[next]);
		prefetch_read(&part->sums[next]);
		prefetch_read(&func_at(part->p, nodes[c].func)->hash);
		err = query_shows(part->p, part->q, nodes[c].func) ? child_add(part, c)
								   : around_add(part, c);
	}
	return err;
}

static int by_func(const void *a, const void *b)
{
	const struct child *x = a, *y = b;

	if (x->func != y->func)
		return x->func < y->func ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

/* What is shown below a node, by function if some may be the same. */
static int find_children(struct tree_part *part, uint32_t node)
{
	const struct origin *origin = &part->origins[node];
	int err = 0;

	part->naround = part->nchildren = 0;
	for (uint32_t i = 0; i < origin->count && !err; i++)
		err = around_add(part, part->members[origin->first + i]);
	for (uint32_t i = 0; i < part->naround && !err; i++) {
		err = look_below(part, part->around[i]);
	}
	if (!err && part->naround > 1)
		qsort(part->children, part->nchildren, sizeof(*part->children), by_func);
	return err;
}

/* How many of the children from that one on are one node of the answer. */
static uint32_t same_func(const struct tree_part *part, uint32_t first)
{
	uint32_t n = 1;

	while (part->naround > 1 && first + n < part->nchildren &&
	       part->children[first + n].func == part->children[first].func)
		n++;
	return n;
}

/* The order in which they are shown; returns how many. */
static uint32_t sort_children(struct tree_part *part, uint32_t node)
{
	uint64_t path = part->tree.nodes[node].path;
	uint32_t count = 0;

	for (uint32_t i = 0, n; i < part->nchildren; i += n) {
		struct tree_order *order = &part->order[count++];

		n = same_func(part, i);
		*order = (struct tree_order){
			.path = idtable_mix(path, func_at(part->p, part->children[i].func)->hash),
			.id = i,
		};
		for (uint32_t k = 0; k < n; k++)
			order->total += part->sums[part->children[i + k].node].total;
	}
	query_tree_sort(part->order, count);
	return count;
}

static bool is_inside(const struct tree_part *part, uint32_t node)
{
	return part->sums[node].total &&
	       !query_shows(part->p, part->q, part->paths->nodes[node].func);
}

/* Samples of a node of the paths, and of the hidden calls inlined into it: without recursion, since
 * their depth has no bound. */
static uint64_t own_samples(const struct tree_part *part, uint32_t top)
{
	const struct path_link *links = part->links;
	uint64_t sum = part->sums[top].self;
	uint32_t at = top, next;

	if (part->taken)
		part->taken[top] = true;
	if (!part->q->hide_inline)
		return sum;
	for (next = links[top].first_child; next || at != top;) {
		if (!next) {
			next = links[at].next;
			at = part->paths->nodes[at].parent;
			continue;
		}
		if (!is_inside(part, next)) {
			next = links[next].next;
			continue;
		}
		at = next;
		sum += part->sums[at].self;
		if (part->taken)
			part->taken[at] = true;
		next = links[at].first_child;
	}
	return sum;
}

/* There is room. */
static void node_add(struct tree_part *part, uint32_t parent, const struct tree_order *order)
{
	uint32_t n = same_func(part, order->id), id = part->tree.count++;
	struct tree_node *node = &part->tree.nodes[id];

	*node = (struct tree_node){
		.func = part->children[order->id].func,
		.parent = parent,
		.total = order->total,
		.path = order->path,
	};
	part->origins[id] = (struct origin){part->nmembers, n, false};
	for (uint32_t i = 0; i < n; i++) {
		uint32_t member = part->children[order->id + i].node;

		node->self += own_samples(part, member);
		node->before += part->base ? part->base[member].total : 0;
		part->members[part->nmembers++] = member;
	}
}

static void link_children(struct tree_part *part, uint32_t node, uint32_t first, uint32_t count)
{
	struct tree_node *nodes = part->tree.nodes;

	part->origins[node].asked = true;
	nodes[node].nchildren = count;
	nodes[node].first_child = count ? first : 0;
	for (uint32_t i = 0; i < count; i++)
		nodes[first + i].next = i + 1 < count ? first + i + 1 : 0;
}

/* Children whose paths are not kept are groups of cells. */
static int split_children(struct tree_part *part, uint32_t node)
{
	uint32_t first = part->tree.count, count;
	const struct origin *origin = &part->origins[node];
	const struct split_group *groups;

	if (split_range(part->split, origin->first, origin->count, &groups, &count) ||
	    RESERVE(part->tree.nodes, part->room, first + count) ||
	    RESERVE(part->origins, part->origins_room, first + count) ||
	    RESERVE(part->order, part->order_room, count))
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		part->order[i] = (struct tree_order){
			.total = groups[i].total,
			.path = idtable_mix(part->tree.nodes[node].path,
					    func_at(part->p, groups[i].func)->hash),
			.id = i,
		};
	query_tree_sort(part->order, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct split_group *group = &groups[part->order[i].id];

		part->tree.nodes[part->tree.count] = (struct tree_node){
			.func = group->func,
			.parent = node,
			.self = group->self,
			.total = group->total,
			.before = group->before,
			.path = part->order[i].path,
		};
		part->origins[part->tree.count++] =
			(struct origin){group->first, group->count, false};
	}
	link_children(part, node, first, count);
	return 0;
}

int query_part_children(struct tree_part *part, uint32_t node)
{
	uint32_t first = part->tree.count, count;

	if (part->origins[node].asked)
		return 0;
	if (first > QUERY_TREE_MAX)
		return -E2BIG;
	if (part->split)
		return split_children(part, node);
	if (find_children(part, node) ||
	    RESERVE(part->tree.nodes, part->room, first + part->nchildren) ||
	    RESERVE(part->origins, part->origins_room, first + part->nchildren) ||
	    RESERVE(part->members, part->members_room, part->nmembers + part->nchildren) ||
	    RESERVE(part->order, part->order_room, part->nchildren))
		return -ENOMEM;
	count = sort_children(part, node);
	for (uint32_t i = 0; i < count; i++)
		node_add(part, node, &part->order[i]);
	link_children(part, node, first, count);
	return 0;
}

const struct tree *query_part_tree(const struct tree_part *part)
{
	return &part->tree;
}

/* --- what is found ---------------------------------------------------------------------------- */

#define MARK_BELOW 1 /* the node, or below it */
#define MARK_FOUND 2 /* a frame that passes, or below one */

struct look {
	const struct tree_part *part;
	const struct verdicts *funcs;
	uint8_t *marks; /* by node of the paths */
	uint64_t *path; /* of the node of the answer that it is part of; NULL: it is one itself */
	uint64_t *met;	/* such paths, once for each node that passes */
	uint32_t nmet;
};

static int by_path(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Hidden calls may make one node of several. */
static uint32_t count_met(struct look *l)
{
	uint32_t n = 0;

	if (!l->path)
		return l->nmet;
	qsort(l->met, l->nmet, sizeof(*l->met), by_path);
	for (uint32_t i = 0; i < l->nmet; i++)
		n += !i || l->met[i] != l->met[i - 1];
	return n;
}

static void look_at(struct look *l, uint32_t node)
{
	const struct tree_part *part = l->part;
	const struct stacktrie_node *n = &part->paths->nodes[node];
	bool shown;

	if (!part->sums[node].total && !(part->base && part->base[node].total))
		return;
	l->marks[node] |= l->marks[n->parent];
	shown = !l->path || query_shows(part->p, part->q, n->func);
	if (l->path)
		l->path[node] =
			shown ? idtable_mix(l->path[n->parent], func_at(part->p, n->func)->hash)
			      : l->path[n->parent];
	if (!shown || !(l->marks[node] & MARK_BELOW) || n->func >= l->funcs->count ||
	    !l->funcs->pass[n->func])
		return;
	l->marks[node] |= MARK_FOUND;
	if (l->path)
		l->met[l->nmet] = l->path[node];
	l->nmet++;
}

static int found_by_paths(const struct tree_part *part, uint32_t node, const struct verdicts *funcs,
			  struct query_found *found)
{
	const struct origin *origin = &part->origins[node];
	struct look l = {.part = part, .funcs = funcs};
	uint32_t n = part->paths->count;
	bool merged = part->q->hide_inline;

	*found = (struct query_found){0};
	l.marks = calloc(n, sizeof(*l.marks));
	l.path = merged ? calloc(n, sizeof(*l.path)) : NULL;
	l.met = merged ? calloc(n, sizeof(*l.met)) : NULL;
	if (l.marks && (!merged || (l.path && l.met))) {
		for (uint32_t i = 0; i < origin->count; i++)
			l.marks[part->members[origin->first + i]] = MARK_BELOW;
		for (uint32_t i = 0; i < n; i++) {
			if (i)
				look_at(&l, i);
			found->samples += l.marks[i] & MARK_FOUND ? part->sums[i].self : 0;
		}
		found->nodes = count_met(&l);
	}
	free(l.met);
	free(l.path);
	free(l.marks);
	return l.marks && (!merged || (l.path && l.met)) ? 0 : -ENOMEM;
}

/* The part may have split the node's range already: splits anew, along the way to the node. */
static int found_by_cells(const struct tree_part *part, uint32_t node, const struct verdicts *funcs,
			  struct query_found *found)
{
	const struct tree_node *nodes = part->tree.nodes;
	uint32_t *way = malloc((size_t)part->tree.count * sizeof(*way)), depth = 0;
	struct split *split = NULL;
	struct split_group at;
	int err = way ? split_new(part->p, part->q, part->callers, &split, &at) : -ENOMEM;

	for (uint32_t i = node; i && way; i = nodes[i].parent)
		way[depth++] = nodes[i].func;
	while (!err && depth) {
		const struct split_group *groups;
		uint32_t n, i = 0;

		err = split_range(split, at.first, at.count, &groups, &n);
		for (depth--; !err && i < n && groups[i].func != way[depth];)
			i++;
		if (!err && i < n)
			at = groups[i];
	}
	if (!err)
		err = split_found(split, &at, funcs, found);
	split_free(split);
	free(way);
	return err;
}

int query_part_found(const struct tree_part *part, uint32_t node, const struct verdicts *funcs,
		     struct query_found *found)
{
	if (part->split)
		return found_by_cells(part, node, funcs, found);
	return found_by_paths(part, node, funcs, found);
}

static int part_begin(struct tree_part *part)
{
	if (RESERVE(part->tree.nodes, part->room, 1) ||
	    RESERVE(part->origins, part->origins_room, 1) ||
	    RESERVE(part->members, part->members_room, 1))
		return -ENOMEM;
	part->tree.nodes[0] = (struct tree_node){.func = UINT32_MAX};
	part->tree.count = 1;
	part->origins[0] = (struct origin){0, 1, false};
	part->members[0] = 0;
	part->nmembers = 1;
	return 0;
}

static int part_by_paths(struct tree_part *part)
{
	struct tree_node *root = part->tree.nodes;

	if (query_path_links(part->p, part->paths, part->base, &part->links))
		return -ENOMEM;
	root->self = own_samples(part, 0);
	root->total = part->sums[0].total;
	root->before = part->base ? part->base[0].total : 0;
	return 0;
}

static int part_by_cells(struct tree_part *part, bool callers)
{
	struct tree_node *root = part->tree.nodes;
	struct split_group all;
	int err = split_new(part->p, part->q, callers, &part->split, &all);

	if (err)
		return err;
	part->origins[0] = (struct origin){all.first, all.count, false};
	root->self = all.self;
	root->total = all.total;
	root->before = all.before;
	return 0;
}

static void part_free(struct tree_part *part)
{
	free(part->tree.nodes);
	free(part->origins);
	free(part->members);
	free(part->around);
	free(part->children);
	free(part->order);
	free(part->taken);
	split_free(part->split);
}

/*
 * What `grow` makes of the root is the answer. note: what it has taken. -E2BIG: the whole
 * tree is the answer.
 */
static int part_make(const struct profile *p, const struct query *q, bool callers, bool note,
		     int (*grow)(struct tree_part *part, void *arg), void *arg, struct tree *out)
{
	struct tree_part part = {.p = p, .q = q, .callers = callers};
	struct path_sum *base = NULL;
	int err = part_begin(&part);

	/* By callers there are too many paths to look at each, and few are seen. */
	if (!err)
		err = !callers && query_by_paths(p, q, false)
			      ? query_path_weigh(p, q, false, &part.paths, &part.sums, &base)
			      : -E2BIG;
	part.base = base;
	if (!err && part.paths->count) {
		part.taken = note ? calloc(part.paths->count, sizeof(*part.taken)) : NULL;
		err = note && !part.taken ? -ENOMEM : part_by_paths(&part);
	} else if (!err || err == -E2BIG) {
		err = part_by_cells(&part, callers);
	}
	if (!err)
		err = grow(&part, arg);
	if (!err) {
		*out = part.tree;
		part.tree.nodes = NULL;
	}
	free(base);
	part_free(&part);
	return err;
}

struct rows {
	bool callers;
	double least;
	uint64_t most;
};

/* What one of those that were left out has of its own, at most. */
static uint64_t most_by_paths(const struct tree_part *part)
{
	uint64_t most = 0;

	for (uint32_t i = 1; i < part->paths->count; i++)
		if (part->sums[i].self > most && !part->taken[i])
			most = part->sums[i].self;
	return most;
}

/* The same by going on below what has more than the most so far, and then giving it up again. */
static int most_by_cells(struct tree_part *part, uint64_t *most)
{
	uint32_t count = part->tree.count;
	int err = 0;

	*most = 0;
	for (uint32_t i = 0; i < part->tree.count && !err; i++) {
		if (i >= count && part->tree.nodes[i].self > *most)
			*most = part->tree.nodes[i].self;
		if (part->tree.nodes[i].total > *most)
			err = query_part_children(part, i);
	}
	for (uint32_t i = 0; i < count; i++) {
		struct tree_node *node = &part->tree.nodes[i];

		if (node->first_child >= count)
			node->first_child = node->nchildren = 0;
	}
	part->tree.count = count;
	return err;
}

/* Nodes of so many samples have children; rows are made of these. */
static int grow_rows(struct tree_part *part, void *arg)
{
	struct rows *rows = arg;
	int err = 0;

	for (uint32_t i = 0; i < part->tree.count && !err; i++) {
		if (!i || (double)part->tree.nodes[i].total + 1 > rows->least)
			err = query_part_children(part, i);
		if (!err && part->tree.count > QUERY_TREE_MAX)
			err = -E2BIG;
	}
	if (!err && part->taken)
		rows->most = most_by_paths(part);
	if (!err && part->split && !rows->callers)
		err = most_by_cells(part, &rows->most);
	return err;
}

int query_rows_in_part(const struct profile *p, const struct query *q, bool callers, double least,
		       struct tree *out, uint64_t *most)
{
	struct rows rows = {.callers = callers, .least = least};
	int err = part_make(p, q, callers, !callers, grow_rows, &rows, out);

	if (!err)
		*most = rows.most;
	return err;
}

int query_part(const struct profile *p, const struct query *q, bool callers,
	       int (*grow)(struct tree_part *part, void *arg), void *arg, struct tree *out,
	       bool *whole)
{
	int err = p->keep_ns ? part_make(p, q, callers, false, grow, arg, out) : -E2BIG;

	*whole = err == -E2BIG;
	if (*whole)
		err = callers ? query_callers(p, q, out) : query_tree(p, q, out);
	return err;
}
