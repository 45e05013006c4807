/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_TREE_PLAIN_H
#define STACKTOP_TUI_VIEWS_TREE_PLAIN_H

#include <stdbool.h>

struct calltree;
struct plain_list;
struct ui;

/* The largest paths of the tree, whose siblings are in order, by the column of that title. -ENOMEM.
 */
int tree_plain(struct plain_list *list, const struct ui *ui, const struct calltree *calls,
	       bool callers, const char *by);
/* As view_ops.plain, for a view that does not have the whole tree: it is loaded here, from the
 * outermost function down. */
int tree_plain_whole(const struct ui *ui, struct plain_list *list);

#endif
