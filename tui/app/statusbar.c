// SPDX-License-Identifier: GPL-2.0-or-later
/* See statusbar.h. */
#include "tui/app/statusbar.h"

#include <stdio.h>
#include <string.h>

#include "tui/app/actions.h"
#include "tui/screen/hints.h"
#include "tui/app/questions.h"
#include "tui/ui/ui.h"
#include "tui/ui/view.h"

#define BROKEN_SHARE 0.05

#define FOOTER_KEYS 12

#define ROWS_FOR_TWO   12 /* of a message */
#define ROWS_FOR_THREE 24

/* The most important keys first, and what they are called when the row is short. What is not here
 * goes before these. */
static const struct {
	enum action action;
	const char *label; /* NULL: the usual one */
} important[] = {
	{ACTION_QUIT, NULL},	 {ACTION_HELP, NULL},	  {ACTION_FREEZE, NULL},
	{ACTION_SEARCH, "Find"}, {ACTION_FILTER, "Filt"}, {ACTION_SORT, NULL},
	{ACTION_CYCLE, NULL},	 {ACTION_ATTACH, "Add"},  {ACTION_SETUP, "Set"},
};

#define IMPORTANT (sizeof(important) / sizeof(important[0]))

struct footer_key {
	int number; /* of the function key */
	const char *label;
	size_t rank; /* in important */
};

static int footer_width(const struct grid *g, const struct footer_key *keys, size_t count)
{
	int width = 1;

	for (size_t i = 0; i < count; i++)
		width += 3 + (keys[i].number > 9) + grid_width(g, keys[i].label);
	return width - (count > 0); /* no blank behind the last */
}

/* While the row is too short, and there is one that counts as little as that. */
static size_t footer_drop(const struct grid *g, struct footer_key *keys, size_t count, size_t rank)
{
	while (count && footer_width(g, keys, count) > g->cols) {
		size_t least = 0;

		for (size_t i = 0; i < count; i++)
			if (keys[i].rank >= keys[least].rank)
				least = i;
		if (keys[least].rank < rank)
			break;
		memmove(&keys[least], &keys[least + 1], (--count - least) * sizeof(*keys));
	}
	return count;
}

/*
 * Shorter labels before keys that matter go; whole keys then, since a part of one is no help.
 */
static size_t footer_fit(const struct grid *g, struct footer_key *keys, size_t count)
{
	count = footer_drop(g, keys, count, IMPORTANT);
	for (size_t rank = IMPORTANT; rank-- && footer_width(g, keys, count) > g->cols;)
		for (size_t i = 0; i < count; i++)
			if (keys[i].rank == rank && important[rank].label)
				keys[i].label = important[rank].label;
	return footer_drop(g, keys, count, 0);
}

void statusbar_footer(const struct ui *ui, struct grid *g, int row)
{
	struct footer_key keys[FOOTER_KEYS];
	size_t count = 0;
	int col = 1;

	for (int f = 1; f <= FOOTER_KEYS; f++) {
		const struct key_row *does =
			keymap_row(keymap_action(&ui->config.keys, KEYCODE_F0 + f, ui_keys(ui)));
		size_t rank = 0;

		if (!does)
			continue;
		while (rank < IMPORTANT && important[rank].action != does->action)
			rank++;
		keys[count++] =
			(struct footer_key){f, does->label[0] ? does->label : does->name, rank};
		if (does->action == ACTION_FREEZE && ui->frozen)
			keys[count - 1].label = "Resume";
		if (does->action == ACTION_CYCLE)
			keys[count - 1].label = ui->views[actions_cycled(ui)]->title;
	}
	count = footer_fit(g, keys, count);
	for (size_t i = 0; i < count; i++) {
		int from = col;

		col += grid_printf(g, row, col, g->cols - col, ROLE_BAR_KEY, "F%d", keys[i].number);
		col += grid_put(g, row, col, g->cols - col, ROLE_BAR_TEXT, keys[i].label);
		grid_zone(g, (struct zone){ZONE_KEY, KEYCODE_F0 + keys[i].number, NULL, row, 1,
					   from, col - from});
		col += grid_put(g, row, col, g->cols - col, ROLE_TEXT, " ");
	}
}

static double broken_share(const struct ui *ui)
{
	const struct profile_health *sum = &ui->header.sum;

	if (!sum->user_walks)
		return 0;
	return 1 - (double)sum->complete_walks / (double)sum->user_walks;
}

