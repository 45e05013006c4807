/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_QUERY_STACKTRIE_H
#define STACKTOP_TUI_QUERY_STACKTRIE_H

/*
 * Where stacks end in a tree of calls, kept from one question to the next: a stack is walked once,
 * from then on its samples are a number added to a node. Inside of the profile, for query*.c only.
 *
 * Nodes know ids of functions and nothing of what these stand for, so they stay right when an id is
 * given to another function; a node whose stacks are gone gets no more samples. A stack is known by
 * the number of its walk (stack_entry.walk), which changes with its frames.
 */

#include <stdbool.h>
#include <stdint.h>

#include "tui/util/idtable.h"

/* Of one tree; 24 to 44 bytes each. */
#define STACKTRIE_NODES_MAX (1u << 19)

struct profile;

struct stacktrie_node {
	uint32_t parent; /* has a smaller number */
	uint32_t func : 31;
	uint32_t again : 1; /* the function is further up, too */
};

struct stacktrie_pair { /* a user stack and a kernel stack, by their walks */
	uint32_t outer, inner;
	uint32_t node;
};

struct stacktrie {
	bool callers;		      /* from the innermost frame out */
	struct stacktrie_node *nodes; /* 0 is the root */
	uint32_t count, room;
	struct idtable children; /* by parent and function */
	uint32_t *ends; /* by walk: the node where the stack ends when it is outermost; 0: not
			   known */
	uint32_t nends;
	struct stacktrie_pair *pairs;
	uint32_t npairs, pairs_room;
	struct idtable pair_index;
	uint32_t *seen; /* by function: the last walk that met it */
	uint32_t nseen, serial;
};

/* A zeroed struct, but for `callers`, is an empty tree. Keeps no memory. */
void stacktrie_clear(struct stacktrie *paths);
/*
 * The node where a sample of these stacks (PROFILE_NO_STACK: none) ends, made if there is none. The
 * stacks have walks. -E2BIG: the tree is full; -ENOMEM.
 */
int stacktrie_end(struct stacktrie *paths, const struct profile *p, uint32_t ustack,
		  uint32_t kstack, uint32_t *node);

#endif
