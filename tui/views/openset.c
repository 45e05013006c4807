// SPDX-License-Identifier: GPL-2.0-or-later
/* See openset.h. */
#include "tui/views/openset.h"

#include <errno.h>
#include <stdlib.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#define NODES_MAX 32768

struct node {
	uint64_t path;
	bool open;
	UT_hash_handle hh;
};

struct openset {
	struct node *nodes;
	enum openset_mode mode;
	uint32_t levels; /* of OPENSET_DEPTH */
};

struct openset *openset_new(void)
{
	return calloc(1, sizeof(struct openset));
}

void openset_reset(struct openset *set, enum openset_mode mode)
{
	struct node *node = set->nodes, *next;

	/* Frees the table; nodes keep their list. */
	HASH_CLEAR(hh, set->nodes);
	for (; node; node = next) {
		next = node->hh.next;
		free(node);
	}
	set->mode = mode;
}

void openset_depth(struct openset *set, uint32_t levels)
{
	openset_reset(set, OPENSET_DEPTH);
	set->levels = levels;
}

void openset_free(struct openset *set)
{
	if (!set)
		return;
	openset_reset(set, OPENSET_HOT);
	free(set);
}

int openset_put(struct openset *set, uint64_t path, bool open)
{
	struct node *node;

	HASH_FIND(hh, set->nodes, &path, sizeof(path), node);
	if (node) {
		node->open = open;
		return 0;
	}
	/* After days of changing load there may be more hot nodes than were ever shown. */
	if (HASH_COUNT(set->nodes) >= NODES_MAX)
		openset_reset(set, set->mode);
	node = calloc(1, sizeof(*node));
	if (!node)
		return -ENOMEM;
	node->path = path;
	node->open = open;
	HASH_ADD(hh, set->nodes, path, sizeof(node->path), node);
	if (!node->hh.tbl) {
		free(node);
		return -ENOMEM;
	}
	return 0;
}

bool openset_get(struct openset *set, uint64_t path, uint32_t level, bool hot)
{
	struct node *node;

	HASH_FIND(hh, set->nodes, &path, sizeof(path), node);
	if (node)
		return node->open;
	if (set->mode == OPENSET_ALL)
		return true;
	if (set->mode == OPENSET_DEPTH)
		return level < set->levels;
	/* Kept, so that the node stays open when it cools down. */
	return set->mode == OPENSET_HOT && hot && openset_put(set, path, true) == 0;
}
