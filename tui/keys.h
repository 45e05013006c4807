/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_KEYS_H
#define STACKTOP_TUI_KEYS_H

/*
 * One table of everything a key can do. The key map, the help screen, the footer and the KEYS
 * section of the manual are made from it, so none of them can promise what another does not keep.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tui/viewlist.h"

/* Keys that are no characters; characters are their Unicode number, ^A to ^Z are 1 to 26. */
enum keycode {
	KEYCODE_NONE = -1,
	KEYCODE_TAB = 9,
	KEYCODE_ENTER = 13,
	KEYCODE_ESCAPE = 27,
	KEYCODE_UP = 0x110000,
	KEYCODE_DOWN,
	KEYCODE_LEFT,
	KEYCODE_RIGHT,
	KEYCODE_PAGE_UP,
	KEYCODE_PAGE_DOWN,
	KEYCODE_HOME,
	KEYCODE_END,
	KEYCODE_BACKTAB,
	KEYCODE_BACKSPACE,
	KEYCODE_DELETE,
	KEYCODE_F0, /* F1 is KEYCODE_F0 + 1, up to F12 */
	KEYCODE_LAST = KEYCODE_F0 + 12,
};

#define IN_ALL	 (VIEW_BIT(VIEW_PROCS) | VIEW_BIT(VIEW_FUNCS) | VIEW_BIT(VIEW_TREE))
#define IN_LISTS (VIEW_BIT(VIEW_PROCS) | VIEW_BIT(VIEW_FUNCS))
#define IN_PROCS VIEW_BIT(VIEW_PROCS)
#define IN_TREE	 VIEW_BIT(VIEW_TREE)

/*
 * id, name, default keys, views, label in the footer ("" for none), help line. The order is that
 * of the help screen. Of two actions with the same key the first that works in the view is taken.
 */
