// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The main loop: waits for keys, signals, news from the engine or the next second, and draws a
 * frame when one of them changed something. The lock is never held while the terminal is written.
 */
#include "tui/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "symbols/text.h"
#include "tui/crash.h"
#include "tui/engine.h"
#include "tui/options.h"
#include "tui/terminal.h"
#include "tui/ui.h"

#define NS_PER_SEC   1000000000ULL
#define KEYS_AT_ONCE 256 /* a held key or a paste is one frame, not hundreds */

#ifndef STACKTOP_THEME_DIR
#define STACKTOP_THEME_DIR "/usr/local/share/stacktop/themes"
#endif

struct screen {
	struct profile *profile;
	struct engine *engine;
	struct ui *ui;
	struct terminal *terminal;
	struct theme *theme;
	struct grid *grid;
	int signals;
	int ended_by; /* signal; 0: none */
};

static uint64_t monotonic(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_SEC + (uint64_t)now.tv_nsec;
}

static void set_time(struct ui *ui)
{
	time_t now = time(NULL);
	struct tm local;

	ui->now = monotonic();
	/* A frozen screen shows when it froze. */
	if (!ui->frozen && localtime_r(&now, &local))
		strftime(ui->clock, sizeof(ui->clock), "%H:%M:%S", &local);
}

static void theme_warning(void *arg, const char *text)
{
	struct profile *p = arg;

	profile_lock(p);
	profile_message(p, MESSAGE_WARNING, "theme: %s", text);
	profile_unlock(p);
}

static int open_theme(struct screen *s, const char *name)
{
	const char *config = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");
	char own[512] = "";
	const char *directories[] = {own, STACKTOP_THEME_DIR, NULL};
	int err;

	if (config && config[0] == '/')
		snprintf(own, sizeof(own), "%s/stacktop/themes", config);
	else if (home && home[0] == '/')
		snprintf(own, sizeof(own), "%s/.config/stacktop/themes", home);
	if (!own[0])
		directories[0] = STACKTOP_THEME_DIR;
	err = theme_load(&s->theme, name, directories, theme_warning, s->profile);
	if (!err)
		return 0;
	fprintf(stderr, "stacktop: theme %s: %s; shipped:", name,
		err == -EINVAL ? "not a file of the form '# stacktop theme 1'" : strerror(-err));
	for (const char *const *shipped = theme_embedded(); *shipped; shipped++)
		fprintf(stderr, " %s", *shipped);
	fprintf(stderr, "\n");
	return err;
}

static void screen_close(struct screen *s)
{
	terminal_close(s->terminal);
	if (s->signals >= 0)
		crash_close();
	grid_free(s->grid);
	theme_free(s->theme);
	ui_free(s->ui);
}

static int screen_open(struct screen *s, const struct options *options)
{
	char why[256], host[64] = "";
	int rows, cols;
	int err = open_theme(s, options->theme ? options->theme : "default");

	if (err)
		return err;
	s->ui = ui_new(s->profile, s->engine, options);
	if (!s->ui)
		return -ENOMEM;
	gethostname(host, sizeof(host) - 1);
	text_clean(s->ui->host, sizeof(s->ui->host), host, strlen(host));
	s->signals = crash_open();
	if (s->signals < 0)
		return s->signals;
	err = terminal_open(&s->terminal, options->no_color, why, sizeof(why));
	if (err) {
		fprintf(stderr, "stacktop: %s\n", why);
		return err;
	}
	s->ui->utf8 = terminal_utf8(s->terminal);
	s->ui->ascii = options->ascii || !s->ui->utf8;
	terminal_size(s->terminal, &rows, &cols);
	s->grid = grid_new(rows, cols);
	return s->grid ? 0 : -ENOMEM;
}

static void draw(struct screen *s)
{
	uint64_t start = monotonic();

	ui_draw(s->ui, s->grid);
	terminal_show(s->terminal, s->grid, s->theme);
	s->ui->draw_ns = monotonic() - start;
}

static void resize(struct screen *s)
{
	int rows, cols;

	terminal_resize(s->terminal);
	terminal_size(s->terminal, &rows, &cols);
	if (grid_resize(s->grid, rows, cols))
		ui_notice(s->ui, "out of memory");
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

static unsigned int on_keys(struct screen *s)
{
	unsigned int flags = 0;

	for (int i = 0; i < KEYS_AT_ONCE && !(flags & UI_QUIT); i++) {
		int key = terminal_key(s->terminal);

		if (key == KEYCODE_NONE)
			break;
		flags |= ui_key(s->ui, key);
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

static int milliseconds_to_next_second(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int)(1000 - now.tv_nsec / 1000000);
}

static void run(struct screen *s)
{
	unsigned int flags = UI_REDRAW;
	int event = engine_event_fd(s->engine);

	set_time(s->ui);
	if (ui_refresh(s->ui))
		ui_notice(s->ui, "out of memory");
	while (!(flags & UI_QUIT) && !engine_finished(s->engine)) {
		struct pollfd fds[] = {
			{.fd = STDIN_FILENO, .events = POLLIN},
			{.fd = s->signals, .events = POLLIN},
			{.fd = event, .events = POLLIN},
		};
		int n;

		if (flags & UI_REPAINT)
			terminal_repaint(s->terminal);
		if (flags & UI_REDRAW)
			draw(s);
		flags = 0;
		n = poll(fds, 3, milliseconds_to_next_second());
		set_time(s->ui);
		if (n == 0)
			flags |= UI_REDRAW;
		if (n > 0 && fds[1].revents)
			flags |= on_signals(s);
		if (n > 0 && fds[2].revents)
			flags |= on_event(s, event);
		if (n > 0 && fds[0].revents & POLLIN)
			flags |= on_keys(s);
		else if (n > 0 && fds[0].revents)
			flags |= UI_QUIT; /* the terminal is gone */
	}
}

int screen_run(struct profile *p, struct engine *engine, const struct options *options)
{
	struct screen s = {.profile = p, .engine = engine, .signals = -1};
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
