// SPDX-License-Identifier: GPL-2.0-or-later
/* See stacktrie.h. */
#include "tui/query/stacktrie.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/memory.h"
#include "tui/profile/profile_priv.h"

#define NODES_MIN  256u
#define NODE_BYTES 68u /* with what belongs to it, and the sums of a question */

void stacktrie_clear(struct stacktrie *paths)
{
	free(paths->nodes);
	free(paths->ends);
	free(paths->pairs);
	free(paths->seen);
	idtable_free(&paths->children);
	idtable_free(&paths->pair_index);
	*paths = (struct stacktrie){.callers = paths->callers};
}

/* Room for one more of `count` things; *room is a number of things. */
static int reserve(void **array, uint32_t count, uint32_t *room, size_t size)
{
	uint32_t more = *room ? *room + *room / 2 : NODES_MIN;
	void *grown;

	if (count < *room)
		return 0;
	while (more <= count)
		more += more / 2;
	grown = reallocarray(*array, more, size);
	if (!grown)
		return -ENOMEM;
	*array = grown;
	*room = more;
	return 0;
}

/* The same, and what is new is zero. */
static int reserve_zeroed(uint32_t **array, uint32_t count, uint32_t *room)
{
	uint32_t old = *room;
	void *words = *array;
	int err = reserve(&words, count, room, sizeof(**array));

	*array = words;
	if (!err && *room > old)
		memset(*array + old, 0, (*room - old) * sizeof(**array));
	return err;
}

static int root_make(struct stacktrie *paths)
{
	if (paths->count)
		return 0;
	if (!paths->nodes)
		paths->nodes = malloc(NODES_MIN * sizeof(*paths->nodes));
	if (!paths->nodes)
		return -ENOMEM;
	paths->room = NODES_MIN;
	paths->nodes[0] = (struct stacktrie_node){.func = INT32_MAX};
	paths->count = 1;
	return 0;
}

/* In each of two trees. */
static uint32_t nodes_max(void)
{
	const size_t max = memory_limit(MEMORY_PATHS) / 2 / NODE_BYTES;

	return max < STACKTRIE_NODES_MAX ? (uint32_t)max : STACKTRIE_NODES_MAX;
}

static int node_new(struct stacktrie *paths, uint32_t parent, uint32_t func, uint32_t hash,
		    bool again)
{
	void *nodes = paths->nodes;

	if (paths->count >= nodes_max())
		return -E2BIG;
	if (idtable_reserve(&paths->children, (size_t)paths->count + 1) ||
	    reserve(&nodes, paths->count, &paths->room, sizeof(*paths->nodes)))
		return -ENOMEM;
	paths->nodes = nodes;
	paths->nodes[paths->count] = (struct stacktrie_node){parent, func & INT32_MAX, again};
	idtable_add(&paths->children, hash, paths->count++);
	return 0;
}

static int node_child(struct stacktrie *paths, uint32_t *node, uint32_t func, bool again)
{
	uint32_t hash = (uint32_t)idtable_mix(*node, func), id;
	int err;

	for (uint32_t at = hash;
	     (id = idtable_next(&paths->children, hash, &at)) != IDTABLE_NONE;) {
		if (paths->nodes[id].parent == *node && paths->nodes[id].func == func) {
			*node = id;
			return 0;
		}
	}
	err = node_new(paths, *node, func, hash, again);
	if (!err)
		*node = paths->count - 1;
	return err;
}

/* A walk begins at a node whose path it has met. */
static int see_path(struct stacktrie *paths, const struct profile *p, uint32_t node)
{
	int err = reserve_zeroed(&paths->seen, p->funcs.count, &paths->nseen);

	if (err)
		return err;
	if (!++paths->serial) {
		memset(paths->seen, 0, paths->nseen * sizeof(*paths->seen));
		paths->serial = 1;
	}
	for (; node; node = paths->nodes[node].parent)
		paths->seen[paths->nodes[node].func] = paths->serial;
	return 0;
}

static int walk(struct stacktrie *paths, const struct profile *p, uint32_t id, uint32_t *node)
{
	const struct profile_stack *stack = &stack_at(p, id)->stack;
	int err = see_path(paths, p, *node);

	for (uint32_t i = 0; i < stack->nframes && !err; i++) {
		uint32_t func = stack->frames[paths->callers ? stack->nframes - 1 - i : i];

		err = node_child(paths, node, func, paths->seen[func] == paths->serial);
		paths->seen[func] = paths->serial;
	}
	return err;
}

/* Of a stack on nothing. */
static int end_of(struct stacktrie *paths, const struct profile *p, uint32_t stack, uint32_t *node)
{
	uint32_t number = stack_at(p, stack)->walk;
	int err;

	if (number < paths->nends && paths->ends[number]) {
		*node = paths->ends[number];
		return 0;
	}
	if (reserve_zeroed(&paths->ends, number, &paths->nends))
		return -ENOMEM;
	*node = 0;
	err = walk(paths, p, stack, node);
	if (!err)
		paths->ends[number] = *node;
	return err;
}

static int end_of_pair(struct stacktrie *paths, const struct profile *p, uint32_t outer,
		       uint32_t inner, uint32_t *node)
{
	uint32_t a = stack_at(p, outer)->walk, b = stack_at(p, inner)->walk, id;
	uint32_t hash = (uint32_t)idtable_mix(a, b);
	void *pairs = paths->pairs;
	int err;

	for (uint32_t at = hash;
	     (id = idtable_next(&paths->pair_index, hash, &at)) != IDTABLE_NONE;) {
		if (paths->pairs[id].outer == a && paths->pairs[id].inner == b) {
			*node = paths->pairs[id].node;
			return 0;
		}
	}
	if (paths->npairs >= nodes_max())
		return -E2BIG;
	err = end_of(paths, p, outer, node);
	if (!err)
		err = walk(paths, p, inner, node);
	if (err)
		return err;
	if (idtable_reserve(&paths->pair_index, (size_t)paths->npairs + 1) ||
	    reserve(&pairs, paths->npairs, &paths->pairs_room, sizeof(*paths->pairs)))
		return -ENOMEM;
	paths->pairs = pairs;
	paths->pairs[paths->npairs] = (struct stacktrie_pair){a, b, *node};
	idtable_add(&paths->pair_index, hash, paths->npairs++);
	return 0;
}

int stacktrie_end(struct stacktrie *paths, const struct profile *p, uint32_t ustack,
		  uint32_t kstack, uint32_t *node)
{
	/* The kernel's frames were called by the user's. */
	uint32_t outer = paths->callers ? kstack : ustack;
	uint32_t inner = paths->callers ? ustack : kstack;

	*node = 0;
	if (root_make(paths))
		return -ENOMEM;
	if (outer == PROFILE_NO_STACK)
		return inner == PROFILE_NO_STACK ? 0 : end_of(paths, p, inner, node);
	if (inner == PROFILE_NO_STACK)
		return end_of(paths, p, outer, node);
	return end_of_pair(paths, p, outer, inner, node);
}
