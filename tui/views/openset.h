/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_OPENSET_H
#define STACKTOP_TUI_VIEWS_OPENSET_H

/*
 * Which nodes of the tree are open, by path, so that they stay open although the tree is rebuilt
 * every second. Nodes that were never opened or closed follow the mode. Memory is bounded.
 */

#include <stdbool.h>
#include <stdint.h>

enum openset_mode {
	OPENSET_HOT, /* a node that was once hot stays open */
	OPENSET_ALL,
	OPENSET_NONE,
	OPENSET_DEPTH, /* see openset_depth */
};

struct openset;

/* NULL: no memory. */
struct openset *openset_new(void);
void openset_free(struct openset *set);
/* Forgets all nodes and sets the mode. */
void openset_reset(struct openset *set, enum openset_mode mode);
/* The same, with the tree open down to this level; outermost nodes are level 1. */
void openset_depth(struct openset *set, uint32_t levels);
/* level: of the node, from 1 on. hot: opens a node that follows the mode OPENSET_HOT. */
bool openset_get(struct openset *set, uint64_t path, uint32_t level, bool hot);
/* -ENOMEM: the node keeps its state. */
int openset_put(struct openset *set, uint64_t path, bool open);

#endif
