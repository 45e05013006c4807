// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The main loop without a screen: for screen readers, dumb terminals, and logs. Behind it is the
 * same struct ui as behind the screen, to which each line of input is typed as a command, so that
 * both know the same ones. What is written is put together in memory and written without a lock.
 */
#include "tui/app/plain.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tui/profile/board.h"
#include "symbols/base/text.h"
#include "tui/export/batch.h"
#include "tui/app/cmdline.h"
#include "tui/app/help.h"
#include "tui/profile/source.h"
#include "tui/profile/inspection.h"
#include "tui/ui/settings_thread.h"
#include "tui/screen/keymap.h"
#include "tui/app/user_files.h"
#include "tui/app/plain_writer.h"
#include "tui/screen/theme.h"
#include "tui/app/dispatch.h"
#include "tui/export/writer.h"

#define GRID_ROWS 30
#define GRID_COLS 100

struct plain {
	struct profile *profile;
	struct source *source;
	struct ui *ui;
	struct theme *theme;
	struct settings_thread *keeper;
	struct writer *writer;
	struct grid
		*grid; /* never shown: rows move by pages, and frames lie where they are drawn */
	struct plain_writer *lines;
	struct inspection *walk; /* that was written last */
	FILE *to;		 /* what is to be written next */
	char *text;
	size_t size;
	uint64_t serial; /* of the last message */
	bool losing;	 /* that was written */
	bool full;	 /* likewise, that a table is */
	char line[PROMPT_TEXT];
	size_t length;
	bool long_line; /* which is passed over up to its end */
	bool input;	/* standard input goes on */
	bool bounded;	/* there is an end without it: of -n, of COMMAND, of a session */
	bool quit;
	int signals;
	int ended_by; /* signal; 0: none */
};

static bool is_ended(struct plain *s)
{
	struct signalfd_siginfo info;

	if (read(s->signals, &info, sizeof(info)) != sizeof(info))
		return false;
	s->ended_by = (int)info.ssi_signo;
	s->quit = true;
	return true;
}

