/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_APP_USER_FILES_H
#define STACKTOP_TUI_APP_USER_FILES_H

/* The files that a screen or --plain reads and writes: settings, theme, samples. */

#include <stdbool.h>

struct profile;
struct query;
struct settings_thread;
struct theme;
struct ui;
struct ui_options;
struct writer;

/*
 * Reads the settings into ui->config, and applies those that the command line leaves open; loads
 * the theme and starts its keeper. Errors in the files become messages of the profile, and with
 * `screen` lines on stderr. The caller frees *theme and *keeper in any case. -errno: the theme of
 * the command line cannot be used (a message was written), or -ENOMEM. With `screen` 1: they do not
 * answer, nor may $HOME; user_files_late takes them.
 */
int user_files_open(struct ui *ui, const struct ui_options *options, bool screen,
		    struct theme **theme, struct settings_thread **keeper);
/*
 * With `screen` the files are waited for only a moment. What comes after that is applied by this,
 * when settings_thread_fd is readable: false: nothing has come, or all has been applied before.
 * *theme: the caller's own; NULL: keep the one in use.
 */
bool user_files_late(struct ui *ui, const struct ui_options *options,
		     struct settings_thread *keeper, struct theme **theme);
/* The samples that are shown, and the query for them. -ENOENT: their process is gone; -ENOMEM. */
int user_files_copy(struct ui *ui, struct profile **copy, struct query *q);
/* Begins to write the samples that are shown to ui->output; what hinders it becomes a notice.
 * *writer is the one of the last time, NULL: there is none; the caller frees it. */
void user_files_write(struct ui *ui, struct writer **writer, const struct theme *theme);

#endif