#define KEYS_ACTIONS(X)                                                                            \
	X(UP, "up", "Up k ^P", IN_ALL, "", "one row up")                                           \
	X(DOWN, "down", "Down j ^N", IN_ALL, "", "one row down")                                   \
	X(PAGE_UP, "page-up", "PgUp ^B", IN_ALL, "", "one page up")                                \
	X(PAGE_DOWN, "page-down", "PgDn ^F", IN_ALL, "", "one page down")                          \
	X(HALF_UP, "half-up", "^U", IN_ALL, "", "half a page up")                                  \
	X(HALF_DOWN, "half-down", "^D", IN_ALL, "", "half a page down")                            \
	X(FIRST, "first", "g Home", IN_ALL, "", "first row")                                       \
	X(LAST, "last", "G End", IN_ALL, "", "last row")                                           \
	X(LEFT, "left", "Left h", IN_LISTS, "", "scroll long names back")                          \
	X(RIGHT, "right", "Right l", IN_LISTS, "", "scroll long names to their end")               \
	X(TREE_OUT, "out", "Left h", IN_TREE, "", "close the node, or go to its parent")           \
	X(TREE_IN, "in", "Right l", IN_TREE, "", "open the node, or go to its first child")        \
	X(NEXT_VIEW, "next-view", "Tab", IN_ALL, "", "next view")                                  \
	X(PREV_VIEW, "previous-view", "S-Tab", IN_ALL, "", "previous view")                        \
	X(VIEW_1, "view-procs", "1", IN_ALL, "", "processes, and functions of the one chosen")     \
	X(VIEW_2, "view-funcs", "2", IN_ALL, "", "functions")                                      \
	X(VIEW_3, "view-tree", "3", IN_ALL, "", "call tree")                                       \
	X(ZOOM, "zoom", "Enter", IN_PROCS, "", "zoom into the process")                            \
	X(BACK, "back", "Esc Backspace", IN_ALL, "", "one level back")                             \
	X(TREE_TOGGLE, "toggle", "Enter e", IN_TREE, "", "open or close the node")                 \
	X(TREE_OPEN, "open", "+", IN_TREE, "", "open the node")                                    \
	X(TREE_CLOSE, "close", "-", IN_TREE, "", "close the node")                                 \
	X(TREE_ALL, "open-all", "E", IN_TREE, "", "open all nodes")                                \
	X(TREE_NONE, "close-all", "C", IN_TREE, "", "close all nodes")                             \
	X(TREE_SUBTREE, "subtree", "*", IN_TREE, "", "open the node with all below it")            \
	X(SEARCH, "search", "F3 /", IN_ALL, "Search", "search (a regular expression, any case)")   \
	X(SEARCH_NEXT, "search-next", "n", IN_ALL, "", "next match")                               \
	X(SEARCH_PREV, "search-previous", "N", IN_ALL, "", "previous match")                       \
	X(SORT, "sort", "F6", IN_LISTS, "Sort", "choose the column to sort by")                    \
	X(SORT_LEFT, "sort-left", "<", IN_LISTS, "", "sort by the column to the left")             \
	X(SORT_RIGHT, "sort-right", ">", IN_LISTS, "", "sort by the column to the right")          \
	X(INVERT, "invert", "I", IN_LISTS, "", "invert the order")                                 \
	X(SORT_TOTAL, "sort-total", "P", IN_LISTS, "",                                             \
	  "sort processes by CPU, functions by total")                                             \
	X(SORT_SELF, "sort-self", "S", IN_LISTS, "", "sort functions by self")                     \
	X(FREEZE, "freeze", "F8 z", IN_ALL, "Freeze", "freeze the view; sampling goes on")         \
	X(ZERO, "zero", "0", IN_ALL, "", "forget all counts and start again")                      \
	X(WEIGH, "weigh", "m", IN_ALL, "", "weigh the sliding window, or all since the zero")      \
	X(KERNEL, "kernel", "K", IN_ALL, "", "hide or show kernel frames")                         \
	X(USER, "user", "U", IN_ALL, "", "hide or show user frames")                               \
	X(MODULES, "modules", "V", IN_ALL, "", "hide or show names of modules")                    \
	X(ATTACH, "attach", "F9 A", IN_ALL, "Attach", "attach by PID or name; -PID, -NAME detach") \
	X(ATTACH_THIS, "attach-this", "Space", IN_PROCS, "", "attach to the process, or detach")   \
	X(RESET, "reset", "R", IN_ALL, "", "reset unwind shards: one or all (asks)")               \
	X(SLOWER, "slower", "[", IN_ALL, "", "refresh less often")                                 \
	X(FASTER, "faster", "]", IN_ALL, "", "refresh more often")                                 \
	X(ASCII, "ascii", "~", IN_ALL, "", "ASCII or UTF-8")                                       \
	X(REDRAW, "redraw", "^L", IN_ALL, "", "redraw the screen")                                 \
	X(HELP, "help", "F1 ?", IN_ALL, "Help", "this help")                                       \
	X(QUIT, "quit", "F10 q", IN_ALL, "Quit", "end")

enum action {
	ACTION_NONE,
#define KEYS_ENUM(id, name, keys, views, label, help) ACTION_##id,
	KEYS_ACTIONS(KEYS_ENUM)
#undef KEYS_ENUM
		ACTION_COUNT
};

struct key_row {
	enum action action;
	const char *name;
	const char *keys; /* separated by blanks */
	unsigned int views;
	const char *label;
	const char *help;
};

/* The table in the order above; count may be NULL. Static. */
const struct key_row *keys_table(size_t *count);
/* Number of the key of that name ("k", "^P", "F9", "Space"); KEYCODE_NONE: there is none. */
int keys_parse(const char *name, size_t length);
/* What a key does in a view. */
enum action keys_action(int key, enum ui_view view);
/* The rows as man(7) items, for the KEYS section of the manual. */
void keys_write_table(FILE *to);

#endif
