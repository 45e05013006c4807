/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UTIL_CONFLINES_H
#define STACKTOP_TUI_UTIL_CONFLINES_H

/*
 * The lines of a configuration file. The first that is wrong ends it: a program that runs without a
 * terminal does not start with half of its configuration.
 *
 *     # a comment
 *     name = value             # blanks around both are dropped
 *     name = "a # \" and \\ "  # \" and \\ stand for " and \
 *     name
 *
 * A '#' starts a comment at the start of a line or behind a blank, but for quotes.
 */

#include <stddef.h>

#define CONFLINES_LENGTH 4096 /* bytes of a line */

struct conflines {
	char *at, *end;	   /* what is left */
	unsigned int line; /* the last one that was read, from 1 on */
	const char *name;  /* letters, digits, '-' and '_'; points into the text, as value does */
	const char *value; /* NULL: there is no '=' */
	const char *wrong; /* NULL: nothing; else what is, in one clause */
};

/* The text is changed and has a NUL at text[length]; it must outlive names and values. */
void conflines_begin(struct conflines *c, char *text, size_t length);
/* 1: name and value are the next ones; 0: the end; -EINVAL: wrong, and so is each later call. */
int conflines_next(struct conflines *c);

#endif
