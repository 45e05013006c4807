/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_SOURCELINE_H
#define STACKTOP_TUI_UI_SOURCELINE_H

/* How the screen shows a function's hottest source line. */

struct grid;
struct profile_func;

/* "parse.c:42" in `width` cells. A name that is too long loses its beginning, not the number. */
void sourceline_fit(const struct profile_func *func, struct grid *g, int row, int col, int width);
/*
 * "hottest line src/http/parse.c:42" at the right end of a row, behind `col`; folders go first when
 * there is no room, then the words. func may be NULL.
 */
void sourceline_draw(const struct profile_func *func, struct grid *g, int row, int col);

#endif
