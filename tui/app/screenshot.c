// SPDX-License-Identifier: GPL-2.0-or-later
/* See screenshot.h. The screen's own code draws the picture. */
#include "tui/app/screenshot.h"

#include <errno.h>
#include <langinfo.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/base/text.h"
#include "tui/profile/profile.h"
#include "tui/profile/source.h"
#include "tui/util/outfile.h"
#include "tui/screen/screen_file.h"
#include "tui/ui/themes.h"
#include "tui/app/dispatch.h"

#define ANSWER_TURNS   40
#define ANSWER_TURN_MS 250
#define SLICES	       4 /* unless -n says so: the first one is short */
#define DEFAULT_ROWS   30
#define DEFAULT_COLS   100

static int wait_for_slices(struct source *source, unsigned int wanted)
{
	struct pollfd fd = {.fd = source->event, .events = POLLIN};
	uint64_t count;

	while (source->slices < wanted && !source->finished) {
		if (poll(&fd, 1, -1) < 0 && errno != EINTR)
			return -errno;
		if (fd.revents && read(fd.fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
			return -errno;
	}
	return 0;
}

/* Other threads catch walks, read code, and look at the shards. */
static void wait_for_answer(struct ui *ui, struct source *source)
{
	struct pollfd fd = {.fd = source->event, .events = POLLIN};
	uint64_t count;

	for (int i = 0; i < ANSWER_TURNS && ui_waits(ui); i++) {
		if (poll(&fd, 1, ANSWER_TURN_MS) > 0 && read(fd.fd, &count, sizeof(count)) < 0 &&
		    errno != EAGAIN)
			return;
		ui_set_time(ui);
		if (ui_refresh(ui))
			return;
	}
}

/* Names of keys between blanks, as the help shows them; checked by the command line. */
static void type(struct ui *ui, struct source *source, struct grid *g, const char *keys)
{
	while (keys && *keys) {
		size_t length = strcspn(keys, " ");

		if (length)
			ui_key(ui, keys_parse(keys, length));
		wait_for_answer(ui, source);
		keys += length;
		keys += strspn(keys, " ");
		ui_draw(ui, g); /* what can be moved about in is what was drawn */
	}
	while (ui_goes_on(ui))
		ui_go_on(ui);
}

static int take(struct profile *p, struct source *source, const struct ui_options *options,
		const struct screenshot_options *o, const struct theme *theme)
{
	struct ui *ui = ui_new(p, source, options);
	struct grid *g = grid_new(o->rows ? (int)o->rows : DEFAULT_ROWS,
				  o->cols ? (int)o->cols : DEFAULT_COLS);
	char host[64] = "", *text = NULL;
	size_t size = 0;
	int err = -ENOMEM;

	if (ui && g) {
		gethostname(host, sizeof(host) - 1);
		text_clean(ui->host, sizeof(ui->host), host, strlen(host));
		ui->utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
		ui->ascii = options->ascii || !ui->utf8;
		err = wait_for_slices(source, o->slices ? o->slices : SLICES);
		ui_set_time(ui);
	}
	if (!err)
		err = ui_refresh(ui);
	if (!err) {
		ui_draw(ui, g);
		type(ui, source, g, o->keys);
		err = screen_file_make(g, theme, screen_file_format(o->path), &text, &size);
	}
	if (!err)
		err = screen_file_save(o->path, text, size);
	free(text);
	grid_free(g);
	ui_free(ui);
	return err;
}

int screenshot_run(struct profile *p, struct source *source, const struct ui_options *options,
		   const struct screenshot_options *o)
{
	/* The theme with attributes instead of colours. */
	const char *name = options->theme || !options->no_color ? options->theme : "mono";
	char text[1024];
	struct theme *theme;
	int err = themes_open(&theme, name, profile_board(p));

	if (err)
		return EXIT_FAILURE;
	err = take(p, source, options, o, theme);
	theme_free(theme);
	if (!err)
		return EXIT_SUCCESS;
	outfile_error(o->path, err, text, sizeof(text));
	fprintf(stderr, "stacktop: %s\n", text);
	return EXIT_FAILURE;
}
