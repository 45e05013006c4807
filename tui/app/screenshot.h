/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_APP_SCREENSHOT_H
#define STACKTOP_TUI_APP_SCREENSHOT_H

struct source;
struct options;
struct profile;

/*
 * --screenshot: waits for the slices that were asked for, types the keys, and writes the screen
 * without a terminal. Returns the exit status; messages go to stderr.
 */
int screenshot_run(struct profile *p, struct source *source, const struct options *options);

#endif
