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
#include "tui/ui/record.h"
#include "tui/ui/ui.h"
#include "tui/query/query.h"
#include "tui/export/writer.h"

#define SETTINGS_WAIT_MS 150 /* those of a file system that answers come in one or two */

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
static void apply(struct ui *ui, const struct ui_options *options,
		  const struct settings_reply *reply, bool screen)
{
	struct warning_target told = {ui->profile, screen};

	ui->config = reply->config;
	/* They are on the board already. */
	for (int i = 0; screen && i < reply->nsaid; i++)
		if (strncmp(reply->said[i].text, "config: ", 8) == 0)
			fprintf(stderr, "stacktop: %s\n", reply->said[i].text);
	setup_check(ui, config_warning, &told);
	if (!options->delay_given)
		setup_apply(ui, "refresh");
	setup_apply(ui, "window");
	setup_apply(ui, "seconds");
	if (!options->frames_given)
		setup_apply(ui, "frames");
	ui->no_mouse = ui->config.no_mouse || options->no_mouse;
}

/* The file system of the settings does not answer: begins without them. */
static int begin_without(struct ui *ui, const struct ui_options *options, struct theme **theme)
{
	char path[PATH_MAX] = "";
	struct config none = {0};

	config_parse(&none, "", 0, NULL, NULL);
	ui->config = none;
	ui->no_mouse = options->no_mouse;
	config_path(path, sizeof(path));
	board_message(profile_board(ui->profile), MESSAGE_WARNING,
		      "waiting for the settings: %s does not answer", path);
	return themes_embedded(theme, options->theme) ? -ENOMEM : 1;
}

int user_files_open(struct ui *ui, const struct ui_options *options, bool screen,
		    struct theme **theme, struct settings_thread **keeper)
{
	struct settings_reply reply;

	*theme = NULL;
	*keeper = settings_thread_new(ui->profile, options->theme);
	if (!*keeper)
		return -ENOMEM;
	if (!settings_thread_open(*keeper, screen ? SETTINGS_WAIT_MS : 0, &reply, theme))
		return begin_without(ui, options, theme);
	apply(ui, options, &reply, screen);
	if (*theme)
		return 0;
	themes_complain(reply.theme, reply.err);
	return reply.err ? reply.err : -ENOMEM;
}

bool user_files_late(struct ui *ui, const struct ui_options *options,
		     struct settings_thread *keeper, struct theme **theme)
{
	struct settings_reply reply;

	*theme = NULL;
	if (!settings_thread_open(keeper, 1, &reply, theme))
		return false;
	apply(ui, options, &reply, false);
	if (!*theme)
		board_message(profile_board(ui->profile), MESSAGE_ERROR, "theme %s: %s",
			      reply.theme, themes_error(reply.err));
	else
		board_message(profile_board(ui->profile), MESSAGE_INFO,
			      "the settings have been read");
	return true;
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
			    .hide_inline = q->hide_inline,
			    .frames = q->frames,
			    .measure = q->measure};
	return err;
}

/* One file at a time. */
void user_files_write(struct ui *ui, struct writer **writer, const struct theme *theme)
{
	struct profile *copy = NULL;
	struct query q;
	int err;

	if (record_is_session(ui->output)) {
		record_save(ui, ui->output);
		return;
	}
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
		ui_notice(ui, "%s ends in none of " EXPORT_SUFFIXES " .session", ui->output);
	else
		ui_notice(ui, "%s: %s", ui->output,
			  err == -ENOENT ? "the process is gone" : strerror(-err));
}
