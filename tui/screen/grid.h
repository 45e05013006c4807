/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SCREEN_GRID_H
#define STACKTOP_TUI_SCREEN_GRID_H

/*
 * A rectangle of styled cells. Views draw into it and know nothing of the terminal; it can be
 * written as text, which is what tests compare. Rows and columns count from 0; whatever lies
 * outside is clipped. Text is UTF-8; anything that is not printable becomes '?', so that no name,
 * however hostile, can reach the terminal as an escape sequence. Needs setlocale(LC_CTYPE).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/screen/theme.h"
#include "tui/screen/viewlist.h"

#define CELL_MARKS 2

struct gridcell {
	uint32_t ch;		    /* Unicode; 0: right half of the wide character to the left */
	uint32_t marks[CELL_MARKS]; /* combining characters, 0 ends */
	uint8_t role;		    /* enum role */
	uint8_t view;		    /* enum ui_view, chooses the theme's role of that view */
};

/* What a click means: a part of the screen that was drawn last. */
enum zone_kind {
	ZONE_NONE,
	ZONE_VIEW, /* value: the view of the tab */
	ZONE_KEY,  /* value: the key of the footer */
	ZONE_SORT, /* value: column of the table `of` */
	ZONE_ROWS, /* of a list; value: row of the screen that its cursor is on */
	ZONE_MENU, /* value: item */
	ZONE_CHIP, /* value: enum chip_kind */
	ZONE_TIME, /* the timeline */
	ZONE_BODY, /* the view knows; value is 0 */
};

struct zone {
	enum zone_kind kind;
	int value;
	const void *of;
	int row, rows, col, cols;
};

#define GRID_ZONES 64

struct grid {
	struct zone zones[GRID_ZONES]; /* the later ones lie on the former */
	int nzones;
	int rows, cols;
	bool ascii;		/* glyphs and text outside ASCII are replaced */
	enum ui_view view;	/* given to cells that are written */
	struct gridcell *cells; /* rows * cols, row by row */
};

enum glyph {
	GLYPH_HLINE,
	GLYPH_VLINE,
	GLYPH_BRANCH, /* a child that has siblings below */
	GLYPH_CORNER, /* the last child */
	GLYPH_ELLIPSIS,
	GLYPH_LIVE,
	GLYPH_FROZEN,
	GLYPH_SORT_DOWN,
	GLYPH_SORT_UP,
	GLYPH_RISE,
	GLYPH_FALL,
	GLYPH_TOP_LEFT,
	GLYPH_TOP_RIGHT,
	GLYPH_BOTTOM_LEFT,
	GLYPH_BOTTOM_RIGHT,
	GLYPH_SCROLL, /* where in a list the rows are that are shown */
	GLYPH_COUNT,
};

#define SPARK_LEVELS 8

/* Blank grid of at least 1x1 and at most 2000x2000 cells. NULL: no memory. */
struct grid *grid_new(int rows, int cols);
void grid_free(struct grid *g);
/* The content is lost. -ENOMEM leaves the grid as it was. */
int grid_resize(struct grid *g, int rows, int cols);
void grid_clear(struct grid *g);

/* Writes at most width cells of text and returns how many. A wide character that does not fit as a
 * whole is left out. */
int grid_put(struct grid *g, int row, int col, int width, enum role role, const char *text);
/* As grid_put, but text that is cut ends in a mark. */
int grid_cut(struct grid *g, int row, int col, int width, enum role role, const char *text);
/* As grid_cut, and the rest of width is blanked. */
void grid_fit(struct grid *g, int row, int col, int width, enum role role, const char *text);
/* As grid_fit, but the text stands at the right end. */
void grid_right(struct grid *g, int row, int col, int width, enum role role, const char *text);
int grid_printf(struct grid *g, int row, int col, int width, enum role role, const char *format,
		...) __attribute__((format(printf, 6, 7)));
/* Writes text, broken between words, into at most `rows` rows of `width` cells; rows behind the
 * first begin `indent` cells further right. Text that is cut ends in a mark. Returns the rows
 * that all of it takes; rows 0 writes nothing. */
int grid_words(struct grid *g, int row, int rows, int col, int width, int indent, enum role role,
	       const char *text);
/* Fills width cells with a glyph. */
void grid_line(struct grid *g, int row, int col, int width, enum role role, enum glyph glyph);
void grid_blank(struct grid *g, int row, int col, int width, enum role role);
/* Gives the cells another role and leaves the characters. */
void grid_role(struct grid *g, int row, int col, int width, enum role role);
/* "[||||    ]": width cells in all, share 0..1. */
void grid_bar(struct grid *g, int row, int col, int width, enum role role, double share);
/* A bar without a frame, in eighths of a cell; in ASCII whole cells. A share above 0 is seen. */
void grid_eighths(struct grid *g, int row, int col, int width, enum role role, double share);

/* The glyph for this grid, ASCII if the grid is; static. */
const char *grid_glyph(const struct grid *g, enum glyph glyph);
/* Level 0..SPARK_LEVELS-1 of a sparkline; static. */
const char *grid_spark(const struct grid *g, int level);

/* Writes the character as UTF-8, without a NUL, and returns how many bytes, at most 4. */
int grid_utf8(char *to, uint32_t ch);
/* Cells that text takes when put into this grid. */
int grid_width(const struct grid *g, const char *text);

#define GRID_CELL_BYTES (4 * (1 + CELL_MARKS))

/* Writes the cell as UTF-8, without a NUL, and returns how many bytes; none for the right half of a
 * wide character. */
size_t grid_cell_text(const struct gridcell *c, char to[GRID_CELL_BYTES]);
/* The grid as UTF-8, one line per row without trailing blanks. To be freed; NULL: no memory. */
char *grid_text(const struct grid *g);

/* Remembers what a click there means, until grid_clear; what is too much is left out. */
void grid_zone(struct grid *g, struct zone zone);
/* The zone of a cell; NULL: none. */
const struct zone *grid_zone_at(const struct grid *g, int row, int col);

#endif
