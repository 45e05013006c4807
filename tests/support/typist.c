// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/support/typist.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tui/app/dispatch.h"

const int screen_sizes[SIZES][2] = {{15, 60}, {24, 80}, {30, 100}, {50, 200}};

enum source_command posted;

char posted_arg[64];

int nposted;

static void note_post(struct source *source, enum source_command command, const char *arg)
{
	(void)source;
	posted = command;
	snprintf(posted_arg, sizeof(posted_arg), "%s", arg);
	nposted++;
}

struct typist *typist_new(void)
{
	static const struct ui_options options = {.delay = 1};
	static const struct source_ops ops = {.post = note_post};
	struct typist *t = calloc(1, sizeof(*t));

	t->source.ops = &ops;
	t->source.event = -1;
	machine_open(&t->feed);
	t->ui = ui_new(t->feed.p, &t->source, &options);
	t->ui->utf8 = true;
	t->ui->now = MACHINE_NOW;
	strcpy(t->ui->clock, "14:03:21");
	strcpy(t->ui->host, "web-07");
	t->g = grid_new(30, 100);
	nposted = 0;
	return t;
}

struct typist *typist_after(int seconds)
{
	struct typist *t = typist_new();

	for (int i = 0; i < seconds; i++)
		assert_int_equal(machine_slice(&t->feed, 0), 0);
	assert_int_equal(ui_refresh(t->ui), 0);
	return t;
}

bool typist_resize(struct typist *t, size_t i)
{
	if (i >= SIZES)
		return false;
	assert_int_equal(grid_resize(t->g, screen_sizes[i][0], screen_sizes[i][1]), 0);
	return true;
}

void typist_free(struct typist *t)
{
	ui_free(t->ui);
	grid_free(t->g);
	machine_close(&t->feed);
	free(t->text);
	free(t);
}

int typist_teardown(void **state)
{
	typist_free(*state);
	return 0;
}

void type(struct typist *t, const char *keys)
{
	for (; *keys; keys++)
		ui_key(t->ui, *keys == '\n'   ? KEYCODE_ENTER
			      : *keys == '\b' ? KEYCODE_BACKSPACE
			      : *keys == '!'  ? KEYCODE_DELETE
					      : *keys);
}

const char *screen(struct typist *t)
{
	free(t->text);
	ui_draw(t->ui, t->g);
	t->text = grid_text(t->g);
	return t->text;
}

const char *screen_line(struct typist *t, const char *text)
{
	static char row[1024];
	const char *found = strstr(screen(t), text), *from = found;

	if (!found)
		return "";
	while (from > t->text && from[-1] != '\n')
		from--;
	snprintf(row, sizeof(row), "%.*s", (int)strcspn(from, "\n"), from);
	return row;
}

void assert_beside(struct typist *t, const char *of, const char *want)
{
	if (!strstr(screen_line(t, of), want))
		fail_msg("'%s' is not beside '%s':\n%s", want, of, t->text);
}

void assert_shows(struct typist *t, const char *want)
{
	if (!strstr(screen(t), want))
		fail_msg("'%s' is not on the screen:\n%s", want, t->text);
}

void assert_hides(struct typist *t, const char *unwanted)
{
	if (strstr(screen(t), unwanted))
		fail_msg("'%s' is on the screen:\n%s", unwanted, t->text);
}

void assert_mark_on(struct typist *t, const char *want)
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

void compare(struct typist *t, const char *name)
{
	char path[128], want[32768];
	const char *mode = getenv("STACKTOP_EXPECTED");
	const size_t view = strcspn(name, "-");
	FILE *file;

	/* A folder a view: the first word of the name. */
	snprintf(path, sizeof(path), "tests/tui/expected/%.*s/%s%s%dx%d%s.txt", (int)view, name,
		 name[view] ? name + view + 1 : "", name[view] ? "-" : "", t->g->cols, t->g->rows,
		 t->ui->ascii ? "-ascii" : "");
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

static void assert_size_holds(struct typist *t, int rows, int cols)
{
	grid_resize(t->g, rows, cols);
	ui_draw(t->ui, t->g);
	for (int i = 0; i < rows * cols; i++)
		if (t->g->cells[i].ch != 0 && t->g->cells[i].ch < ' ')
			fail_msg("%dx%d: character %x", rows, cols, t->g->cells[i].ch);
}

/* Every third width where little has room, else every ninth: other ones at each height. */
void assert_no_size_breaks(struct typist *t)
{
	for (int rows = 1; rows < 40; rows++)
		for (int cols = 1; cols < 170; cols++)
			if (rows < 8 || cols < 25 ? cols % 3 == 1 : cols % 9 == rows % 9)
				assert_size_holds(t, rows, cols);
}

void typist_exits(struct typist *t)
{
	struct profile_proc proc = {.pid = 4121, .image = 1, .nthreads = 24, .exited = true};

	strcpy(proc.comm, "nginx");
	strcpy(proc.cmdline, "nginx: worker process");
	proc.exit_time = t->feed.time;
	profile_lock(t->feed.p);
	assert_true(profile_proc(t->feed.p, &proc) >= 0);
	profile_unlock(t->feed.p);
	assert_int_equal(machine_slice(&t->feed, 0), 0);
	assert_int_equal(ui_refresh(t->ui), 0);
}
