/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See procline.c. */
#ifndef STACKTOP_TUI_VIEWS_PROCLINE_H
#define STACKTOP_TUI_VIEWS_PROCLINE_H

#include "tui/screen/grid.h"
#include "tui/views/procrows.h"
#include "tui/ui/ui.h"

#define PROCLINE_SCROLL 8 /* characters that are scrolled at once */

/* How histories are drawn, which is the same for each row. */
struct procline_history {
	double most; /* samples that a full block means */
	int bars;    /* the last ones; of what was before nothing is known */
};

/*
 * Into line y of the grid. width: cells of each enum procs_column, 0 hides it; the command's goes
 * to the grid's edge and begins scroll characters late, not counting the step that brings back a
 * folder which there was no room for.
 */
void procline_draw(const struct ui *ui, const struct procs_row *row, int scroll, struct grid *g,
		   int y, const int *width, const struct procline_history *past);

/*
 * What of a command line is drawn in that many cells: the folder of its program goes first when
 * there is no room for all, since who reads the list looks for the name. Scrolling begins with the
 * folder.
 */
const char *procline_command(const struct grid *g, const char *command, int scroll, int width);

#endif
