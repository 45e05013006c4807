/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_OPENSET_H
#define STACKTOP_TUI_OPENSET_H

/*
 * Which nodes of the tree are open, by path, so that they stay open while the tree is built anew
 * every second. What nobody decided follows the mode; the memory is bounded.
 */

#include <stdbool.h>
#include <stdint.h>

enum openset_mode {
	OPENSET_HOT, /* a node that was once hot stays open */
	OPENSET_ALL,
	OPENSET_NONE,
};

struct openset;

/* NULL: no memory. */
struct openset *openset_new(void);
void openset_free(struct openset *set);
/* Forgets every node; from now on undecided ones follow the mode. */
void openset_reset(struct openset *set, enum openset_mode mode);
/* hot: the node is worth being shown open if nobody decided. */
bool openset_get(struct openset *set, uint64_t path, bool hot);
/* -ENOMEM: the node keeps its state. */
int openset_put(struct openset *set, uint64_t path, bool open);

#endif
