/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_EXPORT_FOLDED_H
#define STACKTOP_TUI_EXPORT_FOLDED_H

/*
 * Stacks as lines, the format of flamegraph.pl and its descendants:
 * `comm;outermost;...;leaf COUNT`, equal lines added up, the most frequent first. Counts are of
 * what the query measures.
 */

#include <stddef.h>
#include <stdint.h>

#include "tui/query/query.h"

struct folded_line {
	size_t at;     /* in the text */
	size_t length; /* without the count */
	uint64_t count;
};

struct folded {
	char *text; /* all lines one after another, neither separated nor terminated */
	size_t size;
	size_t room;
	struct folded_line *lines;
	size_t count;
	size_t lines_room;
};

/* Collects the lines; needs profile_lock. -ENOMEM. Call folded_free after every result. */
int folded_read(struct folded *folded, const struct profile *p, const struct query *q);
void folded_free(struct folded *folded);

/*
 * Copies a name as one frame of a line: clean, `;` becomes `:`, an empty name `?`. At most size - 1
 * bytes and NUL; returns the length. size > 1.
 */
size_t folded_frame(char *to, size_t size, const char *name);
/* The same with a mark of its kind: `name_[k]`, `name_[i]`, `name_[py]`, `[reason]`, also that of a
 * wait. size > 9. */
size_t folded_label(char *to, size_t size, enum func_kind kind, const char *name);

#endif
