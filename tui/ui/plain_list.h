/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_PLAIN_LIST_H
#define STACKTOP_TUI_UI_PLAIN_LIST_H

/*
 * The rows of a view as a short list in words: for a listener, who cannot skim, and for logs. Each
 * view makes it from the rows and the cells that it draws.
 */

#include <stddef.h>
#include <stdint.h>

#include "tui/screen/columns.h"

struct profile_func;
struct ui;

#define PLAIN_ROWS 15

struct plain_row {
	uint64_t key;	/* the same item in every refresh */
	double percent; /* the largest first */
	char name[384]; /* clean */
	char brief[64]; /* a shorter name, once the name was told; "": the name */
	char more[512]; /* clean; "" nothing */
};

struct plain_list {
	char title[512]; /* what the rows are, of which processes, and of which time */
	char empty[200]; /* why there are none */
	struct plain_row rows[PLAIN_ROWS];
	size_t count; /* of rows in the list */
	size_t whole; /* of rows that the view has */
};

/* The list of what is shown. -ENOMEM. */
int plain_list_make(struct plain_list *list, const struct ui *ui);

/* --- for views ----------------------------------------------------------------------------- */

/* The next row, which counts as one of the whole in any case; NULL: the list is full. */
struct plain_row *plain_list_add(struct plain_list *list, uint64_t key, double percent);
/* Adds to what more there is, behind a semicolon. */
void plain_row_add(struct plain_row *row, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Adds "only 7 samples" if its percents are of few, which says little; not of times. */
void plain_row_few(const struct ui *ui, struct plain_row *row, uint64_t samples);
/* What the percents of a title are of. Not the number: a list whose title changes is told anew. */
const char *plain_samples(const struct ui *ui, uint64_t samples);
/* Adds the words of the columns that are not hidden (bits). */
void plain_row_columns(struct plain_row *row, const struct column *columns, int count,
		       unsigned int hidden, columns_cell_fn cell, const void *table,
		       const void *from);
/* "parse, kernel, in vmlinux" */
void plain_func(const struct profile_func *func, char *to, size_t size);

#endif
