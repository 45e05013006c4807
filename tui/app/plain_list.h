/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_APP_PLAIN_LIST_H
#define STACKTOP_TUI_APP_PLAIN_LIST_H

/*
 * What the current view is about, as a short list in words: for who hears a screen instead of
 * seeing it, and for logs. The rows come from the same queries as those that are drawn.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;
struct profile_func;
struct ui;

#define TELL_ROWS 15

struct tell_row {
	uint64_t key;	/* the same item in every refresh */
	double percent; /* what it is told by, most first */
	char name[384]; /* clean */
	char brief[64]; /* the same in few words, for who has heard the name; "" the name */
	char more[512]; /* clean; "" nothing */
};

struct tell {
	char title[512]; /* what the rows are, of whom, and of which time */
	char empty[200]; /* why there are none; "" there are */
	struct tell_row rows[TELL_ROWS];
	size_t count; /* of rows that are here ... */
	size_t whole; /* ... and that there are */
};

/* Takes the lock of the ui's profile. -ENOMEM. */
int tell_view(struct tell *t, struct ui *ui);

/* --- for tell_*.c -------------------------------------------------------------------------- */

/* The next row, which is counted in any case; NULL: there is no room for it. */
struct tell_row *tell_next(struct tell *t, uint64_t key, double percent);
/* Adds to what more there is, behind a semicolon. */
void tell_more(struct tell_row *row, const char *format, ...) __attribute__((format(printf, 2, 3)));
double tell_percent(uint64_t part, uint64_t whole);
/* "parse, kernel, in vmlinux" */
void tell_func(const struct profile_func *func, char *to, size_t size);

/* How stacks ended and what was lost; the lock is held. -ENOMEM. */
int tell_unwind(struct tell *t, const struct ui *ui, const struct profile *p);
/* What stands in the unwind tables; the lock is held. -ENOMEM. */
int tell_shards(struct tell *t, const struct profile *p);
/* The function whose machine code is shown. -ENOMEM. */
int tell_code(struct tell *t, const struct ui *ui);

#endif
