// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The main loop: waits for keys, signals, news from the source or the next second, and draws a
 * frame when one of them changed something. The lock is never held while the terminal is written.
 */
#include "tui/app/screen.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/base/clock.h"
#include "symbols/base/text.h"
#include "symbols/base/thread.h"
#include "tui/profile/board.h"
#include "tui/screen/crash.h"
#include "tui/profile/source.h"
#include "tui/ui/record.h"
#include "tui/ui/settings_thread.h"
#include "tui/screen/mouse.h"
#include "tui/util/outfile.h"
#include "tui/app/user_files.h"
#include "tui/screen/screen_file.h"
#include "tui/screen/terminal.h"
#include "tui/app/dispatch.h"
#include "tui/export/batch.h"
#include "tui/export/writer.h"

#define KEYS_AT_ONCE 256 /* a held key or a paste is one frame, not hundreds */
#define OLD_THEMES   8
#define GOES_ON_MS   10

struct screen {
	struct profile *profile;
	struct source *source;
	const struct ui_options *options;
	struct ui *ui;
	struct terminal *terminal;
	struct theme *theme;
	struct theme *old[OLD_THEMES]; /* which the writer may still look at */
	int nold;
	struct settings_thread *keeper;
	struct grid *grid;
	pthread_t saver;       /* of a picture */
	struct writer *writer; /* of samples; NULL: none yet */
	bool saving;	       /* there is a saver */
	atomic_bool saved;     /* the saver has finished */
	int signals;
	int ended_by; /* signal; 0: none */
};

static void wait_for_picture(struct screen *s)
{
	if (s->saving)
		pthread_join(s->saver, NULL);
	s->saving = false;
}

/* Files that are still being written are waited for, unless a signal comes. */
static void screen_close(struct screen *s)
{
	struct board *board = profile_board(s->profile);
	uint64_t serial = 0;

	terminal_close(s->terminal);
	if (s->signals >= 0)
		crash_close();
	if ((s->saving && !s->saved) || (s->writer && !writer_done(s->writer)) ||
	    record_writes(s->ui))
		fprintf(stderr, "stacktop: a file is still being written; ^C abandons it\n");
	wait_for_picture(s);
	writer_free(s->writer);
	settings_thread_free(s->keeper);
	grid_free(s->grid);
	theme_free(s->theme);
	for (int i = 0; i < s->nold; i++)
		theme_free(s->old[i]);
	/* There is no screen any more for what is told from now on. */
	while (board_next(board, &serial, &(struct board_message){0}))
		;
	ui_free(s->ui);
	batch_messages(stderr, s->profile, &serial);
}

static void use_ascii(struct screen *s)
{
	s->ui->ascii = s->options->ascii || s->ui->config.ascii || !s->ui->utf8;
}

/* curses looks for ~/.terminfo, however long that takes. */
static int open_terminal(struct screen *s, bool homeless, char *why, size_t size)
{
	const char *value = homeless ? getenv("HOME") : NULL;
	char *home = value ? strdup(value) : NULL;
	int err;

	if (home)
		unsetenv("HOME");
	err = terminal_open(&s->terminal, s->options->no_color, why, size);
	if (home)
		setenv("HOME", home, 1);
	free(home);
	return err;
}

static int screen_open(struct screen *s, const struct ui_options *options)
{
	char why[256], host[64] = "";
	int rows, cols, err;
	bool homeless;

	s->ui = ui_new(s->profile, s->source, options);
	if (!s->ui)
		return -ENOMEM;
	err = user_files_open(s->ui, options, true, &s->theme, &s->keeper);
	if (err < 0)
		return err;
	homeless = err > 0;
	gethostname(host, sizeof(host) - 1);
	text_clean(s->ui->host, sizeof(s->ui->host), host, strlen(host));
	s->signals = crash_open();
	if (s->signals < 0)
		return s->signals;
	err = open_terminal(s, homeless, why, sizeof(why));
	if (err) {
		fprintf(stderr, "stacktop: %s\n", why);
		return err;
	}
	s->ui->utf8 = terminal_utf8(s->terminal);
	use_ascii(s);
	terminal_size(s->terminal, &rows, &cols);
	s->grid = grid_new(rows, cols);
	return s->grid ? 0 : -ENOMEM;
}

