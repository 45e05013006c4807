// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From a key or a click to the grid: the table of views, what gets a key first, and what is drawn
 * over what. Knows no terminal, so tests type keys and compare screens. actions.c has what each
 * action does, questions.c what is asked on the last line.
 */
#include "tui/app/dispatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tui/profile/board.h"
#include "symbols/base/clock.h"
#include "symbols/base/memory.h"
#include "symbols/base/text.h"
#include "tui/app/actions.h"
#include "tui/app/palette.h"
#include "tui/app/questions.h"
#include "tui/screen/hints.h"
#include "tui/screen/mouse.h"
#include "tui/session/baseline.h"
#include "tui/ui/chips.h"
#include "tui/ui/pushing.h"
#include "tui/ui/record.h"
#include "tui/ui/selection.h"
#include "tui/ui/shortname.h"
#include "tui/ui/timespan.h"
#include "tui/ui/typing.h"
#include "tui/ui/view.h"
#include "tui/views/treerows.h"

#define MESSAGE_SECONDS 8
#define ROWS_FOR_BOTTOM 6 /* with fewer rows the view gets all of them */
#define WHEEL_ROWS	3
#define BROKEN_SHARE	0.05

#define FOOTER_KEYS 12

#define ROWS_FOR_TWO   12 /* of a message */
#define ROWS_FOR_THREE 24

static const struct view_ops *const views[VIEW_COUNT] = {
	[VIEW_PROCS] = &procs_view,	[VIEW_FUNCS] = &funcs_view, [VIEW_TREE] = &tree_view,
	[VIEW_CALLERS] = &callers_view, [VIEW_FLAME] = &flame_view, [VIEW_SHARDS] = &shards_view,
	[VIEW_UNWIND] = &unwind_view,	[VIEW_WAITS] = &waits_view,
};

struct ui *ui_new(struct profile *profile, struct source *source, const struct ui_options *options)
{
	struct ui *ui = calloc(1, sizeof(*ui));
	const char *forbidden = getenv("NO_COLOR");

	if (!ui)
		return NULL;
	ui->views = views;
	ui->profile = profile;
	ui->source = source;
	ui->view = VIEW_PROCS;
	profile_lock(profile);
	profile_keep(profile, SCRUB_SECONDS, memory_limit(MEMORY_HISTORY));
	profile_unlock(profile);
	timespan_name(ui, profile_window(profile));
	ui->span = SPAN_WINDOW;
	ui->interval = options->delay;
	ui->by_cpu = options->by_cpu;
	ui->measure = options->measure;
	ui->no_color = options->no_color || (forbidden && *forbidden);
	ui->limit = TREEROWS_LIMIT;
	ui->hide_kernel = options->no_kernel;
	ui->hide_user = options->no_user;
	ui->hide_inline = options->no_inline;
	ui->frames = options->frames;
	ui->push = options->push;
	ui->push_options = options->push_options;
	ui->selection = selection_new();
	ui->typing = typing_new();
	ui->palette = palette_new();
	if (!ui->selection || !ui->typing || !ui->palette) {
		ui_free(ui);
		return NULL;
	}
	for (int i = VIEW_FRAME + 1; i < VIEW_COUNT; i++) {
		ui->state[i] = views[i]->open();
		if (!ui->state[i]) {
			ui_free(ui);
			return NULL;
		}
	}
	if (options->baseline)
		scrub_baseline(ui, options->baseline);
	if (ui->baseline && options->baseline_first)
		baseline_wait(ui->baseline);
	return ui;
}

void ui_free(struct ui *ui)
{
	if (!ui)
		return;
	for (int i = VIEW_FRAME + 1; i < VIEW_COUNT; i++)
		if (ui->state[i])
			views[i]->close(ui->state[i]);
	search_clear(&ui->search);
	ui_close_overlay(ui);
	ui_close_page(ui);
	selection_free(ui->selection);
	typing_free(ui->typing);
	palette_free(ui->palette);
	baseline_free(ui->baseline);
	record_free(ui);
	pushing_free(ui);
	free(ui);
}

/* --- news of the profile --------------------------------------------------------------------- */

void ui_set_time(struct ui *ui)
{
	time_t now = time(NULL);
	struct tm local;

	ui->now = clock_ns(CLOCK_MONOTONIC);
	if (!ui->frozen && localtime_r(&now, &local))
		strftime(ui->clock, sizeof(ui->clock), "%H:%M:%S", &local);
}

