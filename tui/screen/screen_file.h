/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_SCREEN_SCREEN_FILE_H
#define STACKTOP_TUI_SCREEN_SCREEN_FILE_H

/* A screen that is kept: the grid as plain text, as text with colours, or as a drawing. */

#include <stddef.h>

struct grid;
struct theme;

enum screen_file_format {
	SCREEN_FILE_TEXT,
	SCREEN_FILE_ANSI, /* ECMA-48 SGR, colours as ISO 8613-6 (38;2;r;g;b) */
	SCREEN_FILE_SVG,  /* SVG 1.1 without scripts, fonts or links */
};

/* By the file name's suffix: .ansi, .ans, .svg; else text. */
enum screen_file_format screen_file_format(const char *path);
/* *text is the caller's, ended by NUL. -ENOMEM. */
int screen_file_make(const struct grid *g, const struct theme *theme,
		     enum screen_file_format format, char **text, size_t *size);
/*
 * The same into a new file: -EEXIST if there is one, or an error of open(2) or write(2); a file
 * that could not be written as a whole is removed.
 */
int screen_file_save(const char *path, const char *text, size_t size);

#endif
