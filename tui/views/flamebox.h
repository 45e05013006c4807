/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_FLAMEBOX_H
#define STACKTOP_TUI_VIEWS_FLAMEBOX_H

/*
 * The boxes of a flame view: one for each node that is at least half a column wide, level by level
 * below the node that fills the width.
 */

#include <stddef.h>
#include <stdint.h>

struct tree;
struct tree_part;

struct flame_box {
	uint32_t node;
	uint32_t level;	 /* 0: the node that fills the width */
	uint32_t parent; /* box; its own number on level 0 */
	int from, to;	 /* columns, without `to` */
	double start;	 /* samples left of it */
};

struct flame {
	struct flame_box *boxes; /* by level, then from left to right */
	size_t count, room;
	uint32_t levels;
};

/* Makes the boxes below `top` for a width of columns. part: the tree is that of the part, which is
 * asked for the children of nodes with boxes; NULL: it is complete. -ENOMEM: there are none. */
int flame_make(struct flame *flame, const struct tree *tree, struct tree_part *part, uint32_t top,
	       int columns);
void flame_free(struct flame *flame);

#define FLAME_NONE SIZE_MAX

/* Box of the node, or FLAME_NONE. */
size_t flame_find(const struct flame *flame, uint32_t node);
/* The box beside it on its level, or the box itself. step: -1 left, 1 right. */
size_t flame_beside(const struct flame *flame, size_t box, int step);
/* The widest box on top of it, or the box itself. */
size_t flame_deeper(const struct flame *flame, size_t box);
/* The box that covers the column on the level, or FLAME_NONE. */
size_t flame_at(const struct flame *flame, uint32_t level, int column);

#endif