/* What the current view shows, also when it is frozen. */
static int load_once(struct ui *ui)
{
	struct profile *p = ui_profile(ui);
	int err;

	typing_watch(ui);
	profile_lock(p);
	if (!ui->frozen)
		header_load(&ui->header, p);
	scrub_load(ui, p);
	if (ui->header.replayed && ui->header.replay.interval)
		ui->interval = (double)ui->header.replay.interval / CLOCK_NS_PER_SEC;
	else if (ui->header.replayed && ui->header.last.elapsed)
		ui->interval = (double)ui->header.last.elapsed / CLOCK_NS_PER_SEC;
	ui_zoom_follow(ui, p);
	header_load_scope(ui, p);
	err = view_get(ui)->load(ui, p);
	profile_unlock(p);
	return err ? err : view_get(ui)->sort(ui);
}

/* After the view, which it may ask. */
static int load_overlay(struct ui *ui)
{
	return ui->overlay.ops && ui->overlay.ops->load ? ui->overlay.ops->load(ui) : 0;
}

static int load(struct ui *ui)
{
	int err = load_once(ui);

	return !err && typing_loaded(ui) ? load_once(ui) : err;
}

int ui_refresh(struct ui *ui)
{
	struct board_message message;
	int err;

	ui->message[0] = '\0';
	ui_notice_answered(ui);
	board_awaited(profile_board(ui->profile), ui->awaited, sizeof(ui->awaited));
	profile_lock(ui->profile);
	if (board_shown(profile_board(ui->profile), ui->now, MESSAGE_SECONDS * CLOCK_NS_PER_SEC,
			&message)) {
		ui->message_level = message.level;
		text_clean(ui->message, sizeof(ui->message), message.text, strlen(message.text));
	}
	scrub_wait(ui, ui->profile);
	profile_unlock(ui->profile);
	record_look(ui);
	pushing_look(ui);
	err = ui->frozen ? 0 : load(ui);
	return err ? err : load_overlay(ui);
}

bool ui_goes_on(const struct ui *ui)
{
	return ui->header.line.waits;
}

void ui_go_on(struct ui *ui)
{
	profile_lock(ui->profile);
	header_load_scope(ui, ui->profile);
	profile_unlock(ui->profile);
}

/* --- the two rows below every view ------------------------------------------------------------ */

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
		count--;
		for (size_t i = least; i < count; i++)
			keys[i] = keys[i + 1];
	}
	return count;
}

/* Shorter labels before keys that matter go; whole keys then, since a part of one is no help. */
static size_t footer_fit(const struct grid *g, struct footer_key *keys, size_t count)
{
	count = footer_drop(g, keys, count, IMPORTANT);
	for (size_t rank = IMPORTANT; rank-- && footer_width(g, keys, count) > g->cols;)
		for (size_t i = 0; i < count; i++)
			if (keys[i].rank == rank && important[rank].label)
				keys[i].label = important[rank].label;
	return footer_drop(g, keys, count, 0);
}

/* The function keys as they are bound, as far as there is room. */
static void draw_footer(const struct ui *ui, struct grid *g, int row)
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

