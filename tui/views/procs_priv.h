/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_PROCS_PRIV_H
#define STACKTOP_TUI_VIEWS_PROCS_PRIV_H

/* The inside of Procs, for view_procs.c and procs_draw.c only. */

#include "tui/ui/view.h"
#include "tui/views/procline.h"
#include "tui/views/view_funcs.h"

struct procs {
	struct procrows rows; /* those that the filter keeps are the list */
	struct list list;
	pid_t pid; /* (pid, image) is under the cursor */
	uint64_t image;
	uint32_t tid;		    /* the thread under the cursor; 0: the process */
	uint64_t attached;	    /* serial of what the cursor was put on; see attach.h */
	struct match_cache members; /* of the group under the cursor */
	enum procs_column sorted;
	bool inverted;
	int scroll;
	int command_cells; /* of the column of commands, when it was drawn */
	int scroll_max;	   /* up to which the commands that are seen have more to show */
	struct functable *below;
	char locks[160]; /* who holds the lock of the interpreter; "": not known */
	struct column columns[PROCS_COLUMNS]; /* by what the event's samples are shares of */
	uint64_t slices;		      /* when the rows were made */
	bool moved;			      /* only the cursor was, since */
	bool ordered;
};

/* The columns before the user's choice and the event's unit. */
extern const struct column procs_default[PROCS_COLUMNS];

static inline bool procs_counts_several(const struct procs *v, const struct procs_row *row)
{
	return row->group || (v->rows.tree && row->below > 1);
}

/* What the row counts. */
void procs_row_name(const struct ui *ui, const struct procs *v, const struct procs_row *row,
		    char *to, size_t size);
/* Of how many CPU% is a share. */
unsigned int procs_cpus(const struct ui *ui);
void procs_draw(struct ui *ui, struct grid *g, int top, int rows);
bool procs_details(const struct ui *ui, struct grid *g, int row);

#endif
