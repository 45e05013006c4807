/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See procline.c. */
#ifndef STACKTOP_TUI_VIEWS_PROCLINE_H
#define STACKTOP_TUI_VIEWS_PROCLINE_H

#include "tui/screen/columns.h"
#include "tui/views/procrows.h"
#include "tui/ui/ui.h"

struct plain_list;

#define PROCLINE_SCROLL 8 /* characters that are scrolled at once */

/* What all rows are drawn by. */
struct procline {
	const struct ui *ui;
	int scroll;	   /* characters of commands, not counting the step that brings back a
			    * folder for which there was no room */
	double most;	   /* samples that a full block of a history means */
	int bars;	   /* of a history, the last ones; nothing is known of what was before */
	unsigned int cpus; /* of how many CPUs CPU% is a share */
};

/* A columns_cell_fn: of a struct procline, a struct procs_row, and enum procs_column. */
void procline_cell(const void *table, const void *row, int column, struct column_cell *cell);
/* Why there are no rows, and what to do. */
const char *procline_nothing(const struct ui *ui, const char **remedy);
/* The rows in words. */
void procline_plain(const struct procline *line, const struct procs_row *rows, size_t count,
		    const struct column *columns, enum procs_column sorted,
		    struct plain_list *list);

/*
 * The part of a command line that is drawn in that many cells. Without room for all of it the
 * folder of the program goes first: a reader of the list looks for the name. Scrolling begins with
 * the folder.
 */
const char *procline_command(const struct grid *g, const char *command, int scroll, int width);

#endif