/* The next keys of a person who has found the process. */
static void say_next(const struct ui *ui, struct grid *g, int row)
{
	static const char *const groups[GROUPINGS] = {"group: none",	  "group: program",
						      "group: container", "group: user",
						      "group: tree",	  "group: CPU"};
	const bool groups_of_processes = ui->grouping && ui->grouping != GROUP_TREE;
	const struct hint hints[] = {
		{ACTION_ZOOM, ACTION_NONE, groups_of_processes ? "processes" : "functions"},
		{ACTION_VIEW_4, ACTION_NONE, "callers"},
		{ACTION_ANNOTATE, ACTION_NONE, "code"},
		{ACTION_FREEZE, ACTION_NONE, "freeze"},
		{ACTION_GROUP, ACTION_NONE, groups[ui->grouping]},
		{ACTION_VIEW_7, ACTION_NONE, "broken stacks"},
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

/* All of it, as far as the screen goes. */
static void say_name(struct grid *g, int row, const char *text)
{
	int rows = shortname_wrap(g, row, 0, 1, g->cols - 1, ROLE_TITLE, text);

	rows = rows < row ? rows : row;
	for (int y = row - rows + 1; y < row; y++)
		grid_blank(g, y, 0, g->cols, ROLE_TEXT);
	shortname_wrap(g, row - rows + 1, rows, 1, g->cols - 1, ROLE_TITLE, text);
}

static bool say_details(const struct ui *ui, struct grid *g, int row)
{
	const struct view_ops *view = view_get(ui);

	return !ui->overlay.ops && view->details && view->details(ui, g, row);
}

/* The most urgent message. */
static void draw_message(const struct ui *ui, struct grid *g, int row)
{
	static const enum role roles[] = {ROLE_TEXT, ROLE_WARN, ROLE_ERROR};
	char text[512], ends[64];

	if (ui->notice[0] && ui->now < ui->notice_until && ui->notice_name) {
		say_name(g, row, ui->notice);
	} else if (ui->notice[0] && ui->now < ui->notice_until) {
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
	} else if (header_full(&ui->header, ui->measure, text, sizeof(text))) {
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
	} else if (say_details(ui, g, row)) {
		return;
	} else if (ui->view == VIEW_PROCS && !ui->overlay.ops) {
		say_next(ui, g, row);
	} else {
		say_marks(ui, g, row);
	}
}

/* --- drawing --------------------------------------------------------------------------------- */

void ui_draw(struct ui *ui, struct grid *g)
{
	int top, bottom;

	typing_watch(ui); /* of the marks of matches */
	g->ascii = ui->ascii;
	g->view = VIEW_FRAME;
	if (ui->page.ops) {
		ui->page.ops->draw(ui, g, 0, g->rows);
		return;
	}
	grid_clear(g);
	top = header_draw(ui, g);
	bottom = g->rows >= ROWS_FOR_BOTTOM ? g->rows - 2 : g->rows;
	g->view = ui->view;
	if (ui->overlay.ops)
		ui->overlay.ops->draw(ui, g, top, bottom - top);
	else
		view_get(ui)->draw(ui, g, top, bottom - top);
	g->view = VIEW_FRAME;
	if (bottom < g->rows) {
		/* A view that is given too few rows may not paint over what is below it. */
		grid_blank(g, bottom, 0, g->cols, ROLE_TEXT);
		grid_blank(g, bottom + 1, 0, g->cols, ROLE_TEXT);
		draw_message(ui, g, bottom);
		draw_footer(ui, g, bottom + 1);
	}
	if (ui->menu.title)
		menu_draw(&ui->menu, g, top);
	if (ui->prompt.question)
		prompt_draw(&ui->prompt, g, g->rows - 1);
	palette_draw(ui, g);
}

/* --- keys and clicks ------------------------------------------------------------------------- */

static unsigned int menu_key_pressed(struct ui *ui, int key)
{
	enum menu_result result = menu_key(&ui->menu, key);

	if (result == MENU_GOES_ON)
		return UI_REDRAW;
	menu_close(&ui->menu);
	if (result == MENU_CANCELLED)
		return UI_REDRAW;
	if (ui->menu.items[ui->menu.cursor].why) {
		ui_notice(ui, "%s: %s", ui->menu.items[ui->menu.cursor].text,
			  ui->menu.items[ui->menu.cursor].why);
		return UI_REDRAW;
	}
	if (ui->menu.purpose == ACTION_EVENT)
		return questions_answer(ui, ACTION_EVENT, ui->menu.items[ui->menu.cursor].text);
	return view_get(ui)->sort_by(ui, ui->menu.items[ui->menu.cursor].value);
}

/* Loads and sorts as the flags ask; returns the flags that are left to the caller. */
static unsigned int settle(struct ui *ui, unsigned int flags)
{
	int err = 0;

	if (flags & UI_RELOAD)
		err = load(ui) ?: load_overlay(ui);
	else if (flags & UI_RESORT)
		err = view_get(ui)->sort(ui);
	if (!err && chosen_follow(ui) & UI_RESORT)
		err = view_get(ui)->sort(ui);
	if (err)
		ui_notice(ui, "%s", strerror(-err));
	if (flags & (UI_RELOAD | UI_RESORT))
		flags |= UI_REDRAW;
	return flags & ~(unsigned int)(UI_RELOAD | UI_RESORT);
}

unsigned int ui_key(struct ui *ui, int key)
{
	enum action action;
	unsigned int flags;

	if (ui->prompt.question) {
		ui->notice[0] = '\0'; /* it was about what was typed before */
		flags = questions_key(ui, key);
	} else if (ui->menu.title) {
		flags = menu_key_pressed(ui, key);
	} else if (ui->page.ops) {
		flags = ui->page.ops->key(ui, key);
	} else {
		action = keymap_action(&ui->config.keys, key, ui_keys(ui));
		ui->notice[0] = '\0';
		flags = action != ACTION_NONE ? actions_do(ui, action) : actions_explain(ui, key);
	}
	return settle(ui, flags);
}

/* Clicks become the actions of keys: the mouse does nothing that the keyboard cannot do, and views
 * need no code for it. */
static unsigned int move_by(struct ui *ui, int rows)
{
	unsigned int flags = 0;

	for (; rows > 0; rows--)
		flags |= actions_do(ui, ACTION_DOWN);
	for (; rows < 0; rows++)
		flags |= actions_do(ui, ACTION_UP);
	return flags;
}

static unsigned int click_title(struct ui *ui, const struct zone *zone)
{
	const struct view_ops *view = view_get(ui);
	int count, sorted;

	/* The lower table of a view with two is not that which keys sort. */
	if (!view->sort_by || view->columns(&count, ui, &sorted) != zone->of)
		return 0;
	return sorted == zone->value ? actions_do(ui, ACTION_INVERT)
				     : view->sort_by(ui, zone->value);
}

static unsigned int click(struct ui *ui, const struct zone *zone, const struct mouse *mouse)
{
	const struct view_ops *view = view_get(ui);
	unsigned int flags;

	switch (zone->kind) {
	case ZONE_VIEW:
		return ui_go(ui, (enum ui_view)zone->value);
	case ZONE_KEY:
		return ui_key(ui, zone->value);
	case ZONE_CHIP:
		return chips_take_back(ui, (enum chip_kind)zone->value);
	case ZONE_SORT:
		return click_title(ui, zone);
	case ZONE_ROWS:
		flags = move_by(ui, mouse->row - zone->value);
		chosen_moved(ui);
		return mouse->twice ? flags | ui_key(ui, KEYCODE_ENTER) : flags;
	case ZONE_BODY:
		chosen_moved(ui);
		return view->click ? view->click(ui, mouse->row - zone->row, mouse->col - zone->col,
						 mouse->twice)
				   : 0;
	default:
		return 0;
	}
}

/* What is frozen then is the second that was clicked, or a range from there to where it is dragged.
 */
static unsigned int act_on_time(struct ui *ui, const struct grid *g, const struct mouse *mouse)
{
	const struct zone *zone = NULL;

	for (int i = 0; i < g->nzones; i++)
		if (g->zones[i].kind == ZONE_TIME)
			zone = &g->zones[i];
	if (!zone)
		return 0;
	switch (mouse->kind) {
	case MOUSE_WHEEL_UP:
		return actions_do(ui, ACTION_STEP_BACK);
	case MOUSE_WHEEL_DOWN:
		return actions_do(ui, ACTION_STEP_ON);
	default:
		return scrub_point(ui, header_slice_at(ui, zone, mouse->col),
				   mouse->kind == MOUSE_DRAG);
	}
}

static unsigned int act_on_mouse(struct ui *ui, const struct grid *g, const struct mouse *mouse)
{
	const struct zone *zone = grid_zone_at(g, mouse->row, mouse->col);
	int wheel = mouse->kind == MOUSE_WHEEL_UP     ? -WHEEL_ROWS
		    : mouse->kind == MOUSE_WHEEL_DOWN ? WHEEL_ROWS
						      : 0;
	unsigned int flags = 0;

	if (mouse->kind == MOUSE_CLICK)
		ui->scrub.dragged = false;
	if (ui->prompt.question)
		return 0;
	if (mouse->kind == MOUSE_DRAG)
		return ui->scrub.dragged ? act_on_time(ui, g, mouse) : 0;
	if (ui->menu.title || ui->page.ops) {
		for (; wheel > 0; wheel--)
			flags |= ui_key(ui, KEYCODE_DOWN);
		for (; wheel < 0; wheel++)
			flags |= ui_key(ui, KEYCODE_UP);
		if (flags || !zone || !ui->menu.title || zone->kind != ZONE_MENU)
			return flags;
		ui->menu.cursor = zone->value;
		return ui_key(ui, KEYCODE_ENTER);
	}
	if (zone && zone->kind == ZONE_TIME) {
		ui->scrub.dragged |= mouse->kind == MOUSE_CLICK;
		return act_on_time(ui, g, mouse);
	}
	if (wheel)
		return move_by(ui, wheel);
	return zone ? click(ui, zone, mouse) : 0;
}

unsigned int ui_mouse(struct ui *ui, const struct grid *g, const struct mouse *mouse)
{
	return settle(ui, act_on_mouse(ui, g, mouse));
}
