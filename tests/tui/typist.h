/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_TUI_TYPIST_H
#define STACKTOP_TESTS_TUI_TYPIST_H

/*
 * Types keys at the screen of a made-up machine and looks at it as text. Whole screens are compared
 * with files of expected/; STACKTOP_EXPECTED=write makes them anew, to be read before they are
 * kept. The program that includes this is linked with -Wl,--wrap=engine_post.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/tui/feed.h"
#include "tui/engine.h"
#include "tui/options.h"
#include "tui/ui.h"

struct typist {
	struct feed feed;
	struct ui *ui;
	struct grid *g;
	char *text;
	char engine; /* only its address counts */
};

static enum engine_command posted;
static char posted_arg[64];
static int nposted;

void __wrap_engine_post(struct engine *engine, enum engine_command command, const char *arg);

void __wrap_engine_post(struct engine *engine, enum engine_command command, const char *arg)
{
	(void)engine;
	posted = command;
	snprintf(posted_arg, sizeof(posted_arg), "%s", arg);
	nposted++;
}

static inline struct typist *typist_new(void)
{
	static const struct options options = {.delay = 1};
	struct typist *t = calloc(1, sizeof(*t));

	feed_open(&t->feed);
	t->ui = ui_new(t->feed.p, (struct engine *)&t->engine, &options);
	t->ui->utf8 = true;
	t->ui->now = FEED_NOW;
	strcpy(t->ui->clock, "14:03:21");
	strcpy(t->ui->host, "web-07");
	t->g = grid_new(30, 100);
	nposted = 0;
	return t;
}

/* Whose screen shows what these seconds brought. */
static inline struct typist *typist_after(int seconds)
{
	struct typist *t = typist_new();

	for (int i = 0; i < seconds; i++)
		assert_int_equal(feed_slice(&t->feed, 0), 0);
	assert_int_equal(ui_refresh(t->ui), 0);
	return t;
}

static inline void typist_free(struct typist *t)
{
	ui_free(t->ui);
	grid_free(t->g);
	feed_close(&t->feed);
	free(t->text);
	free(t);
}

static inline int typist_teardown(void **state)
{
	typist_free(*state);
	return 0;
}

/* Keys are characters; `\n` is Enter, `\b` Backspace, `!` Del. */
static inline void type(struct typist *t, const char *keys)
{
	for (; *keys; keys++)
		ui_key(t->ui, *keys == '\n'   ? KEYCODE_ENTER
			      : *keys == '\b' ? KEYCODE_BACKSPACE
			      : *keys == '!'  ? KEYCODE_DELETE
					      : *keys);
}

static inline const char *screen(struct typist *t)
{
	free(t->text);
	ui_draw(t->ui, t->g);
	t->text = grid_text(t->g);
	return t->text;
}

static inline void assert_shows(struct typist *t, const char *want)
{
	if (!strstr(screen(t), want))
		fail_msg("'%s' is not on the screen:\n%s", want, t->text);
}

static inline void assert_hides(struct typist *t, const char *unwanted)
{
	if (strstr(screen(t), unwanted))
		fail_msg("'%s' is on the screen:\n%s", unwanted, t->text);
}

/* The text of the last line that has the cursor's mark in its first cell. */
static inline void assert_mark_on(struct typist *t, const char *want)
{
	const char *line = screen(t), *found = NULL;
	char row[1024];

	for (; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		if (*line == '>')
			found = line;
	assert_non_null(found);
	snprintf(row, sizeof(row), "%.*s", (int)strcspn(found, "\n"), found);
	if (!strstr(row, want))
		fail_msg("the cursor is on '%s', not on %s\n%s", row, want, t->text);
}

static inline void compare(struct typist *t, const char *name)
{
	char path[128], want[32768];
	const char *mode = getenv("STACKTOP_EXPECTED");
	FILE *file;

	snprintf(path, sizeof(path), "tests/tui/expected/%s-%dx%d%s.txt", name, t->g->cols,
		 t->g->rows, t->ui->ascii ? "-ascii" : "");
	screen(t);
	if (mode && strcmp(mode, "write") == 0) {
		file = fopen(path, "w");
		assert_non_null(file);
		fputs(t->text, file);
		fclose(file);
		return;
	}
	file = fopen(path, "r");
	if (!file)
		fail_msg("%s is missing", path);
	want[fread(want, 1, sizeof(want) - 1, file)] = '\0';
	fclose(file);
	if (strcmp(want, t->text) != 0)
		fail_msg("%s differs from the screen:\n%s", path, t->text);
}

/* Every cell of every size is a printable one. */
static inline void assert_no_size_breaks(struct typist *t)
{
	for (int rows = 1; rows < 40; rows++) {
		for (int cols = 1; cols < 170; cols += 3) {
			grid_resize(t->g, rows, cols);
			ui_draw(t->ui, t->g);
			for (int i = 0; i < rows * cols; i++)
				assert_true(t->g->cells[i].ch == 0 || t->g->cells[i].ch >= ' ');
		}
	}
}

/* The process that the cursor is on first, 4121, exits. */
static inline void typist_exits(struct typist *t)
{
	struct profile_proc proc = {.pid = 4121, .image = 1, .nthreads = 24, .exited = true};

	strcpy(proc.comm, "nginx");
	strcpy(proc.cmdline, "nginx: worker process");
	proc.exit_time = t->feed.time;
	profile_lock(t->feed.p);
	assert_true(profile_proc(t->feed.p, &proc) >= 0);
	profile_unlock(t->feed.p);
	assert_int_equal(feed_slice(&t->feed, 0), 0);
	assert_int_equal(ui_refresh(t->ui), 0);
}

#endif
