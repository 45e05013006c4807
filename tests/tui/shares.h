/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TESTS_TUI_SHARES_H
#define STACKTOP_TESTS_TUI_SHARES_H

/*
 * Whether shares on the screen are those that the samples of the made-up machine give when they are
 * added up here. See typist.h.
 */

#include "tests/tui/typist.h"

#define CTRL(letter) ((letter) - '@')
#define SLICES	     12
#define WINDOW	     10

static const int sizes[][2] = {{15, 60}, {24, 80}, {30, 100}, {50, 200}};

/* A second of feed_slice(f, 0), by process and innermost function. */
static const struct {
	pid_t pid;
	const char *leaf;
	int count;
} second[] = {
	{4121, "ngx_parse_header", 100}, {4121, "memmove", 50},	    {4121, "tcp_sendmsg", 50},
	{4121, "rare_one", 1},		 {5310, "ExecInterp", 60},  {7781, "Builtins_Call", 20},
	{7781, "node::Parse", 5},	 {902, "shrink_folio", 12},
};

/* Samples of the window; pid 0: any, leaf NULL: any. */
static inline int samples(pid_t pid, const char *leaf)
{
	int sum = 0;

	for (size_t i = 0; i < sizeof(second) / sizeof(second[0]); i++)
		if ((!pid || second[i].pid == pid) && (!leaf || strcmp(second[i].leaf, leaf) == 0))
			sum += WINDOW * second[i].count;
	return sum;
}

static inline int setup(void **state)
{
	struct typist *t = typist_new();

	*state = t;
	for (int i = 0; i < SLICES; i++)
		assert_int_equal(feed_slice(&t->feed, 0), 0);
	return ui_refresh(t->ui);
}

/* Unlike type(), knows '!' and control characters. */
static inline void press(struct typist *t, const char *keys)
{
	for (; *keys; keys++)
		ui_key(t->ui, *keys == '\n'	? KEYCODE_ENTER
			      : *keys == '\033' ? KEYCODE_ESCAPE
						: *keys);
}

static inline void filter(struct typist *t, const char *text)
{
	press(t, "\\");
	ui_key(t->ui, CTRL('U'));
	press(t, text);
	press(t, "\n");
}

/* The first line that shows the text, or "". */
static const char *line_of(struct typist *t, const char *text)
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

/* The first number of the line that shows the function is part of whole. */
static inline void assert_share(struct typist *t, const char *name, int part, int whole)
{
	const char *line = line_of(t, name);
	double share = -1;

	if (sscanf(line + strcspn(line, "0123456789"), "%lf", &share) != 1 ||
	    share < 100.0 * part / whole - 0.051 || share > 100.0 * part / whole + 0.051)
		fail_msg("%s: %d of %d is not what '%s' says\n%s", name, part, whole, line,
			 t->text);
}

#define SHARES_TEST(function) cmocka_unit_test_setup_teardown(function, setup, typist_teardown)

#endif
