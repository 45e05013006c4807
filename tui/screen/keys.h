/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SCREEN_KEYS_H
#define STACKTOP_TUI_SCREEN_KEYS_H

/*
 * One table of everything a key can do. The key map, the help screen, the footer and the KEYS
 * section of the manual are made from it, so none of them can promise what another does not keep.
 */

#include <stddef.h>
#include <stdio.h>

#include "tui/screen/viewlist.h"

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
	KEYCODE_MOUSE, /* no key: the mouse did something */
};

#define IN_ALL                                                                                     \
	(IN_LISTS | IN_TREE | IN_FLAME | IN_SHARDS | IN_UNWIND | IN_WAITS | IN_CODE | IN_WINGS)
#define IN_LISTS  (VIEW_BIT(VIEW_PROCS) | VIEW_BIT(VIEW_FUNCS))
#define IN_PROCS  VIEW_BIT(VIEW_PROCS)
#define IN_TREE	  (VIEW_BIT(VIEW_TREE) | VIEW_BIT(VIEW_CALLERS))
#define IN_FLAME  VIEW_BIT(VIEW_FLAME)
#define IN_CALLS  (IN_TREE | IN_FLAME)
#define IN_SHARDS VIEW_BIT(VIEW_SHARDS)
#define IN_UNWIND VIEW_BIT(VIEW_UNWIND)
#define IN_WAITS  VIEW_BIT(VIEW_WAITS)
#define IN_CODE	  VIEW_BIT(VIEW_FRAME)	   /* a function's machine code, over any view */
#define IN_WINGS  VIEW_BIT(VIEW_BUTTERFLY) /* its callers and callees, likewise */
#define IN_NAMES  (IN_CALLS | VIEW_BIT(VIEW_FUNCS))
#define IN_TABLES (IN_LISTS | IN_TREE | IN_SHARDS | IN_UNWIND)
#define IN_FRAMES (IN_LISTS | IN_CALLS | IN_WINGS) /* where frames of samples are */

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
	X(LEFT, "left", "Left h", IN_LISTS | IN_CODE | IN_WINGS, "", "scroll long names back")     \
	X(RIGHT, "right", "Right l", IN_LISTS | IN_CODE | IN_WINGS, "",                            \
	  "scroll long names forward")                                                             \
	X(TREE_OUT, "out", "Left h", IN_TREE, "",                                                  \
	  "fold the run of frames, close the node, or go to its parent")                           \
	X(TREE_IN, "in", "Right l", IN_TREE, "",                                                   \
	  "open the node, unfold a run of frames, or go to the first child")                       \
	X(FLAME_LEFT, "frame-left", "Left h", IN_FLAME, "", "the frame to the left")               \
	X(FLAME_RIGHT, "frame-right", "Right l", IN_FLAME, "", "the frame to the right")           \
	X(NEXT_VIEW, "next-view", "Tab", IN_ALL, "", "next view")                                  \
	X(PREV_VIEW, "previous-view", "S-Tab", IN_ALL, "", "previous view")                        \
	X(VIEW_1, "view-procs", "1", IN_ALL, "",                                                   \
	  "processes, and the functions of the selected one")                                      \
	X(VIEW_2, "view-funcs", "2", IN_ALL, "", "functions")                                      \
	X(VIEW_3, "view-tree", "3", IN_ALL, "", "call tree")                                       \
	X(VIEW_4, "view-callers", "4", IN_ALL, "", "functions that executed, and their callers")   \
	X(VIEW_5, "view-flame", "5", IN_ALL, "", "flame graph")                                    \
	X(VIEW_6, "view-shards", "6", IN_ALL, "", "shards of the unwind tables")                   \
	X(VIEW_7, "view-unwind", "7", IN_ALL, "", "how stacks ended, and what was lost")           \
	X(VIEW_8, "view-waits", "8", IN_ALL, "", "locks and other long waits, and who ended them") \
	X(ZOOM, "zoom", "Enter", IN_PROCS, "", "zoom into the process")                            \
	X(PAIR, "next-pair", "Enter", IN_WAITS, "", "the next pair of waiter and waker")           \
	X(CODE, "code", "Enter", VIEW_BIT(VIEW_FUNCS), "",                                         \
	  "the function's machine code; of a file its functions")                                  \
	X(FLAME_ZOOM, "frame-zoom", "Enter", IN_FLAME, "", "zoom into the frame")                  \
	X(INSIDE, "inside", "Enter", IN_SHARDS, "", "go to the objects of the shard")              \
	X(DEEPER, "deeper", "Enter", IN_UNWIND, "",                                                \
	  "zoom in: the process, then where its walks ended")                                      \
	X(INSPECT, "inspect", "i", IN_ALL, "",                                                     \
	  "catch a stack walk of the process and step through it")                                 \
	X(BUTTERFLY, "butterfly", "f", IN_FRAMES | IN_UNWIND | IN_CODE, "",                        \
	  "callers and callees of the function")                                                   \
	X(WALK, "walk", "Enter", IN_WINGS, "", "callers and callees of that caller or callee")     \
	X(ANNOTATE, "annotate", "a", IN_FRAMES | IN_UNWIND, "", "machine code, source, samples")   \
	X(CFI, "cfi", "x", IN_UNWIND | IN_CODE, "",                                                \
	  "switch between the function's raw CFI and its code")                                    \
	X(HOTTEST, "hottest", "a", IN_CODE, "",                                                    \
	  "go to the hottest instruction; again: the next one")                                    \
	X(TARGET, "target", "Enter", IN_CODE, "", "go to the target of the jump")                  \
	X(SYNTAX, "syntax", "s", IN_CODE, "", "write the code as Intel does, or AT&T")             \
	X(BACK, "back", "Esc Backspace", IN_ALL, "", "go back one level")                          \
	X(TREE_TOGGLE, "toggle", "Enter e", IN_TREE, "", "open or close the node")                 \
	X(TREE_OPEN, "open", "+", IN_TREE, "", "open the node, or unfold a run of frames")         \
	X(TREE_CLOSE, "close", "-", IN_TREE, "", "close the node")                                 \
	X(TREE_ALL, "open-all", "E", IN_TREE, "", "open and unfold all nodes")                     \
	X(TREE_NONE, "close-all", "C", IN_TREE, "", "close all nodes")                             \
	X(TREE_SUBTREE, "subtree", "*", IN_TREE, "", "open the node and all nodes below it")       \
	X(TREE_DEPTH, "depth", "D", IN_TREE, "", "open the tree down to a level (asks)")           \
	X(HOTTEST_LEAF, "hottest-leaf", "p", IN_CALLS, "",                                         \
	  "go to the frame with most samples of its own")                                          \
	X(WHOLE_NAME, "whole-name", "s", IN_FRAMES, "", "show the whole name of the function")     \
	X(FLIP, "flip", "b", IN_CALLS, "", "switch between callees and callers")                   \
	X(CYCLE, "cycle", "F5", IN_FRAMES, "Tree",                                                 \
	  "Tree, Callers and Flame of the same samples, in turn")                                  \
	X(FLAME_TURN, "turn", "v", IN_FLAME, "", "turn the graph upside down")                     \
	X(FLAME_COLOR, "colors", "c", IN_FLAME, "",                                                \
	  "colour by module, heat, side, or difference (X)")                                       \
	X(SEARCH, "search", "F3 /", IN_ALL, "Search",                                              \
	  "search for a regular expression, in any case")                                          \
	X(SEARCH_NEXT, "search-next", "n", IN_ALL, "", "next match")                               \
	X(SEARCH_PREV, "search-previous", "N", IN_ALL, "", "previous match")                       \
	X(SAME_NAME, "same-name", "#", IN_CALLS | IN_LISTS, "",                                    \
	  "search for the name under the cursor")                                                  \
	X(FILTER, "filter", "F4 \\", IN_ALL, "Filter",                                             \
	  "filter: [!][column:]regex, empty for none")                                             \
	X(TAKE_BACK, "take-back", "r", IN_ALL, "",                                                 \
	  "take back the last chip of the header; again: the one before it")                       \
	X(FILTER_USER, "filter-user", "u", IN_ALL, "", "show only the processes of a user (asks)") \
	X(FILTER_GROUP, "filter-cgroup", "O", IN_ALL, "", "show only a container or unit (asks)")  \
	X(SORT, "sort", "F6", IN_TABLES, "Sort", "choose the column to sort by")                   \
	X(SORT_LEFT, "sort-left", "<", IN_TABLES, "", "sort by the column to the left")            \
	X(SORT_RIGHT, "sort-right", ">", IN_TABLES, "", "sort by the column to the right")         \
	X(INVERT, "invert", "I", IN_TABLES, "", "invert the order")                                \
	X(SORT_SELF, "sort-self", "S", IN_LISTS | VIEW_BIT(VIEW_TREE), "",                         \
	  "sort functions by self, or by total")                                                   \
	X(FREEZE, "freeze", "F8 z", IN_ALL, "Freeze", "freeze the view; sampling goes on")         \
	X(LIVE, "live", "Z", IN_ALL, "", "show what is sampled now")                               \
	X(MARK, "mark", "M", IN_ALL, "", "frozen: mark a range of time from here to the cursor")   \
	X(BASELINE, "baseline", "B", IN_FRAMES, "", "remember what is shown as the baseline")      \
	X(DIFF, "difference", "X", IN_FRAMES, "", "show the difference from the baseline")         \
	X(ZERO, "zero", "0", IN_ALL, "", "set all counts to zero")                                 \
	X(WEIGH, "weigh", "m", IN_ALL & ~IN_SHARDS, "",                                            \
	  "count the window, all since zero, or decaying samples")                                 \
	X(KERNEL, "kernel", "K", IN_FRAMES, "", "hide or show kernel frames")                      \
	X(USER, "user", "U", IN_FRAMES, "", "hide or show user frames")                            \
	X(INLINE, "inline", "J", IN_FRAMES, "", "hide or show inlined calls")                      \
	X(FRAMES, "frames", "Y", IN_FRAMES, "",                                                    \
	  "interpreted languages: merge frames, show all, or only the language's")                 \
	X(MEASURE, "measure", "Q", IN_ALL, "",                                                     \
	  "count time on CPUs, off-CPU waits of threads, or both (wall)")                          \
	X(WAKERS, "wakers", "^W", IN_FRAMES, "",                                                   \
	  "who ended the waits of what is under the cursor")                                       \
	X(THREADS, "threads", "H", IN_ALL, "",                                                     \
	  "Procs: a row for each thread, or for each process")                                     \
	X(GROUP, "group", "c", IN_PROCS, "",                                                       \
	  "group by program, container, user, as a tree, or not at all")                           \
	X(SUM, "sum", "c", VIEW_BIT(VIEW_FUNCS), "",                                               \
	  "sum by source file and object, or by function")                                         \
	X(BY_CPU, "by-cpu", "W", IN_ALL, "", "turn counts per CPU on or off, as rows of Procs")    \
	X(ZOOM_THREAD, "zoom-thread", "T", IN_PROCS, "", "zoom into the thread")                   \
	X(ZOOM_MODULE, "zoom-module", "d", IN_NAMES, "", "zoom into the function's module")        \
	X(OF_PARENT, "of-parent", "%", IN_TREE, "",                                                \
	  "show shares of all samples, or of the parent")                                          \
	X(LIMIT, "limit", "L", IN_TREE, "", "hide nodes below a percentage (asks)")                \
	X(MODULES, "modules", "V", IN_LISTS | IN_TREE | IN_WINGS, "",                              \
	  "hide or show names of modules")                                                         \
	X(ATTACH, "attach", "F9 A", IN_ALL, "Attach",                                              \
	  "attach by PID, name, user:X, cgroup:X, container:X; -X detaches")                       \
	X(TAG, "tag", "t", IN_PROCS, "",                                                           \
	  "tag or untag the process; other views add up the tagged")                               \
	X(TAG_PLAY, "tag-or-play", "Space", IN_PROCS, "", "tag or untag; replay: play or pause")   \
	X(FOLLOW, "follow", "F", IN_LISTS, "", "keep the cursor on its row, also through exec")    \
	X(UNTAG, "untag", "^T", IN_ALL, "", "untag all")                                           \
	X(RESET, "reset", "R", IN_ALL, "", "reset unwind shards: one or all (asks)")               \
	X(DROP, "drop", "Del", IN_SHARDS, "", "drop the object's table until it is sampled again") \
	X(PIN, "pin", "p", IN_SHARDS, "",                                                          \
	  "pin or unpin the object: a pinned table is not evicted")                                \
	X(EVENT, "event", "F7", IN_ALL, "Event", "choose the event to sample; counts start again") \
	X(GIVE_UP, "give-up", "^G", IN_ALL, "", "stop fetching debug files (--debuginfod)")        \
	X(SLOWER, "slower", "[", IN_ALL, "", "refresh less often; replay: slower")                 \
	X(FASTER, "faster", "]", IN_ALL, "", "refresh more often; replay: faster")                 \
	X(WRITE, "write", "w", IN_ALL, "", "write the samples: flame graph, pprof, session, more") \
	X(COPY, "copy", "y", IN_FRAMES, "", "copy the path or name to the terminal's clipboard")   \
	X(PICTURE, "picture", "P", IN_ALL, "", "write the screen as a drawing or as text")         \
	X(PLAY, "play", "Space", IN_ALL & ~IN_PROCS, "", "replay: play or pause")                  \
	X(STEP_BACK, "step-back", ",", IN_ALL, "",                                                 \
	  "go back a second (freezes); replay: back a refresh")                                    \
	X(STEP_ON, "step-on", ".", IN_ALL, "", "go on a second; replay: pause, go on a refresh")   \
	X(FAR_BACK, "far-back", "{", IN_ALL, "",                                                   \
	  "go back ten seconds (freezes); replay: ten refreshes")                                  \
	X(FAR_ON, "far-on", "}", IN_ALL, "", "go on ten seconds; replay: ten refreshes")           \
	X(JUMP, "jump", "@", IN_ALL, "", "replay: jump to a time (asks)")                          \
	X(ASCII, "ascii", "~", IN_ALL, "", "draw with ASCII or with UTF-8")                        \
	X(REDRAW, "redraw", "^L", IN_ALL, "", "redraw the screen")                                 \
	X(MOUSE, "mouse", "^E", IN_ALL, "", "give the mouse to the terminal, or take it back")     \
	X(COMMAND, "command", ":", IN_ALL, "",                                                     \
	  "type a command; a few letters of its name find it")                                     \
	X(SETUP, "setup", "F2 o", IN_ALL, "Setup", "settings, columns and keys")                   \
	X(HELP, "help", "F1 ?", IN_ALL, "Help", "this help")                                       \
	X(QUIT, "quit", "F10 q", IN_ALL, "Quit", "quit")

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
/* Where the row works, or, of most views, where it does not: "Tree, Callers", "not Shards"; "" for
 * everywhere. */
void keys_views(const struct key_row *row, char *to, size_t size);
/* The rows as man(7) items, for the KEYS section of the manual. */
void keys_write_table(FILE *to);

#endif
