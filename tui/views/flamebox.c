// SPDX-License-Identifier: GPL-2.0-or-later
/* Rounds edges, not widths: a box stays within its parent, and rounding errors do not add up. */
#include "tui/views/flamebox.h"

#include <errno.h>
#include <stdlib.h>

#include "symbols/base/grow.h"
#include "tui/query/query.h"

static int add(struct flame *flame, struct flame_box box)
{
	if (GROW(flame->boxes, flame->count, flame->room, SIZE_MAX))
		return -ENOMEM;
	if (box.level == flame->levels)
		flame->levels++;
	flame->boxes[flame->count++] = box;
	return 0;
}

static int round_column(double column)
{
	return (int)(column + 0.5);
}

/* The boxes on top of box `at`. */
static int add_children(struct flame *flame, const struct tree *tree, size_t at, double scale)
{
	const struct flame_box on = flame->boxes[at];
	double start = on.start;

	for (uint32_t c = tree->nodes[on.node].first_child; c; c = tree->nodes[c].next) {
		double end = start + (double)tree->nodes[c].total;
		struct flame_box box = {
			.node = c,
			.level = on.level + 1,
			.parent = (uint32_t)at,
			.from = round_column(start * scale),
			.to = round_column(end * scale),
			.start = start,
		};

		start = end;
		if (box.to > box.from && add(flame, box))
			return -ENOMEM;
	}
	return 0;
}

int flame_make(struct flame *flame, const struct tree *tree, struct tree_part *part, uint32_t top,
	       int columns)
{
	double scale;
	int err;

	flame->count = 0;
	flame->levels = 0;
	if (top >= tree->count || !tree->nodes[top].total || columns < 1)
		return 0;
	scale = columns / (double)tree->nodes[top].total;
	err = add(flame, (struct flame_box){.node = top, .to = columns});
	for (size_t at = 0; !err && at < flame->count; at++) {
		if (part)
			err = query_part_children(part, flame->boxes[at].node);
		if (!err)
			err = add_children(flame, tree, at, scale);
	}
	if (err)
		flame->count = flame->levels = 0;
	return err;
}

void flame_free(struct flame *flame)
{
	free(flame->boxes);
	*flame = (struct flame){0};
}

size_t flame_find(const struct flame *flame, uint32_t node)
{
	for (size_t i = 0; i < flame->count; i++)
		if (flame->boxes[i].node == node)
			return i;
	return FLAME_NONE;
}

size_t flame_beside(const struct flame *flame, size_t box, int step)
{
	size_t next = step < 0 ? box - 1 : box + 1;

	/* Box 0 minus one is beyond the last one, too. */
	if (next >= flame->count || flame->boxes[next].level != flame->boxes[box].level)
		return box;
	return next;
}

size_t flame_deeper(const struct flame *flame, size_t box)
{
	size_t best = box;
	int width = 0;

	for (size_t i = box + 1; i < flame->count; i++) {
		const struct flame_box *b = &flame->boxes[i];

		if (b->level > flame->boxes[box].level + 1)
			break;
		if (b->parent == box && b->level > flame->boxes[box].level &&
		    b->to - b->from > width) {
			best = i;
			width = b->to - b->from;
		}
	}
	return best;
}

size_t flame_at(const struct flame *flame, uint32_t level, int column)
{
	for (size_t i = 0; i < flame->count; i++) {
		const struct flame_box *b = &flame->boxes[i];

		if (b->level == level && b->from <= column && column < b->to)
			return i;
	}
	return FLAME_NONE;
}
