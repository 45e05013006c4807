/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_EXPORT_FLAMETREE_H
#define STACKTOP_TUI_EXPORT_FLAMETREE_H

/*
 * The tree of a flame graph: frames by their text, with a count, or two to compare profiles. Memory
 * is bounded: beyond FLAMETREE_NODES_MAX nodes or FLAMETREE_DEPTH_MAX levels samples count for the
 * deepest frame that is there.
 */

#include <stddef.h>
#include <stdint.h>

#include "tui/util/idtable.h"
#include "tui/util/textpool.h"
#include "tui/screen/theme.h"

#define FLAMETREE_NODES_MAX 2000000u
#define FLAMETREE_DEPTH_MAX 2100u
#define FLAMETREE_TEXT_MAX  ((size_t)512 << 20)
#define FLAMETREE_NONE	    UINT32_MAX

struct flametree_frame {
	size_t name;   /* in the pool: clean, NUL-terminated */
	size_t detail; /* likewise: module, kind, or "" */
	enum role role;
};

struct flametree_node {
	uint32_t frame;
	uint32_t parent; /* a smaller number */
	uint32_t depth;
	uint32_t first, next; /* child and sibling by name, once sorted; FLAMETREE_NONE: none */
	uint64_t self[2], total[2];
	uint64_t events; /* of how many samples or waits total[0] is, if these are not counted */
};

struct flametree {
	struct textpool pool;
	struct flametree_frame *frames;
	uint32_t nframes, frames_room;
	struct flametree_node *nodes; /* 0 is the root */
	uint32_t nnodes, nodes_room;
	struct idtable frame_index, node_index;
};

/* A tree with a root of that name. -ENOMEM. Call flametree_free after every result. */
int flametree_new(struct flametree *t, const char *root);
void flametree_free(struct flametree *t);

/* The frame of that role and text. -ENOMEM, or -EFBIG: too much text. */
int64_t flametree_frame(struct flametree *t, enum role role, const char *name, const char *detail);
/* The child of the node, or the node itself if there is no room. -ENOMEM. */
int64_t flametree_child(struct flametree *t, uint32_t node, uint32_t frame);
/* Adds samples that end in the node. side: 0, or 1 for the profile to compare with. */
void flametree_count(struct flametree *t, uint32_t node, int side, uint64_t count);
/* Adds how many samples or waits side 0 has there, where it counts what they stand for. */
void flametree_events(struct flametree *t, uint32_t node, uint64_t events);
/* Sets first and next. -ENOMEM. */
int flametree_sort(struct flametree *t);

static inline const char *flametree_name(const struct flametree *t, uint32_t node)
{
	return t->pool.text + t->frames[t->nodes[node].frame].name;
}

#endif
