/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SCREEN_COLUMNS_H
#define STACKTOP_TUI_SCREEN_COLUMNS_H

/*
 * Columns of a table on a screen of any width: which are shown, in which order, and how wide. When
 * there is no room those of the highest rank go first, of equal ones the rightmost, apart from
 * those without which a row says nothing.
 */

#include <stdbool.h>
#include <stddef.h>

#include "tui/screen/grid.h"

/* What the first order of a column begins with, as it is read: inverting turns it round. */
enum sorts {
	SORTS_NOT,  /* rows cannot be sorted by it */
	SORTS_DOWN, /* the most */
	SORTS_UP,   /* the least, and "a" of names */
};

struct column {
	const char *title;
	int min;    /* cells, with the blank that separates it from the next */
	int max;    /* it grows up to this when there is room */
	int weight; /* cells that it grows by in its turn; 0: one */
	bool right; /* aligned to the right */
	bool keep;  /* never left out */
	enum sorts sortable;
	const char *name;  /* in the menu of F6 */
	const char *words; /* of --plain: "on CPU %s"; "": not told; NULL: the title and the text */
	int rank;	   /* the higher, the sooner it goes */
	int from;	   /* cells of the screen from which on it is shown; 0: any */
	int place;	   /* where it stands: by this, and by its number in the table */
	bool wanted;	   /* at any width, while rows are sorted by it */
};

/* For tables that differ in a column: { title, min, max }, and members by their names. */
#define COLUMN_TEXT(text, least, most, ...)                                                        \
	{                                                                                          \
		.title = text, .min = least, .max = most, __VA_ARGS__                              \
	}
#define COLUMN_NUMBER(text, least, most, ...)                                                      \
	COLUMN_TEXT(text, least, most, .right = true, __VA_ARGS__)
#define COLUMN_SORTABLE(first, menu) .sortable = (first), .name = (menu)

/* All of a column in the order of its members, and what else it has by their names. */
#define COLUMN(text, least, most, grows, aligned, kept, first, menu, plain, ...)                   \
	{                                                                                          \
		.title = text, .min = least, .max = most, .weight = grows, .right = aligned,       \
		.keep = kept, .sortable = first, .name = menu, .words = plain, __VA_ARGS__         \
	}

#define CELL_TEXT 1024

/* What one column shows of one row. */
struct column_cell {
	struct grid *g; /* to draw into what is not text; NULL: the words of --plain are wanted */
	int y, col, width; /* of it, without the blank behind it */
	bool last;	   /* the blank may have text, too */
	enum role role;
	char text[CELL_TEXT]; /* "" nothing */
};

/* Sets the text of a cell. */
void cell_say(struct column_cell *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Fills the cell, whose text is empty and whose role is ROLE_TEXT. */
typedef void (*columns_cell_fn)(const void *table, const void *row, int column,
				struct column_cell *cell);

#define COLUMNS_MAX 32

/* The numbers of the columns into order[count], as they stand from left to right. */
void columns_order(const struct column *columns, int count, int *order);
/* Cells per column into width[count]; 0: left out. Columns in `hidden` (bits) are left out. */
void columns_fit(const struct column *columns, int count, int total, unsigned int hidden,
		 int *width);
/* The header row; `sorted` is the column with the mark of the order, or -1. The mark points to
 * where the most is. */
void columns_header(struct grid *g, int row, const struct column *columns, int count,
		    const int *width, int sorted, bool inverted);
/* A row of cells into line y. */
void columns_row(struct grid *g, int y, const struct column *columns, int count, const int *width,
		 columns_cell_fn cell, const void *table, const void *row);
/* Next sortable column in a direction, or `from` where there is none. */
int columns_next(const struct column *columns, int count, int from, int step);

#endif
