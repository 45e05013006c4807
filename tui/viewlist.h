/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWLIST_H
#define STACKTOP_TUI_VIEWLIST_H

/*
 * The views by number. Keys, themes, tabs and the manual need the list without needing to know
 * what a view is.
 */

/* id, title on the tab, name in theme files and in the manual */
#define VIEW_LIST(X)                                                                               \
	X(PROCS, "Procs", "procs")                                                                 \
	X(FUNCS, "Funcs", "funcs")                                                                 \
	X(TREE, "Tree", "tree")

enum ui_view {
	VIEW_FRAME, /* what surrounds the views: header, tabs, footer */
#define VIEW_ENUM(id, title, name) VIEW_##id,
	VIEW_LIST(VIEW_ENUM)
#undef VIEW_ENUM
		VIEW_COUNT
};

#define VIEW_BIT(view) (1U << (view))

#endif
