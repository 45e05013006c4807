// SPDX-License-Identifier: GPL-2.0-or-later
/* What everything on the screen may ask of it. See app/dispatch.c for what it asks of them. */
#include "tui/ui/ui.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/memory.h"
#include "symbols/base/text.h"
#include "tui/profile/board.h"
#include "tui/views/annotate.h"
#include "tui/session/baseline.h"
#include "tui/profile/source.h"
#include "tui/ui/view.h"

#define NS_PER_SEC     1000000000ULL
#define NOTICE_SECONDS 5

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
	struct board_message message;

	ui->message[0] = '\0';
	if (!board_shown(profile_board(ui->profile), ui->now, MESSAGE_SECONDS * NS_PER_SEC,
			 &message))
		return;
	ui->message_level = message.level;
	text_clean(ui->message, sizeof(ui->message), message.text, strlen(message.text));
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
		ui->help_top struct ui *ui)
{
	return ui->views[ui->view];
}

struct profile *ui_profile(const struct ui *ui)
{
	return ui->profile;
}

uint32_t ui_find_proc(const struct profile *p, pid_t pid, uint64_t image)
{
	return query_find_proc(p, pid, image);
}

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
	ui_close_overlay(ui);
	ui->view = view;
	return UI_RELOAD;
}

enum ui_view ui_keys(const struct ui *ui)
{
	return ui->overlay.ops ? VIEW_FRAME : ui->view;
}

enum role ui_heat(double share)
{
	return share >= 0.25	? ROLE_HEAT_5
	       : share >= 0.10	? ROLE_HEAT_4
	       : share >= 0.03	? ROLE_HEAT_3
	       : share >= 0.005 ? ROLE_HEAT_2
				: ROLE_HEAT_1;
}

static void close_overlay(struct ui *ui, struct overlay *overlay)
{
	if (overlay->ops && overlay->ops->close)
		overlay->ops->close(ui);
	*overlay = (struct overlay){0};
}

void ui_close_overlay(struct ui *ui)
{
	close_overlay(ui, &ui->overlay);
}

void ui_close_page(struct ui *ui)
{
	close_overlay(ui, &ui->page);
}

bool ui_waits(const struct ui *ui)
{
	const struct view_ops *view = view_get(ui);

	return (ui->overlay.ops && ui->overlay.ops->waits && ui->overlay.ops->waits(ui)) ||
	       (view->waits && view->waits(ui));
}