static void resize(struct screen *s)
{
	int rows, cols;

	terminal_resize(s->terminal);
	terminal_size(s->terminal, &rows, &cols);
	if (grid_resize(s->grid, rows, cols))
		ui_notice(s->ui, "out of memory");
}

struct saving {
	struct profile *profile;
	char path[PROMPT_TEXT];
	char *text;
	size_t size;
	atomic_bool *done;
};

/* A disk may take its time; the screen does not wait for it. */
static void *save_picture(void *arg)
{
	struct saving *saving = arg;
	char text[PROMPT_TEXT + 300];
	int err = screen_file_save(saving->path, saving->text, saving->size);

	if (err)
		outfile_error(saving->path, err, text, sizeof(text));
	else
		snprintf(text, sizeof(text), "%s: written", saving->path);
	board_message(profile_board(saving->profile), err ? MESSAGE_ERROR : MESSAGE_INFO, "%s",
		      text);
	free(saving->text);
	*saving->done = true;
	free(saving);
	return NULL;
}

/* The question for the file's name is closed by now, and not in the picture. */
static void take_picture(struct screen *s)
{
	struct saving *saving;
	int err;

	if (s->saving && !s->saved) {
		ui_notice(s->ui, "the last picture is still being written");
		return;
	}
	wait_for_picture(s);
	saving = calloc(1, sizeof(*saving));
	err = saving ? 0 : -ENOMEM;
	if (!err) {
		ui_draw(s->ui, s->grid);
		saving->profile = s->profile;
		saving->done = &s->saved;
		s->saved = false;
		snprintf(saving->path, sizeof(saving->path), "%s", s->ui->picture);
		err = screen_file_make(s->grid, s->theme, screen_file_format(saving->path),
				       &saving->text, &saving->size);
	}
	if (!err)
		err = thread_start(&s->saver, save_picture, saving);
	s->saving = !err;
	if (!err)
		return;
	ui_notice(s->ui, "%s", strerror(-err));
	if (saving)
		free(saving->text);
	free(saving);
}

/* Returns flags of ui.h. */
static unsigned int on_signals(struct screen *s)
{
	unsigned int flags = 0;
	char bytes[32];
	ssize_t n = read(s->signals, bytes, sizeof(bytes));

	for (ssize_t i = 0; i < n; i++) {
		int signal = (unsigned char)bytes[i];

		if (signal == SIGWINCH) {
			resize(s);
			flags |= UI_REDRAW;
		} else if (signal == SIGTSTP) {
			terminal_suspend(s->terminal);
			resize(s);
			flags |= UI_REDRAW | UI_REPAINT;
		} else {
			s->ended_by = signal;
			flags |= UI_QUIT;
		}
	}
	return flags;
}

static void use_theme(struct screen *s, struct theme *theme)
{
	bool writing = s->writer && !writer_done(s->writer);

	if (!theme)
		return;
	if (writing && s->nold == OLD_THEMES) {
		theme_free(theme);
		return;
	}
	if (writing)
		s->old[s->nold++] = s->theme;
	else
		theme_free(s->theme);
	s->theme = theme;
}

/* A theme, or the settings, if they were not there at the start. */
static void on_settings(struct screen *s)
{
	struct theme *chosen = settings_thread_take_theme(s->keeper), *theme;

	if (user_files_late(s->ui, s->options, s->keeper, &theme)) {
		use_ascii(s);
		use_theme(s, theme);
	}
	use_theme(s, chosen);
	ui_refresh(s->ui);
}

