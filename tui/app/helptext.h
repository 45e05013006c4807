/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_APP_HELPTEXT_H
#define STACKTOP_TUI_APP_HELPTEXT_H

/* The help screen as lines of a given width. */

#include <stdbool.h>

#include "tui/app/help.h"

struct pattern;

#define HELPTEXT_LEFT 14 /* cells of the left side: keys, titles of columns */

struct helptext_line {
	enum { HELPTEXT_TITLE, HELPTEXT_KEY, HELPTEXT_TERM, HELPTEXT_TEXT } kind;
	int entry; /* that it is a line of; the lines of one follow each other */
	char left[40], text[240];
};

struct helptext {
	struct helptext_line *lines; /* to be freed */
	int count, room;
	int entries;
};

/* Of the subject, in lines of `width` cells. -ENOMEM: *text is empty. */
int helptext_make(struct helptext *text, const struct help_subject *subject, int width);
void helptext_free(struct helptext *text);
/* True if the entry matches, in all of its lines as if they were one. */
bool helptext_matches(const struct helptext *text, int entry, const struct pattern *pattern);
/* The first line of the entry. */
int helptext_line_of(const struct helptext *text, int entry);

#endif
