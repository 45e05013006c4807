/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SCREEN_VIEWLIST_H
#define STACKTOP_TUI_SCREEN_VIEWLIST_H

/*
 * The views by number. Keys, themes, tabs and the manual need the list without needing to know
 * what a view is.
 */

/* id, its number on the tab and its key, title, name in theme files and in the manual */
#define VIEW_LIST(X)                                                                               \
	X(PROCS, 1, "Procs", "procs")                                                              \
	X(FUNCS, 2, "Funcs", "funcs")                                                              \
	X(TREE, 3, "Tree", "tree")                                                                 \
	X(CALLERS, 4, "Callers", "callers")                                                        \
	X(FLAME, 5, "Flame", "flame")                                                              \
	X(SHARDS, 6, "Shards", "shards")                                                           \
	X(UNWIND, 7, "Unwind", "unwind")                                                           \
	X(WAITS, 8, "Waits", "waits")

enum ui_view {
	VIEW_FRAME, /* what surrounds the views: header, tabs, footer */
#define VIEW_ENUM(id, number, title, name) VIEW_##id,
	VIEW_LIST(VIEW_ENUM)
#undef VIEW_ENUM
		VIEW_COUNT,
	VIEW_BUTTERFLY = VIEW_COUNT, /* no view: the keys of what lies over one */
	VIEW_KEYS_COUNT,	     /* of those with keys of their own */
};

#define VIEW_BIT(view) (1U << (view))

#endif
