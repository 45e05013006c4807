/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_TREEORDER_H
#define STACKTOP_TUI_VIEWS_TREEORDER_H

/* The order of siblings in a call tree. */

#include <stdbool.h>

struct calltree;

enum treeorder_by {
	TREEORDER_TOTAL, /* as a tree is loaded */
	TREEORDER_SELF,
	TREEORDER_CHANGE, /* the largest growth first; all are equal without a baseline */
	TREEORDER_NAME,
	TREEORDER_MODULE,
};

struct treeorder {
	enum treeorder_by by;
	bool inverted;
};

/* Small nodes stay behind their siblings, as treerows_make expects. */
void treeorder_apply(struct treeorder order, struct calltree *calls);

#endif
