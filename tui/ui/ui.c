// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The choices of the person at the screen, from a key to the grid. Knows no terminal, so that tests
 * type keys and compare screens. What actions do is in actions.c, what is asked in questions.c.
 */
#include "tui/ui/ui.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/memory.h"
#include "symbols/base/text.h"
#include "tui/views/annotate.h"
#include "tui/session/baseline.h"
#include "tui/profile/source.h"
#include "tui/ui/eventmenu.h"
#include "tui/app/dead_key.h"
#include "tui/app/statusbar.h"
#include "tui/app/help.h"
#include "tui/screen/mouse.h"
#include "tui/options.h"
#include "tui/app/questions.h"
#include "tui/ui/selection.h"
#include "tui/query/profile_copy.h"
#include "tui/ui/timespan.h"
#include "tui/views/treerows.h"
#include "tui/ui/view.h"

#define NS_PER_SEC	1000000000ULL
#define NOTICE_SECONDS	5
#define MESSAGE_SECONDS 8
#define ROWS_FOR_BOTTOM 6 /* with less than this the view gets every row */

static const struct view_ops *const views[VIEW_COUNT] = {
	[VIEW_PROCS] = &procs_view,	[VIEW_FUNCS] = &funcs_view, [VIEW_TREE] = &tree_view,
	[VIEW_CALLERS] = &callers_view, [VIEW_FLAME] = &flame_view, [VIEW_SHARDS] = &shards_view,
	[VIEW_UNWIND] = &unwind_view,
};

const struct view_ops *view_get(enum ui_view view)
{
	return views[view];
}

struct ui *ui_new(struct profile *profile, struct source *source, const struct options *options)
{
	struct ui *ui = calloc(1, sizeof(*ui));

