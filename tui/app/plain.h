/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_APP_PLAIN_H
#define STACKTOP_TUI_APP_PLAIN_H

struct source;
struct profile;
struct ui_options;

/*
 * The screen as lines (--plain): no terminal is asked for anything. Each refresh writes what has
 * changed in the current view to standard output; lines of standard input are the commands that
 * `:` takes on the screen. Goes on when the input ends, unless that is a terminal or what is shown
 * is a recording that has ended. signals: a signalfd of those that end it, which are blocked.
 * Returns the exit status.
 */
int plain_run(struct profile *p, struct source *source, const struct ui_options *options,
	      int signals);

#endif
