/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_APP_SCREENSHOT_H
#define STACKTOP_TUI_APP_SCREENSHOT_H

struct source;
struct profile;
struct ui_options;

struct screenshot_options {
	const char *path;
	const char *keys;	 /* names of keys with blanks between; NULL: none */
	unsigned int rows, cols; /* 0: as is usual */
	unsigned int slices;	 /* to wait for; 0: a few */
};

/*
 * --screenshot: waits for the slices, types the keys, and writes the screen without a terminal.
 * Returns the exit status; messages go to stderr.
 */
int screenshot_run(struct profile *p, struct source *source, const struct ui_options *options,
		   const struct screenshot_options *o);

#endif