static unsigned int on_keys(struct screen *s)
{
	unsigned int flags = 0;
	struct mouse mouse;

	for (int i = 0; i < KEYS_AT_ONCE && !(flags & UI_QUIT); i++) {
		int key = terminal_key(s->terminal);

		if (key == KEYCODE_NONE)
			break;
		if (!key)
			continue; /* a part of something, or nothing that has a name */
		if (key == KEYCODE_MOUSE)
			terminal_mouse(s->terminal, &mouse);
		flags |= key == KEYCODE_MOUSE ? ui_mouse(s->ui, s->grid, &mouse)
					      : ui_key(s->ui, key);
		if (flags & UI_PICTURE)
			take_picture(s);
		if (flags & UI_COPY && !terminal_copy(s->terminal, s->ui->copied))
			ui_notice(s->ui, "this terminal has no clipboard for programs");
		if (flags & UI_WRITE)
			user_files_write(s->ui, &s->writer, s->theme);
		if (flags & UI_THEME)
			settings_thread_use_theme(s->keeper, s->ui->config.theme);
		if (flags & UI_SAVE)
			settings_thread_save(s->keeper, &s->ui->config);
		flags &= ~(unsigned int)(UI_PICTURE | UI_WRITE | UI_THEME | UI_SAVE | UI_COPY);
		/* What a click means is where it was drawn. */
		if (key == KEYCODE_MOUSE && flags)
			ui_draw(s->ui, s->grid);
	}
	return flags;
}

static unsigned int on_event(struct screen *s, int fd)
{
	uint64_t count;
	ssize_t n = read(fd, &count, sizeof(count));
	int err;

	if (n < 0 && errno != EAGAIN)
		return UI_QUIT;
	err = ui_refresh(s->ui);
	if (err)
		ui_notice(s->ui, "%s", strerror(-err));
	return UI_REDRAW;
}

static void run(struct screen *s)
{
	unsigned int flags = UI_REDRAW;
	int event = s->source->event;

	ui_set_time(s->ui);
	if (ui_refresh(s->ui))
		ui_notice(s->ui, "out of memory");
	while (!(flags & UI_QUIT) && !s->source->finished) {
		struct pollfd fds[] = {
			{.fd = STDIN_FILENO, .events = POLLIN},
			{.fd = s->signals, .events = POLLIN},
			{.fd = event, .events = POLLIN},
			{.fd = settings_thread_fd(s->keeper), .events = POLLIN},
		};
		int n;

		if (flags & UI_REPAINT)
			terminal_repaint(s->terminal);
		if (flags & UI_REDRAW) {
			uint64_t start = clock_ns(CLOCK_MONOTONIC);

			ui_draw(s->ui, s->grid);
			terminal_show(s->terminal, s->grid, s->theme);
			s->ui->draw_ns = clock_ns(CLOCK_MONOTONIC) - start;
		}
		flags = 0;
		terminal_mouse_on(s->terminal, !s->ui->no_mouse);
		/* Up to the next second, unless there is more to do. */
		n = poll(fds, 4,
			 ui_goes_on(s->ui)
				 ? GOES_ON_MS
				 : 1000 - (int)(clock_ns(CLOCK_REALTIME) / 1000000 % 1000));
		ui_set_time(s->ui);
		if (n == 0 && ui_goes_on(s->ui))
			ui_go_on(s->ui);
		if (n == 0)
			flags |= UI_REDRAW;
		if (n > 0 && fds[1].revents)
			flags |= on_signals(s);
		if (n > 0 && fds[2].revents)
			flags |= on_event(s, event);
		if (n > 0 && fds[3].revents) {
			on_settings(s);
			flags |= UI_REDRAW | UI_REPAINT;
		}
		if (n > 0 && fds[0].revents & POLLIN)
			flags |= on_keys(s);
		/* The terminal is gone, which is an end of file to read, too. */
		if (n > 0 && fds[0].revents & ~POLLIN)
			flags |= UI_QUIT;
	}
}

int screen_run(struct profile *p, struct source *source, const struct ui_options *options)
{
	struct screen s = {.profile = p, .source = source, .options = options, .signals = -1};
	int err = screen_open(&s, options);

	if (!err)
		run(&s);
	screen_close(&s);
	if (err == -ENOMEM)
		fprintf(stderr, "stacktop: out of memory\n");
	if (err)
		return EXIT_FAILURE;
	return s.ended_by ? 128 + s.ended_by : EXIT_SUCCESS;
}
