/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_TREEORDER_H
#define STACKTOP_TUI_VIEWS_TREEORDER_H

/* In which order the siblings of a tree of calls stand. */

#include <stdbool.h>

struct calltree;

enum treeorder_by {
	TREEORDER_TOTAL, /* as a tree is loaded */
	TREEORDER_SELF,
	TREEORDER_CHANGE, /* what has grown most comes first; all are alike without a baseline */
	TREEORDER_NAME,
	TREEORDER_MODULE,
};

struct treeorder {
	enum treeorder_by by;
	bool inverted;
};

/* Nodes that have no row of their own stay behind their siblings, as those who make rows expect. */
void treeorder_apply(struct treeorder order, struct calltree *calls);

#endif
