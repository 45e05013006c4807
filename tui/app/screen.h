/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_APP_SCREEN_H
#define STACKTOP_TUI_APP_SCREEN_H

struct source;
struct profile;
struct ui_options;

/*
 * Shows the profile until a key, a signal or the source ends it; returns the exit status. The
 * caller has called setlocale(LC_CTYPE, "") before it made threads. The source's event descriptor
 * is read here. Messages go to stderr while there is no screen.
 */
int screen_run(struct profile *p, struct source *source, const struct ui_options *options);

#endif