	if (!ui)
		return NULL;
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
	ui->limit = TREEROWS_LIMIT;
	ui->hide_kernel = options->no_kernel;
	ui->hide_user = options->no_user;
	ui->hide_inline = options->no_inline;
	ui->selection = selection_new();
	if (!ui->selection) {
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
	/* A picture is not taken again when it has come. */
	if (ui->baseline && options->screenshot)
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
	annotate_close(ui);
	selection_free(ui->selection);
	baseline_free(ui->baseline);
	free(ui);
}

/* --- what is asked of the profile ------------------------------------------------------------ */

struct profile *ui_profile(const struct ui *ui)
{
	return ui->profile;
}

uint32_t ui_find_proc(const struct profile *p, pid_t pid, uint64_t image)
{
	return query_find_proc(p, pid, image);
}

bool ui_query(const struct ui *ui, const struct profile *p, struct query *q)
{
	*q = (struct query){.span = ui_span(ui),
			    .proc = QUERY_ALL,
			    .hide_kernel = ui->hide_kernel,
			    .hide_user = ui->hide_user,
			    .hide_inline = ui->hide_inline,
			    .baseline = ui->scrub.diff};
	if (ui->zoom.on) {
		q->proc = ui_find_proc(p, ui->zoom.pid, ui->zoom.image);
		if (q->proc == QUERY_ALL)
			return false;
	}
	return !selection_query(ui, p, q, VIEW_BIT(ui->view) & IN_CALLS);
}

static void load_message(struct ui *ui)
{
	uint64_t serial;
	const char *text = query_message(ui->profile, ui->now, MESSAGE_SECONDS * NS_PER_SEC,
					 &ui->message_level, &serial);

	if (text)
		text_clean(ui->message, sizeof(ui->message), text, strlen(text));
	else
		ui->message[0] = '\0';
}

/* What the current view shows, also when it is frozen. */
static int load(struct ui *ui)
{
	struct profile *p = ui_profile(ui);
	int err;

	profile_lock(p);
	if (!ui->frozen)
		header_load(&ui->header, p);
	scrub_load(ui, p);
	if (ui->header.replayed && ui->header.replay.interval)
		ui->interval = (double)ui->header.replay.interval / NS_PER_SEC;
	else if (ui->header.replayed && ui->header.last.elapsed)
		ui->interval = (double)ui->header.last.elapsed / NS_PER_SEC;
	ui_zoom_follow(ui, p);
	err = views[ui->view]->load(ui, p);
	profile_unlock(p);
	return err ? err : views[ui->view]->sort(ui);
}

int ui_refresh(struct ui *ui)
{
	int err;

	profile_lock(ui->profile);
	load_message(ui);
	scrub_wait(ui, ui->profile);
	profile_unlock(ui->profile);
	err = annotate_load(ui);
	return ui->frozen || err ? err : load(ui);
}

int ui_copy(struct ui *ui, struct profile **copy, struct query *q)
{
	struct profile *p = ui_profile(ui);
	int err = 0;

	profile_lock(p);
	if (!ui_query(ui, p, q))
		err = -ENOENT;
	else
		err = profile_copy_new(copy, p, q);
	profile_unlock(p);
	/* Who reads the copy must not look at what was chosen with the lock held. Its slice has
	 * threads, where the sum of all has none. */
	*q = (struct query){.span = SPAN_LAST,
			    .proc = QUERY_ALL,
			    .hide_kernel = q->hide_kernel,
			    .hide_user = q->hide_user,
			    .hide_inline = q->hide_inline};
	return err;
}

/* --- for views ------------------------------------------------------------------------------- */

void ui_notice(struct ui *ui, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(ui->notice, sizeof(ui->notice), format, args);
	va_end(args);
	ui->notice_until = ui->now + NOTICE_SECONDS * NS_PER_SEC;
}

void ui_post(struct ui *ui, enum source_command command, const char *arg)
{
	if (ui->source)
		source_post(ui->source, command, arg);
}

unsigned int ui_go(struct ui *ui, enum ui_view view)
{
	annotate_close(ui);
	ui->view = view;
	return UI_RELOAD;
}

enum ui_view ui_keys(const struct ui *ui)
{
	return ui->annotate ? VIEW_FRAME : ui->view;
}

enum role ui_heat(double share)
{
	return share >= 0.25	? ROLE_HEAT_5
	       : share >= 0.10	? ROLE_HEAT_4
	       : share >= 0.03	? ROLE_HEAT_3
	       : share >= 0.005 ? ROLE_HEAT_2
				: ROLE_HEAT_1;
}

unsigned int ui_apply(struct ui *ui, const char *name)
{
	const struct config *c = &ui->config;

	if (strcmp(name, "refresh") == 0 && c->refresh > 0) {
		timespan_refresh(ui, c->refresh);
	} else if (strcmp(name, "window") == 0 && !ui->frozen) {
		timespan_total(ui, c->total);
	} else if (strcmp(name, "seconds") == 0 && c->seconds) {
		return timespan_window(ui, c->seconds);
	} else if (strcmp(name, "theme") == 0) {
		return UI_REDRAW | UI_THEME;
	} else if (strcmp(name, "ascii") == 0) {
		ui->ascii = c->ascii || !ui->utf8;
	} else if (strcmp(name, "mouse") == 0) {
		ui->no_mouse = c->no_mouse;
	}
	return UI_RELOAD;
}

/* --- drawing --------------------------------------------------------------------------------- */

void ui_draw(struct ui *ui, struct grid *g)
{
	int top, bottom;

	g->ascii = ui->ascii;
	g->view = VIEW_FRAME;
	if (ui->setup.open) {
		setup_draw(ui, g);
		return;
	}
	if (ui->help) {
		int most = help_draw(g, ui->help_top, &ui->header.last, &ui->scrub.kept,
				     &ui->config.keys);

		ui->help_top = ui->help_top > most ? most : ui->help_top;
		ui->help_page = g->rows > 3 ? g->rows - 2 : 1;
		return;
	}
	grid_clear(g);
	top = header_draw(ui, g);
	top += selection_draw(ui, g, top);
	bottom = g->rows >= ROWS_FOR_BOTTOM ? g->rows - 2 : g->rows;
	g->view = ui->view;
	if (ui->annotate)
		annotate_draw(ui, g, top, bottom - top);
	else
		views[ui->view]->draw(ui, g, top, bottom - top);
	g->view = VIEW_FRAME;
	if (bottom < g->rows) {
		/* A view that is given too few rows may not paint over what is below it. */
		grid_blank(g, bottom, 0, g->cols, ROLE_TEXT);
		grid_blank(g, bottom + 1, 0, g->cols, ROLE_TEXT);
		statusbar_message(ui, g, bottom);
		statusbar_footer(ui, g, bottom + 1);
	}
	if (ui->menu.title)
		menu_draw(&ui->menu, g, top);
	if (ui->prompt.question)
		prompt_draw(&ui->prompt, g, g->rows - 1);
}

/* --- keys ------------------------------------------------------------------------------------ */

static unsigned int help_key(struct ui *ui, int key)
{
	switch (keymap_action(&ui->config.keys, key, VIEW_TREE)) {
	case ACTION_UP:
		ui->help_top--;
		break;
	case ACTION_DOWN:
		ui->help_top++;
		break;
	case ACTION_PAGE_UP:
		ui->help_top -= ui->help_page;
		break;
	case ACTION_HALF_UP:
		ui->help_top -= ui->help_page / 2;
		break;
	case ACTION_PAGE_DOWN:
		ui->help_top += ui->help_page;
		break;
	case ACTION_HALF_DOWN:
		ui->help_top += ui->help_page / 2;
		break;
	case ACTION_FIRST:
		ui->help_top = 0;
		break;
	case ACTION_LAST:
		ui->help_top = ACTION_COUNT;
		break;
	default:
		ui->help = false;
	}
	ui->help_top = ui->help_top > 0 ? ui->help_top : 0;
	return UI_REDRAW;
}

static unsigned int menu_key_pressed(struct ui *ui, int key)
{
	enum menu_result result = menu_key(&ui->menu, key);

	if (result == MENU_GOES_ON)
		return UI_REDRAW;
	menu_close(&ui->menu);
	if (result == MENU_CANCELLED)
		return UI_REDRAW;
	if (ui->menu.purpose == ACTION_EVENT)
		return eventmenu_take(ui, ui->menu.items[ui->menu.cursor].text);
	return views[ui->view]->sort_by(ui, ui->menu.items[ui->menu.cursor].value);
}

/* Sees to what can be seen to here; returns the rest. */
static unsigned int settle(struct ui *ui, unsigned int flags)
{
	int err = 0;

	if (flags & UI_RELOAD)
		err = load(ui);
	else if (flags & UI_RESORT)
		err = views[ui->view]->sort(ui);
	if (err)
		ui_notice(ui, "%s", strerror(-err));
	if (flags & (UI_RELOAD | UI_RESORT))
		flags |= UI_REDRAW;
	return flags & ~(unsigned int)(UI_RELOAD | UI_RESORT);
}

unsigned int ui_mouse(struct ui *ui, const struct grid *g, const struct mouse *mouse)
{
	return settle(ui, mouse_act(ui, g, mouse));
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
	} else if (ui->setup.open) {
		flags = setup_key(ui, key);
	} else if (ui->help) {
		flags = help_key(ui, key);
	} else {
		action = keymap_action(&ui->config.keys, key, ui_keys(ui));
		ui->notice[0] = '\0';
		flags = action != ACTION_NONE ? ui_act(ui, action) : explain_key(ui, key);
	}
	return settle(ui, flags);
}