/* As much of it as there is room for. */
static void say_broken(const struct ui *ui, struct grid *g, int row)
{
	static const char *const ends[] = {"shows why, and what helps", "shows why", "", NULL};
	char text[128] = "", shows[64];

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		shows[0] = '\0';
		if (ends[i])
			hints_words(&ui->config.keys, ACTION_VIEW_7, ends[i], shows, sizeof(shows));
		snprintf(text, sizeof(text), "! %.0f%% of user stacks are not complete%s%s",
			 100 * broken_share(ui), shows[0] ? ": " : "", shows);
		if (grid_width(g, text) < g->cols)
			break;
	}
	grid_fit(g, row, 1, g->cols - 1, ROLE_WARN, text);
}

static void say_frozen(const struct ui *ui, struct grid *g, int row)
{
	const struct profile_replay *replay = ui->header.replayed ? &ui->header.replay : NULL;
	const struct hint hints[] = {
		{ACTION_NONE, ACTION_NONE,
		 !replay			   ? "FROZEN, sampling goes on:"
		 : replay->paused || replay->ended ? "FROZEN:"
						   : "FROZEN, the replay goes on:"},
		{ACTION_STEP_BACK, ACTION_STEP_ON, "a second"},
		{ACTION_FAR_BACK, ACTION_FAR_ON, "ten"},
		{ACTION_MARK, ACTION_NONE, "range"},
		{ACTION_BASELINE, ACTION_DIFF, "compare"},
		{ACTION_LIVE, ACTION_NONE, "resumes"},
	};

	hints_draw(&ui->config.keys, hints, sizeof(hints) / sizeof(hints[0]), g, row, ROLE_PAUSED);
}

static void say_marks(const struct ui *ui, struct grid *g, int row)
{
	static const struct hint hints[] = {
		{ACTION_NONE, ACTION_NONE, "marks: > cursor"},
		{ACTION_NONE, ACTION_NONE, "* tagged"},
		{ACTION_NONE, ACTION_NONE, "+ attached"},
		{ACTION_NONE, ACTION_NONE, "! broken stacks"},
		{ACTION_NONE, ACTION_NONE, "z exited"},
		{ACTION_NONE, ACTION_NONE, "k/u kernel, user"},
	};

	hints_draw(&ui->config.keys, hints, sizeof(hints) / sizeof(hints[0]), g, row, ROLE_DIM);
}

/* Not before a path that has no blank, which would have one row and lose its end all the same. */
static bool breaks_well(const char *text, int width)
{
	int last = 0;

	for (int i = 0; i < width && text[i]; i++)
		last = text[i] == ' ' ? i : last;
	return 2 * last > width;
}

/* What passes, and names a remedy behind the trouble: for as long the rows above give way to what
 * has no room in one. */
static void say(struct grid *g, int row, enum role role, const char *text)
{
	int most = g->rows >= ROWS_FOR_THREE ? 3 : g->rows >= ROWS_FOR_TWO ? 2 : 1;
	int rows = grid_words(g, row, 0, 1, g->cols - 1, 2, role, text);

	if (!breaks_well(text, g->cols - 1))
		most = 1;
	rows = rows < most ? rows : most;
	for (int y = row - rows + 1; y < row; y++)
		grid_blank(g, y, 0, g->cols, ROLE_TEXT);
	grid_words(g, row - rows + 1, rows, 1, g->cols - 1, 2, role, text);
}

void statusbar_message(const struct ui *ui, struct grid *g, int row)
{
	static const enum role roles[] = {ROLE_TEXT, ROLE_WARN, ROLE_ERROR};
	char text[512], ends[64];

	if (ui->notice[0] && ui->now < ui->notice_until) {
		say(g, row, ROLE_TITLE, ui->notice);
	} else if (questions_help(ui)) {
		grid_fit(g, row, 1, g->cols - 1, ROLE_DIM, questions_help(ui));
	} else if (ui->message[0]) {
		snprintf(text, sizeof(text), "%s%s", ui->message_level == MESSAGE_INFO ? "" : "! ",
			 ui->message);
		say(g, row, roles[ui->message_level], text);
	} else if (header_loss(&ui->header, text, sizeof(text))) {
		grid_put(g, row, 1, 2, ROLE_WARN, "! ");
		grid_fit(g, row, 3, g->cols - 3, ROLE_WARN, text);
	} else if (ui->frozen) {
		say_frozen(ui, g, row);
	} else if (broken_share(ui) > BROKEN_SHARE) {
		say_broken(ui, g, row);
	} else if (ui->follow) {
		hints_words(&ui->config.keys, ACTION_FOLLOW, "ends that.", ends, sizeof(ends));
		snprintf(text, sizeof(text), "The cursor stays on its row, also through exec. %s",
			 ends);
		grid_fit(g, row, 1, g->cols - 1, ROLE_DIM, text);
	} else {
		say_marks(ui, g, row);
	}
}