/* A reader that stands still does not hold up a signal. -errno. */
static int write_all(struct plain *s)
{
	struct pollfd fds[] = {{.fd = STDOUT_FILENO, .events = POLLOUT},
			       {.fd = s->signals, .events = POLLIN}};
	size_t done = 0;

	while (done < s->size) {
		size_t left = s->size - done;
		ssize_t n;

		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return -errno;
		if (fds[1].revents && is_ended(s))
			return 0;
		if (!fds[0].revents)
			continue;
		/* Bytes that a pipe takes at once when it takes any. */
		n = write(STDOUT_FILENO, s->text + done, left < PIPE_BUF ? left : PIPE_BUF);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* Writes what was put together. -errno. */
static int flush(struct plain *s)
{
	int err = fclose(s->to) ? -ENOMEM : write_all(s);

	free(s->text);
	s->text = NULL;
	s->to = open_memstream(&s->text, &s->size);
	return s->to ? err : -ENOMEM;
}

/* --- life ---------------------------------------------------------------------------------- */

static int plain_open(struct plain *s, const struct ui_options *options)
{
	char host[64] = "";
	int err;

	s->ui = ui_new(s->profile, s->source, options);
	s->lines = calloc(1, sizeof(*s->lines));
	s->grid = grid_new(GRID_ROWS, GRID_COLS);
	s->to = open_memstream(&s->text, &s->size);
	if (!s->ui || !s->lines || !s->grid || !s->to)
		return -ENOMEM;
	err = user_files_open(s->ui, options, false, &s->theme, &s->keeper);
	if (err)
		return err;
	gethostname(host, sizeof(host) - 1);
	text_clean(s->ui->host, sizeof(s->ui->host), host, strlen(host));
	s->ui->ascii = s->ui->no_mouse = true;
	s->input = true;
	s->bounded = options->ends;
	return 0;
}

static void plain_close(struct plain *s)
{
	writer_free(s->writer);
	settings_thread_free(s->keeper);
	inspection_put(s->walk);
	theme_free(s->theme);
	if (s->to)
		fclose(s->to);
	free(s->text); /* which fclose has set */
	grid_free(s->grid);
	free(s->lines);
	ui_free(s->ui);
}

/* --- what there is to say ------------------------------------------------------------------ */

static void say(struct plain *s, const char *text)
{
	char clean[512];

	text_clean(clean, sizeof(clean), text, strlen(text));
	fprintf(s->to, "%s\n", clean);
}

static int say_messages(struct plain *s)
{
	char loss[512], full[256];
	bool losing = header_loss(&s->ui->header, loss, sizeof(loss));
	bool fills = header_full(&s->ui->header, s->ui->measure, full, sizeof(full));

	if (losing && !s->losing)
		say(s, loss);
	s->losing = losing;
	if (fills && !s->full)
		say(s, full);
	s->full = fills;
	return batch_messages(s->to, s->profile, &s->serial);
}

/* Writes a walk that was asked for, when it has come. */
static void say_walk(struct plain *s)
{
	struct inspection *walk = board_inspection(profile_board(s->profile));

	if (walk == s->walk) {
		inspection_put(walk);
		return;
	}
	inspection_put(s->walk);
	s->walk = walk;
	if (walk)
		plain_writer_walk(s->to, walk);
}

/* The source has news. A frozen view has none. */
static int say_news(struct plain *s, bool slice)
{
	int err = ui_refresh(s->ui);

	if (!err)
		err = say_messages(s);
	if (err)
		return err;
	say_walk(s);
	/* Code comes from another thread, and its samples are those of now. */
	if (s->ui->frozen && !s->ui->overlay.ops)
		return 0;
	if (slice)
		plain_writer_state(s->lines, s->to, s->ui);
	return plain_writer_news(s->lines, s->to, s->ui);
}

/* --- commands ------------------------------------------------------------------------------ */

/* Actions that only a screen has, or that change nothing in the lists. */
static bool needs_screen(const char *name)
{
	static const enum action actions[] = {
		ACTION_LEFT,   ACTION_RIGHT,	  ACTION_ASCII,	     ACTION_REDRAW,
		ACTION_MOUSE,  ACTION_PICTURE,	  ACTION_COPY,	     ACTION_COMMAND,
		ACTION_INVERT, ACTION_FLAME_ZOOM, ACTION_FLAME_TURN, ACTION_FLAME_COLOR};
	const struct key_row *row = keymap_find(name);

	for (size_t i = 0; row && i < sizeof(actions) / sizeof(actions[0]); i++)
		if (row->action == actions[i])
			return true;
	return false;
}

static void help_all(struct plain *s)
{
	size_t count;
	const struct key_row *rows = keys_table(&count);
	const char *help, *name;

	for (size_t i = 0; (name = cmdline_word(i, &help)); i++)
		fprintf(s->to, "%s: %s\n", name, help);
	for (size_t i = 0; i < count; i++)
		if (!needs_screen(rows[i].name))
			fprintf(s->to, "%s: %s\n", rows[i].name, rows[i].help);
}

static void help_one(struct plain *s, const char *name)
{
	const struct key_row *row = keymap_find(name);
	const char *help, *word;
	bool found = false;

	for (size_t i = 0; (word = cmdline_word(i, &help)); i++)
		if (strcmp(word, name) == 0) {
			fprintf(s->to, "%s: %s\n", word, help);
			found = true;
		}
	if (row && !needs_screen(name))
		fprintf(s->to, "%s: %s\n", row->name, row->help);
	else if (!found)
		fprintf(s->to, "there is no such command; \"help all\" lists all\n");
}

static void help(struct plain *s, const char *rest)
{
	if (strcmp(rest, "all") == 0) {
		help_all(s);
	} else if (*rest) {
		help_one(s, rest);
	} else {
		fputs("Lists: procs, funcs, tree, callers, flame, shards, unwind.\n"
		      "An empty line repeats the list, the name of a key presses it.\n"
		      "zoom PID or NAME, back, tag PID or NAME, untag: which processes.\n"
		      "filter REGEX, search REGEX, search-next, sort COLUMN: which rows.\n"
		      "threads, group, kernel, user, inline: what is grouped or left out.\n"
		      "weigh, window SECONDS, zero, freeze, step-back, far-back, mark, live: which "
		      "time.\n"
		      "baseline, difference: what has changed.\n"
		      "butterfly FUNCTION: its callers and callees.\n"
		      "annotate FUNCTION, inspect PID, step FRAME: code, and how a stack is "
		      "walked.\n"
		      "attach PID, NAME, user:NAME, cgroup:PART or container:ID, detach: what is "
		      "sampled.\n"
		      "slower, faster, set NAME VALUE, save.\n"
		      "write FILE: the samples as a flame graph, pprof, and more.\n"
		      "help COMMAND explains one, help all lists all. quit ends.\n",
		      s->to);
	}
}

static void say_settings(struct plain *s)
{
	const char *const *names = config_names();

	for (; *names; names++) {
		char value[CONFIG_HIDE_MAX];

		config_get(&s->ui->config, *names, value, sizeof(value));
		fprintf(s->to, "%s: %s\n", *names, value[0] ? value : "nothing");
	}
	fputs("set NAME VALUE changes one, save keeps them.\n", s->to);
}

/* What a screen would show over the view. */
static void say_questions(struct plain *s)
{
	struct ui *ui = s->ui;
	const struct prompt *prompt = &ui->prompt;

	if (help_is_open(ui))
		help(s, "");
	else if (ui->page.ops)
		say_settings(s);
	ui_close_page(ui);
	if (ui->menu.title) {
		fprintf(s->to, "%s which? %s and one of these:\n", ui->menu.title,
			keymap_row((enum action)ui->menu.purpose)->name);
		for (int i = 0; i < ui->menu.count; i++)
			fprintf(s->to, "%s\n", ui->menu.items[i].text);
		menu_close(&ui->menu);
	}
	if (prompt->question && prompt->text[0])
		fprintf(s->to, "%s an empty line for \"%s\", or cancel\n", prompt->question,
			prompt->text);
	else if (prompt->question)
		fprintf(s->to, "%s or cancel\n", prompt->question);
}

/* The line is the name of a key: messages name them. */
static bool is_key(const struct ui *ui, const char *text, int *key)
{
	*key = keys_parse(text, strlen(text));
	return !ui->prompt.question && *key != KEYCODE_NONE && !keymap_find(text);
}

/* The line is the answer to what was asked, else a key or a command. */
static unsigned int type(struct ui *ui, const char *text)
{
	struct prompt *prompt = &ui->prompt;
	bool asked = prompt->question != NULL;
	int key;

	if (is_key(ui, text, &key))
		return ui_key(ui, key);
	if (asked && strcmp(text, "cancel") == 0)
		return ui_key(ui, KEYCODE_ESCAPE);
	if (!asked)
		prompt_open(prompt, ACTION_COMMAND, ":", "");
	if (*text || !asked)
		prompt_set(prompt, text);
	return ui_key(ui, KEYCODE_ENTER);
}

static void see_to(struct plain *s, unsigned int flags)
{
	struct ui *ui = s->ui;

	if (flags & UI_QUIT)
		s->quit = true;
	if (flags & UI_WRITE)
		user_files_write(ui, &s->writer, s->theme);
	if (flags & UI_THEME)
		settings_thread_use_theme(s->keeper, ui->config.theme);
	if (flags & UI_SAVE)
		settings_thread_save(s->keeper, &ui->config);
}

static int command(struct plain *s, const char *text)
{
	struct ui *ui = s->ui;
	char before[400] = "", after[400] = "";
	enum ui_view view = ui->view;
	int err;

	plain_writer_cursor(ui, before, sizeof(before));
	ui->notice[0] = '\0';
	see_to(s, type(ui, text));
	if (s->quit)
		return 0;
	ui_draw(ui, s->grid);
	if (ui->notice[0])
		say(s, ui->notice);
	say_questions(s);
	err = say_messages(s);
	if (!err && !ui->prompt.question)
		err = plain_writer_news(s->lines, s->to, ui);
	if (view == ui->view && plain_writer_cursor(ui, after, sizeof(after)) &&
	    strcmp(before, after) != 0) {
		fputs("the cursor is on: ", s->to);
		say(s, after);
	}
	return err;
}

static void step(struct plain *s, const char *rest)
{
	char *end;
	unsigned long frame = strtoul(rest, &end, 10);

	if (!s->walk)
		fputs("no walk was caught yet: inspect PID\n", s->to);
	else if (end == rest || *end || frame > UINT32_MAX ||
		 !plain_writer_step(s->to, s->walk, (unsigned int)frame))
		fputs("the walk has no such frame\n", s->to);
}

/* A whole line without its end. */
static int take_line(struct plain *s, const char *line)
{
	char text[PROMPT_TEXT];
	size_t n;
	int key;

	text_clean(text, sizeof(text), line, strlen(line));
	for (n = strlen(text); n && text[n - 1] == ' '; n--)
		text[n - 1] = '\0';
	line = text + strspn(text, " :");
	n = strcspn(line, " ");
	if (s->ui->prompt.question)
		return command(s, line);
	if (!*line)
		return plain_writer_all(s->lines, s->to, s->ui);
	if (n == 4 && strncmp(line, "help", n) == 0) {
		help(s, line + n + strspn(line + n, " "));
	} else if (n == 4 && strncmp(line, "step", n) == 0) {
		step(s, line + n + strspn(line + n, " "));
	} else {
		const struct key_row *row = NULL;
		char name[64];

		snprintf(name, sizeof(name), "%.*s", (int)n, line);
		if (is_key(s->ui, line, &key))
			row = keymap_row(keymap_action(&s->ui->config.keys, key, ui_keys(s->ui)));
		if (row)
			snprintf(name, sizeof(name), "%s", row->name);
		if (!needs_screen(name))
			return command(s, line);
		fprintf(s->to, "%s needs a screen\n", name);
	}
	return 0;
}

static int take_bytes(struct plain *s, const char *bytes, size_t count)
{
	int err = 0;

	for (size_t i = 0; i < count && !err && !s->quit; i++) {
		if (bytes[i] != '\n') {
			if (s->length + 1 < sizeof(s->line))
				s->line[s->length++] = bytes[i];
			else
				s->long_line = true;
			continue;
		}
		s->line[s->length] = '\0';
		if (s->long_line)
			fputs("the line is too long\n", s->to);
		else
			err = take_line(s, s->line);
		s->length = 0;
		s->long_line = false;
	}
	return err;
}

/* After a file or a pipe of commands the run goes on; /dev/null cannot ever ask for its end. */
static bool ends_with_input(const struct plain *s)
{
	struct stat st;

	if (isatty(STDIN_FILENO))
		return true;
	return !s->bounded && !fstat(STDIN_FILENO, &st) && S_ISCHR(st.st_mode);
}

static int on_input(struct plain *s)
{
	char bytes[4096];
	ssize_t n = read(STDIN_FILENO, bytes, sizeof(bytes));
	int err = 0;

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n > 0)
		return take_bytes(s, bytes, (size_t)n);
	s->input = false;
	if (s->length) /* a last line without an end */
		err = take_bytes(s, "\n", 1);
	if (ends_with_input(s))
		s->quit = true;
	return err;
}

/* --- the loop ------------------------------------------------------------------------------ */

static bool all_played(struct plain *s)
{
	const struct profile_replay *replay;
	bool ended;

	profile_lock(s->profile);
	replay = profile_replay(s->profile);
	ended = replay && replay->ended;
	profile_unlock(s->profile);
	return ended && !s->input;
}

static int turn(struct plain *s, uint64_t *seen)
{
	int event = s->source->event;
	struct pollfd fds[] = {
		{.fd = event, .events = POLLIN},
		{.fd = s->signals, .events = POLLIN},
		{.fd = s->input ? STDIN_FILENO : -1, .events = POLLIN},
	};
	uint64_t count, slices;
	int err = 0;

	if (poll(fds, 3, -1) < 0)
		return errno == EINTR ? 0 : -errno;
	ui_set_time(s->ui);
	if (fds[1].revents && is_ended(s))
		return 0;
	if (fds[0].revents && read(event, &count, sizeof(count)) == sizeof(count)) {
		slices = s->source->slices;
		err = say_news(s, slices != *seen);
		*seen = slices;
	}
	if (!err && fds[2].revents)
		err = on_input(s);
	return err ? err : flush(s);
}

static int loop(struct plain *s)
{
	uint64_t seen = 0;
	int err;

	fprintf(s->to, "stacktop on %s; \"help\" lists the commands, \"quit\" ends\n", s->ui->host);
	ui_set_time(s->ui);
	err = ui_refresh(s->ui);
	ui_draw(s->ui, s->grid);
	if (!err)
		err = flush(s);
	while (!err && !s->quit) {
		bool finished = s->source->finished || all_played(s);

		if (finished) {
			/* The last slice is written, too. */
			if (s->source->slices != seen)
				err = say_news(s, true);
			return err ? err : flush(s);
		}
		err = turn(s, &seen);
	}
	return err ? err : flush(s);
}

int plain_run(struct profile *p, struct source *source, const struct ui_options *options,
	      int signals)
{
	struct plain s = {.profile = p, .source = source, .signals = signals};
	int err = plain_open(&s, options), status = EXIT_FAILURE;

	if (err == -ENOMEM)
		fprintf(stderr, "stacktop: out of memory\n");
	if (!err) {
		err = loop(&s);
		if (err && err != -EPIPE)
			fprintf(stderr, "stacktop: standard output: %s\n", strerror(-err));
		else
			status = s.ended_by ? 128 + s.ended_by : EXIT_SUCCESS;
	}
	plain_close(&s);
	return status;
}
