// SPDX-License-Identifier: GPL-2.0-or-later
/* See user_files.h. */
#include "tui/app/user_files.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "tui/profile/board.h"
#include "tui/ui/config.h"
#include "tui/export/export.h"
#include "tui/ui/settings_thread.h"
#include "tui/app/dispatch.h"
#include "tui/app/setup.h"
#include "tui/ui/themes.h"
#include "tui/ui/ui.h"
#include "tui/query/query.h"
#include "tui/export/writer.h"

struct warning_target {
	struct profile *profile;
	bool screen;
};

static void config_warning(void *arg, const char *text)
{
	const struct warning_target *told = arg;

	if (told->screen)
		fprintf(stderr, "stacktop: config: %s\n", text);
	board_message(profile_board(told->profile), MESSAGE_WARNING, "config: %s", text);
}

/* A file that cannot be read is no reason not to start. */
static void read_config(struct ui *ui, const struct ui_options *options,
			struct warning_target *told)
{
	char path[PATH_MAX], text[PATH_MAX + 128];
	int err;

	if (!config_path(path, sizeof(path)))
		return;
	err = config_read(&ui->config, path, config_warning, told);
	if (err) {
		config_explain(path, err, text, sizeof(text));
		config_warning(told, text);
	}
	setup_check(ui, config_warning, told);
	if (!options->delay_given)
		setup_apply(ui, "refresh");
	setup_apply(ui, "window");
	setup_apply(ui, "seconds");
	ui->no_mouse = ui->config.no_mouse || options->no_mouse;
}

/* The theme of the command line must be there, that of the file may be missing. */
static int open_theme(struct ui *ui, const struct ui_options *options, struct warning_target *told,
		      struct theme **theme, struct settings_thread **keeper)
{
	const char *name = options->theme;
	int err;

	if (!name && ui->config.theme[0]) {
		name = ui->config.theme;
		err = themes_load(theme, name, profile_board(ui->profile));
		if (err) {
			char text[160];

			snprintf(text, sizeof(text), "theme %s: %s", name, themes_error(err));
			config_warning(told, text);
			name = NULL;
		}
	}
	err = *theme ? 0 : themes_open(theme, name, profile_board(ui->profile));
	if (err)
		return err;
	*keeper = settings_thread_new(ui->profile, name ? name : "default");
	return *keeper ? 0 : -ENOMEM;
}

int user_files_open(struct ui *ui, const struct ui_options *options, bool screen,
		    struct theme **theme, struct settings_thread **keeper)
{
	struct warning_target told = {ui->profile, screen};

	*theme = NULL;
	*keeper = NULL;
	read_config(ui, options, &told);
	return open_theme(ui, options, &told, theme, keeper);
}

int user_files_copy(struct ui *ui, struct profile **copy, struct query *q)
{
	struct profile *p = ui_profile(ui);
	int err = 0;

	profile_lock(p);
	if (!ui_query(ui, p, q))
		err = -ENOENT;
	else
		err = profile_copy_new(copy, p, q);
	profile_unlock(p);
	/* The copy is read without the lock, so its query has no pointers into the selection.
	 * Its slice has threads, where the sum of all has none. */
	*q = (struct query){.span = SPAN_LAST,
			    .proc = QUERY_ALL,
			    .hide_kernel = q->hide_kernel,
			    .hide_user = q->hide_user,
			    .hide_inline = q->hide_inline};
	return err;
}

/* One file at a time. */
void user_files_write(struct ui *ui, struct writer **writer, const struct theme *theme)
{
	struct profile *copy = NULL;
	struct query q;
	int err;

	if (*writer && !writer_done(*writer)) {
		ui_notice(ui, "the last file is still being written");
		return;
	}
	writer_free(*writer);
	*writer = NULL;
	err = user_files_copy(ui, &copy, &q);
	if (!err)
		err = writer_start(writer, ui->output, copy, &q, theme, ui->profile);
	if (!err)
		return;
	profile_free(copy);
	if (err == -EINVAL)
		ui_notice(ui, "%s ends in none of " EXPORT_SUFFIXES, ui->output);
	else
		ui_notice(ui, "%s: %s", ui->output,
			  err == -ENOENT ? "the process is gone" : strerror(-err));
}
