/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_VIEW_H
#define STACKTOP_TUI_UI_VIEW_H

/*
 * A view is one file that ends in a table of these operations. It keeps copies of what it took from
 * the profile, so that it is drawn and moved about in without the lock.
 */

#include <stdbool.h>

#include "tui/screen/columns.h"
#include "tui/screen/list.h"
#include "tui/ui/ui.h"

struct plain_list;

/* Where the cursor of a view is, in terms of its own. */
struct view_place {
	struct list list[2];
	uint64_t id[3];
	void *more; /* to be freed */
};

struct view_ops {
	const char *title;
	void *(*open)(void); /* the view's state; NULL: no memory */
	void (*close)(void *state);
	/* Asks the profile. Its lock is held, so this does nothing but memory work. -ENOMEM. */
	int (*load)(struct ui *ui, const struct profile *p);
	/* Makes the rows from what was loaded; the cursor stays on its item. -ENOMEM. */
	int (*sort)(struct ui *ui);
	/* Draws into `rows` rows from `top` on. */
	void (*draw)(struct ui *ui, struct grid *g, int top, int rows);
	/* Returns enum ui_flags. */
	unsigned int (*key)(struct ui *ui, enum action action);
	/* Moves to the next match in the direction of step (+1, -1), or the one under the cursor
	 * when `here`; returns flags, 0 when nothing matches. */
	unsigned int (*find)(struct ui *ui, int step, bool here);
	/* Copies where the cursor is into a zeroed place; with `back` puts it there again, so that
	 * the next sort finds its row. Returns enum ui_flags. */
	unsigned int (*place)(struct ui *ui, struct view_place *place, bool back);
	/* It has asked for something that has not come yet: a walk, the shards; NULL: never. */
	bool (*waits)(const struct ui *ui);
	/* The columns and which of them the rows are sorted by; NULL: there are none. */
	const struct column *(*columns)(int *count, const struct ui *ui, int *sorted);
	/* The columns of table `at` of the view, from 0 on; NULL behind the last. A view without
	 * this operation has one table, that of `columns`. */
	const struct column *(*table)(int at, int *count);
	/* NULL: the order is fixed. */
	unsigned int (*sort_by)(struct ui *ui, int column);
	/* The function under the cursor, valid until the next load; NULL: none. */
	const struct profile_func *(*function)(const struct ui *ui);
	/* The process of what is under the cursor; false: it is of several, or of that which is
	 * zoomed into. NULL: likewise. */
	bool (*process)(const struct ui *ui, pid_t *pid, uint64_t *image);
	/* Puts the cursor on the function with that names_hash, where it has most samples if there
	 * are several; 0: it has none that is shown, and nothing is changed. Else flags. NULL: its
	 * rows are no functions. */
	unsigned int (*select)(struct ui *ui, uint64_t func);
	/* What names the frame under the cursor to others, "" for nothing; NULL: the function does.
	 */
	void (*copy)(const struct ui *ui, char *to, size_t size);
	/* A row about what is under the cursor, below the view; false: the view says it elsewhere,
	 * or there is nothing. NULL: never. */
	bool (*details)(const struct ui *ui, struct grid *g, int row);
	/* Its rows in words, from what was loaded and sorted last. -ENOMEM. */
	int (*plain)(const struct ui *ui, struct plain_list *list);
	/* A click into its ZONE_BODY, counted from there; NULL: there is none. */
	unsigned int (*click)(struct ui *ui, int row, int col, bool twice);
};

extern const struct view_ops procs_view, funcs_view, tree_view, callers_view, flame_view,
	shards_view, unwind_view, waits_view;

/* The process under the cursor of Procs; none: nothing is changed. */
void procs_under_cursor(const struct ui *ui, pid_t *pid, uint64_t *image);
/* Goes to Unwind and catches a walk of the process that ends for the reason (enum walk_reason; 0:
 * any), to go through it. */
unsigned int unwind_inspect(struct ui *ui, pid_t pid, unsigned int reason);

/* The view that is shown. */
const struct view_ops *view_get(const struct ui *ui);

/* A row of Procs, found again in every refresh, and what it counts. */
struct procs_scope {
	enum grouping grouping;
	pid_t pid; /* (pid, image) is the process; of a group, what it looks like */
	uint64_t image;
	uint32_t tid;  /* only this thread; 0: all */
	uint32_t cpu;  /* + 1, of GROUP_CPU */
	bool several;  /* it counts for several processes: see procs_members */
	char name[80]; /* of the row */
};

/* The row under the cursor; zeroed: there is none. */
void procs_scope(const struct ui *ui, struct procs_scope *to);
/* The processes that the row counts, as they were loaded last, for a query before the next call.
 * The lock is held. -ENOMEM, or -ESRCH: there is no such row any more. */
int procs_members(const struct ui *ui, const struct profile *p, const struct procs_scope *scope,
		  struct sample_filter *members);

/*
 * An overlay lies over the rows of the view (a function's code), or over the whole screen (help,
 * setup). All but draw and key may be NULL.
 */
struct overlay_ops {
	void (*draw)(struct ui *ui, struct grid *g, int top, int rows);
	/* Over rows: an enum action, 0 when it means nothing here. Over the whole screen: a key of
	 * keys.h. Returns enum ui_flags. */
	unsigned int (*key)(struct ui *ui, int key);
	/* Asks the profile for news; the lock is not held. -ENOMEM. */
	int (*load)(struct ui *ui);
	/* As view_ops.function. */
	const struct profile_func *(*function)(const struct ui *ui);
	/* As view_ops.find. */
	unsigned int (*find)(struct ui *ui, int step, bool here);
	/* As view_ops.place. */
	unsigned int (*place)(struct ui *ui, struct view_place *place, bool back);
	/* As view_ops.waits. */
	bool (*waits)(const struct ui *ui);
	/* As view_ops.plain. */
	int (*plain)(const struct ui *ui, struct plain_list *list);
	/* All counts are zero from now on. */
	void (*reset)(struct ui *ui);
	/* Frees its state. */
	void (*close)(struct ui *ui);
	enum ui_view keys; /* what they mean */
	bool filtered;	   /* the filter has an effect: it is about paths */
};

/* The function under the cursor of what lies over the view; NULL: there is none. */
const struct profile_func *overlay_function(const struct ui *ui);

#endif
