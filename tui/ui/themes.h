/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_THEMES_H
#define STACKTOP_TUI_UI_THEMES_H

/* Where themes are looked for: the user's own directory, the installed ones, the embedded ones. */

#include <sys/types.h>
#include <time.h>

struct board;
struct theme;

/*
 * The theme of that name, NULL: the default one. What is wrong in the file becomes
 * messages; why there is no theme is written to stderr. -errno as of theme_load.
 */
int themes_open(struct theme **out, const char *name, struct board *messages);
/* The same, but nothing is written; themes_error has the words. */
int themes_load(struct theme **out, const char *name, struct board *messages);
const char *themes_error(int err);
/* Writes to stderr why there is no theme of that name, and which there are. */
void themes_complain(const char *name, int err);
/* The shipped theme of that name, or the default one: reads no file. -ENOMEM. */
int themes_embedded(struct theme **out, const char *name);

/* What changes when the file of a theme is saved; all zero: it has no file. */
struct themes_stamp {
	ino_t inode;
	off_t size;
	struct timespec time;
};

void themes_stamp(const char *name, struct themes_stamp *out);

#endif
