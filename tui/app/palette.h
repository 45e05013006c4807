/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_APP_PALETTE_H
#define STACKTOP_TUI_APP_PALETTE_H

/*
 * The list over the line of `:`: the commands that the letters typed so far are in, best first,
 * each with its argument, what it does, and its key.
 */

#include <stdbool.h>
#include <stdint.h>

struct grid;
struct palette;
struct ui;

/* NULL: no memory. */
struct palette *palette_new(void);
void palette_free(struct palette *p);

/* The line of `:` was just opened. */
void palette_begin(struct ui *ui);
/* Its text may be another one; recalled: it is an earlier command, of which nothing is chosen. */
void palette_follow(struct ui *ui, bool recalled);
/* A key that chooses; false: it is for the line. */
bool palette_key(struct ui *ui, int key);
/* Enter: puts what is chosen into the line. False: it still needs an argument, to be typed. */
bool palette_take(struct ui *ui);
/* Draws the list above the two lines at the bottom. */
void palette_draw(const struct ui *ui, struct grid *g);

/*
 * How well the letters of the query, in their order, are found in the name of a command: beginnings
 * of words and runs count more. At most 64 letters of the name are looked at; *places has a bit for
 * each of those found. 0: they are not all there.
 */
int palette_score(const char *query, const char *name, uint64_t *places);

#endif
