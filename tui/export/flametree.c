/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See flametree.h. */
#include "tui/export/flametree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/grow.h"
#include "tui/util/share.h"

int64_t flametree_frame(struct flametree *t, enum role role, const char *name, const char *detail)
{
	uint64_t text = idtable_mix(idtable_text(name), idtable_text(detail));
	uint32_t hash = (uint32_t)idtable_mix((uint64_t)role, text), id;
	struct flametree_frame frame = {.role = role};

	for (uint32_t at = hash; (id = idtable_next(&t->frame_index, hash, &at)) != IDTABLE_NONE;)
		if (t->frames[id].role == role &&
		    !strcmp(t->pool.text + t->frames[id].name, name) &&
		    !strcmp(t->pool.text + t->frames[id].detail, detail))
			return id;
	if (t->pool.size > FLAMETREE_TEXT_MAX)
		return -EFBIG;
	if (GROW(t->frames, t->nframes, t->frames_room, UINT32_MAX) ||
	    idtable_reserve(&t->frame_index, t->nframes + 1u) ||
	    textpool_add(&t->pool, name, &frame.name) ||
	    textpool_add(&t->pool, detail, &frame.detail))
		return -ENOMEM;
	t->frames[t->nframes] = frame;
	idtable_add(&t->frame_index, hash, t->nframes);
	return t->nframes++;
}

int64_t flametree_child(struct flametree *t, uint32_t node, uint32_t frame)
{
	uint32_t hash = (uint32_t)idtable_mix(node, frame), id;

	for (uint32_t at = hash; (id = idtable_next(&t->node_index, hash, &at)) != IDTABLE_NONE;)
		if (t->nodes[id].parent == node && t->nodes[id].frame == frame)
			return id;
	if (t->nnodes >= FLAMETREE_NODES_MAX || t->nodes[node].depth >= FLAMETREE_DEPTH_MAX)
		return node;
	if (GROW(t->nodes, t->nnodes, t->nodes_room, UINT32_MAX) ||
	    idtable_reserve(&t->node_index, t->nnodes + 1u))
		return -ENOMEM;
	t->nodes[t->nnodes] = (struct flametree_node){
		.frame = frame, .parent = node, .depth = t->nodes[node].depth + 1};
	idtable_add(&t->node_index, hash, t->nnodes);
	return t->nnodes++;
}

void flametree_count(struct flametree *t, uint32_t node, int side, uint64_t count)
{
	t->nodes[node].self[side] += count;
	for (;; node = t->nodes[node].parent) {
		t->nodes[node].total[side] += count;
		if (!node)
			return;
	}
}

void flametree_events(struct flametree *t, uint32_t node, uint64_t events)
{
	for (;; node = t->nodes[node].parent) {
		t->nodes[node].events += events;
		if (!node)
			return;
	}
}

int flametree_new(struct flametree *t, const char *root)
{
	int64_t frame;

	*t = (struct flametree){0};
	frame = flametree_frame(t, ROLE_TITLE, root, "");
	if (frame < 0 || GROW(t->nodes, t->nnodes, t->nodes_room, UINT32_MAX))
		return -ENOMEM;
	t->nodes[0] = (struct flametree_node){
		.frame = (uint32_t)frame, .first = FLAMETREE_NONE, .next = FLAMETREE_NONE};
	t->nnodes = 1;
	return 0;
}

void flametree_free(struct flametree *t)
{
	textpool_free(&t->pool);
	free(t->frames);
	free(t->nodes);
	idtable_free(&t->frame_index);
	idtable_free(&t->node_index);
	*t = (struct flametree){0};
}

/* Siblings are adjacent, the last one first. */
static int by_place(const void *a, const void *b, void *arg)
{
	const struct flametree *t = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return ORDER(t->nodes[x].parent, t->nodes[y].parent)
		       ?: strcmp(flametree_name(t, y), flametree_name(t, x)) ?: ORDER(y, x);
}

int flametree_sort(struct flametree *t)
{
	uint32_t *order = calloc(t->nnodes, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->nnodes; i++) {
		order[i] = i;
		t->nodes[i].first = t->nodes[i].next = FLAMETREE_NONE;
	}
	qsort_r(order + 1, t->nnodes - 1u, sizeof(*order), by_place, t);
	for (uint32_t i = 1; i < t->nnodes; i++) {
		struct flametree_node *node = &t->nodes[order[i]];

		node->next = t->nodes[node->parent].first;
		t->nodes[node->parent].first = order[i];
	}
	free(order);
	return 0;
}
