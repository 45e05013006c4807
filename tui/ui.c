// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The choices of the person at the screen, and what every key does that is not a view's own
 * business. Knows no terminal, so that tests type keys and compare screens.
 */
#include "tui/ui.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/text.h"
#include "tui/engine.h"
#include "tui/help.h"
#include "tui/options.h"
#include "tui/snapshot.h"
#include "tui/view.h"

#define NS_PER_SEC	1000000000ULL
#define NOTICE_SECONDS	5
#define MESSAGE_SECONDS 8
#define BROKEN_SHARE	0.05
#define ROWS_FOR_BOTTOM 6 /* with less than this the view gets every row */

static const struct view_ops *const views[VIEW_COUNT] = {
	[VIEW_PROCS] = &procs_view,
	[VIEW_FUNCS] = &funcs_view,
	[VIEW_TREE] = &tree_view,
};

static const double intervals[] = {0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60};

#define INTERVALS (sizeof(intervals) / sizeof(intervals[0]))

const struct view_ops *view_get(enum ui_view view)
{
	return views[view];
}

struct ui *ui_new(struct profile *profile, struct engine *engine, const struct options *options)
{
	struct ui *ui = calloc(1, sizeof(*ui));

	if (!ui)
		return NULL;
	ui->profile = profile;
	ui->engine = engine;
	ui->view = VIEW_PROCS;
	ui->weigh = WEIGH_WINDOW;
	ui->interval = options->delay;
	ui->hide_kernel = options->no_kernel;
	ui->hide_user = options->no_user;
	for (int i = VIEW_FRAME + 1; i < VIEW_COUNT; i++) {
		ui->state[i] = views[i]->open();
		if (!ui->state[i]) {
			ui_free(ui);
			return NULL;
		}
	}
	return ui;
}

static void search_clear(struct search *search)
{
	if (search->set)
		regfree(&search->regex);
	search->set = false;
}

void ui_free(struct ui *ui)
{
	if (!ui)
		return;
	for (int i = VIEW_FRAME + 1; i < VIEW_COUNT; i++)
		if (ui->state[i])
			views[i]->close(ui->state[i]);
	search_clear(&ui->search);
	profile_free(ui->frozen);
	free(ui);
}

/* --- what is asked of the profile ---------------------------------------------------------- */

struct profile *ui_profile(const struct ui *ui)
{
	return ui->frozen ? ui->frozen : ui->profile;
}

enum weigh ui_weigh(const struct ui *ui)
{
	return ui->frozen ? WEIGH_TOTAL : ui->weigh;
}

uint32_t ui_find_proc(const struct profile *p, pid_t pid, uint64_t image)
{
	static const enum weigh weighs[] = {WEIGH_WINDOW, WEIGH_TOTAL};
	uint32_t found = QUERY_ALL;

	for (size_t w = 0; w < 2 && found == QUERY_ALL; w++) {
		struct query q = {.weigh = weighs[w], .proc = QUERY_ALL};
		struct proc_row *rows;
		size_t count;

		if (query_procs(p, &q, &rows, &count))
			return QUERY_ALL;
		for (size_t i = 0; i < count; i++) {
			const struct profile_proc *proc = query_proc(p, rows[i].proc);

			if (proc && proc->pid == pid && proc->image == image)
				found = rows[i].proc;
		}
		free(rows);
	}
	return found;
}

bool ui_query(const struct ui *ui, const struct profile *p, struct query *q)
{
	*q = (struct query){ui_weigh(ui), QUERY_ALL, ui->hide_kernel, ui->hide_user};
	if (!ui->zoom.on)
		return true;
	q->proc = ui_find_proc(p, ui->zoom.pid, ui->zoom.image);
	return q->proc != QUERY_ALL;
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

/* What the current view shows, also of a frozen copy. */
static int load(struct ui *ui)
{
	struct profile *p = ui_profile(ui);
	int err;

	profile_lock(p);
	if (!ui->frozen)
		header_load(&ui->header, p);
	err = views[ui->view]->load(ui, p);
	profile_unlock(p);
	return err ? err : views[ui->view]->sort(ui);
}

int ui_refresh(struct ui *ui)
{
	profile_lock(ui->profile);
	load_message(ui);
	profile_unlock(ui->profile);
	return ui->frozen ? 0 : load(ui);
}

/* --- for views ----------------------------------------------------------------------------- */

void ui_notice(struct ui *ui, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(ui->notice, sizeof(ui->notice), format, args);
	va_end(args);
	ui->notice_until = ui->now + NOTICE_SECONDS * NS_PER_SEC;
}

bool ui_matches(const struct ui *ui, const char *text)
{
	return ui->search.set && regexec(&ui->search.regex, text, 0, NULL, 0) == 0;
}

unsigned int ui_go(struct ui *ui, enum ui_view view)
{
	ui->view = view;
	return UI_RELOAD;
}

const char *ui_weighed(const struct ui *ui)
{
	return ui->weigh == WEIGH_WINDOW ? "10 s" : "all since zero";
}

enum role ui_heat(double share)
{
	return share >= 0.25	? ROLE_HEAT_5
	       : share >= 0.10	? ROLE_HEAT_4
	       : share >= 0.03	? ROLE_HEAT_3
	       : share >= 0.005 ? ROLE_HEAT_2
				: ROLE_HEAT_1;
}

void ui_draw_zoom(const struct ui *ui, struct grid *g, int row)
{
	int col = grid_put(g, row, 0, g->cols, ROLE_DIM, " Zoom: ");

	if (!ui->zoom.on) {
		grid_put(g, row, col, g->cols - col, ROLE_TEXT, "all processes");
		return;
	}
	col += grid_printf(g, row, col, g->cols - col, ROLE_TEXT, "all > ");
	col += grid_put(g, row, col, g->cols - col, ROLE_TITLE, ui->zoom.name);
	grid_put(g, row, col, g->cols - col, ROLE_DIM, "   Esc goes one level out");
}

/* --- drawing ------------------------------------------------------------------------------- */

static void draw_footer(const struct ui *ui, struct grid *g, int row)
{
	size_t count;
	const struct key_row *keys = keys_table(&count);
	int col = 1;

	/* In the order of the function keys, whatever that of the table is. */
	for (int f = 1; f <= 12; f++) {
		for (size_t i = 0; i < count; i++) {
			const char *key = keys[i].keys;
			size_t length = strcspn(key, " ");
			const char *label = keys[i].label;

			if (!label[0] || !(keys[i].views & VIEW_BIT(ui->view)) ||
			    keys_parse(key, length) != KEYCODE_F0 + f)
				continue;
			if (keys[i].action == ACTION_FREEZE && ui->frozen)
				label = "Resume";
			col += grid_printf(g, row, col, g->cols - col, ROLE_BAR_KEY, "%.*s",
					   (int)length, key);
			col += grid_put(g, row, col, g->cols - col, ROLE_BAR_TEXT, label);
			col += grid_put(g, row, col, g->cols - col, ROLE_TEXT, " ");
		}
	}
}

static double broken_share(const struct ui *ui)
{
	const struct profile_health *sum = &ui->header.sum;

	if (!sum->user_walks)
		return 0;
	return 1 - (double)sum->complete_walks / (double)sum->user_walks;
}

/* The most pressing of what there is to say. */
static void draw_message(const struct ui *ui, struct grid *g, int row)
{
	static const enum role roles[] = {ROLE_TEXT, ROLE_WARN, ROLE_ERROR};
	char text[512];

	if (ui->notice[0] && ui->now < ui->notice_until) {
		grid_fit(g, row, 1, g->cols - 1, ROLE_TITLE, ui->notice);
	} else if (ui->message[0]) {
		snprintf(text, sizeof(text), "%s%s", ui->message_level == MESSAGE_INFO ? "" : "! ",
			 ui->message);
		grid_fit(g, row, 1, g->cols - 1, roles[ui->message_level], text);
	} else if (header_loss(&ui->header, text, sizeof(text))) {
		grid_put(g, row, 1, 2, ROLE_WARN, "! ");
		grid_fit(g, row, 3, g->cols - 3, ROLE_WARN, text);
	} else if (ui->frozen) {
		grid_fit(g, row, 1, g->cols - 1, ROLE_PAUSED,
			 "FROZEN: the view stands still, sampling goes on. z resumes");
	} else if (broken_share(ui) > BROKEN_SHARE) {
		snprintf(
			text, sizeof(text),
			"! %.0f%% of user stacks are not complete; their first frame in Tree says why",
			100 * broken_share(ui));
		grid_fit(g, row, 1, g->cols - 1, ROLE_WARN, text);
	} else {
		grid_fit(
			g, row, 1, g->cols - 1, ROLE_DIM,
			"marks: > cursor  + attached  ! broken stacks  z exited  k/u kernel, user");
	}
}

void ui_draw(struct ui *ui, struct grid *g)
{
	int top, bottom;

	g->ascii = ui->ascii;
	g->view = VIEW_FRAME;
	if (ui->help) {
		int most = help_draw(g, ui->help_top);

		ui->help_top = ui->help_top > most ? most : ui->help_top;
		return;
	}
	grid_clear(g);
	top = header_draw(ui, g);
	bottom = g->rows >= ROWS_FOR_BOTTOM ? g->rows - 2 : g->rows;
	g->view = ui->view;
	views[ui->view]->draw(ui, g, top, bottom - top);
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
}

/* --- keys ---------------------------------------------------------------------------------- */

static void post(struct ui *ui, enum engine_command command, const char *arg)
{
	if (ui->engine)
		engine_post(ui->engine, command, arg);
}

static unsigned int freeze(struct ui *ui)
{
	int err;

	if (ui->frozen) {
		profile_free(ui->frozen);
		ui->frozen = NULL;
		return UI_RELOAD;
	}
	profile_lock(ui->profile);
	header_load(&ui->header, ui->profile);
	/* The copy has no history; Procs shows that of this moment. */
	err = procs_view.load(ui, ui->profile);
	if (!err)
		err = snapshot_take(&ui->frozen, ui->profile, ui->weigh);
	profile_unlock(ui->profile);
	if (!err)
		err = procs_view.sort(ui);
	if (err)
		ui_notice(ui, "not frozen: %s", strerror(-err));
	return UI_REDRAW;
}

static unsigned int zero(struct ui *ui)
{
	profile_lock(ui->profile);
	profile_zero(ui->profile);
	profile_unlock(ui->profile);
	ui_notice(ui, ui->frozen ? "counts are zero; the frozen view keeps what it has"
				 : "counts are zero");
	return UI_RELOAD;
}

static unsigned int weigh(struct ui *ui)
{
	if (ui->frozen) {
		ui_notice(ui, "the view is frozen: z resumes first");
		return UI_REDRAW;
	}
	ui->weigh = ui->weigh == WEIGH_WINDOW ? WEIGH_TOTAL : WEIGH_WINDOW;
	ui_notice(ui, ui->weigh == WEIGH_WINDOW ? "weighs the last 10 seconds"
						: "weighs all since the counts were zero");
	return UI_RELOAD;
}

static unsigned int pace(struct ui *ui, int step)
{
	size_t i = 0;
	char arg[32];

	while (i + 1 < INTERVALS && intervals[i] < ui->interval - 0.001)
		i++;
	if (step > 0 && i + 1 < INTERVALS && intervals[i] < ui->interval + 0.001)
		i++;
	else if (step < 0 && i > 0)
		i--;
	ui->interval = intervals[i];
	snprintf(arg, sizeof(arg), "%.1f", ui->interval);
	post(ui, ENGINE_INTERVAL, arg);
	ui_notice(ui, "refresh every %s s", arg);
	return UI_REDRAW;
}

static unsigned int toggle(struct ui *ui, bool *flag, const char *what)
{
	*flag = !*flag;
	ui_notice(ui, "%s %s", what, *flag ? "hidden" : "shown");
	return UI_RELOAD;
}

static unsigned int find(struct ui *ui, int step, bool here)
{
	unsigned int flags;

	if (!ui->search.set) {
		ui_notice(ui, "nothing to search for: / asks");
		return UI_REDRAW;
	}
	flags = views[ui->view]->find(ui, step, here);
	if (!flags)
		ui_notice(ui, "not found: %s", ui->search.pattern);
	return flags ? flags : UI_REDRAW;
}

static unsigned int search(struct ui *ui, const char *pattern)
{
	int err;

	search_clear(&ui->search);
	if (!pattern[0])
		return UI_REDRAW;
	err = regcomp(&ui->search.regex, pattern, REG_EXTENDED | REG_ICASE | REG_NOSUB);
	if (err) {
		char text[128];

		regerror(err, &ui->search.regex, text, sizeof(text));
		ui_notice(ui, "%s: %s", pattern, text);
		return UI_REDRAW;
	}
	ui->search.set = true;
	snprintf(ui->search.pattern, sizeof(ui->search.pattern), "%s", pattern);
	return find(ui, 1, true);
}

static unsigned int attach(struct ui *ui, const char *text)
{
	if (!text[0]) {
		post(ui, ENGINE_DETACH_ALL, "");
		ui_notice(ui, "the whole machine is sampled");
	} else if (text[0] == '-') {
		post(ui, ENGINE_DETACH, text + 1);
		ui_notice(ui, "detaches %s", text + 1);
	} else {
		post(ui, ENGINE_ATTACH, text);
		ui_notice(ui, "attaches %s", text);
	}
	return UI_REDRAW;
}

static unsigned int reset(struct ui *ui, const char *text)
{
	if (strcmp(text, "all") == 0) {
		post(ui, ENGINE_RESET_SHARDS, "");
		ui_notice(ui, "resets all shards");
	} else if (text[0] && strlen(text) < 6 && strspn(text, "0123456789") == strlen(text)) {
		post(ui, ENGINE_RESET_SHARD, text);
		ui_notice(ui, "resets shard %s", text);
	} else if (text[0]) {
		ui_notice(ui, "'%s' is neither a number nor \"all\"; nothing was reset", text);
	}
	return UI_REDRAW;
}

static unsigned int answer(struct ui *ui)
{
	prompt_close(&ui->prompt);
	switch (ui->prompt.purpose) {
	case ACTION_SEARCH:
		return search(ui, ui->prompt.text);
	case ACTION_ATTACH:
		return attach(ui, ui->prompt.text);
	case ACTION_RESET:
		return reset(ui, ui->prompt.text);
	default:
		return UI_REDRAW;
	}
}

static unsigned int ask(struct ui *ui, enum action action, const char *question, const char *offer)
{
	prompt_open(&ui->prompt, (int)action, question, offer);
	return UI_REDRAW;
}

static unsigned int sort_menu(struct ui *ui)
{
	int count, sorted;
	const struct column *columns = views[ui->view]->columns(&count, ui, &sorted);

	menu_open(&ui->menu, "Sort by");
	for (int i = 0; i < count; i++)
		if (columns[i].sortable)
			menu_add(&ui->menu, columns[i].name, i, i == sorted);
	return UI_REDRAW;
}

static unsigned int sort_step(struct ui *ui, int step)
{
	int count, sorted;
	const struct column *columns = views[ui->view]->columns(&count, ui, &sorted);

	return views[ui->view]->sort_by(ui, columns_next(columns, count, sorted, step));
}

static unsigned int ascii(struct ui *ui)
{
	if (ui->ascii && !ui->utf8)
		ui_notice(ui, "this terminal's locale is not UTF-8");
	else
		ui->ascii = !ui->ascii;
	return UI_REDRAW;
}

static enum ui_view step_view(enum ui_view view, int step)
{
	int n = VIEW_COUNT - 1;

	return (enum ui_view)((int)view - 1 + step + n) % n + 1;
}

/* Actions that are the same in every view; the rest is the view's. */
static unsigned int act(struct ui *ui, enum action action)
{
	switch (action) {
	case ACTION_NEXT_VIEW:
		return ui_go(ui, step_view(ui->view, 1));
	case ACTION_PREV_VIEW:
		return ui_go(ui, step_view(ui->view, -1));
	case ACTION_VIEW_1:
		return ui_go(ui, VIEW_PROCS);
	case ACTION_VIEW_2:
		return ui_go(ui, VIEW_FUNCS);
	case ACTION_VIEW_3:
		return ui_go(ui, VIEW_TREE);
	case ACTION_SEARCH:
		return ask(ui, action, "Search:", "");
	case ACTION_SEARCH_NEXT:
		return find(ui, 1, false);
	case ACTION_SEARCH_PREV:
		return find(ui, -1, false);
	case ACTION_SORT:
		return sort_menu(ui);
	case ACTION_SORT_LEFT:
		return sort_step(ui, -1);
	case ACTION_SORT_RIGHT:
		return sort_step(ui, 1);
	case ACTION_FREEZE:
		return freeze(ui);
	case ACTION_ZERO:
		return zero(ui);
	case ACTION_WEIGH:
		return weigh(ui);
	case ACTION_KERNEL:
		return toggle(ui, &ui->hide_kernel, "kernel frames");
	case ACTION_USER:
		return toggle(ui, &ui->hide_user, "user frames");
	case ACTION_MODULES:
		return toggle(ui, &ui->hide_modules, "names of modules");
	case ACTION_RESET:
		return ask(ui, action,
			   "Reset shard (a number, or \"all\"; Esc leaves them):", "all");
	case ACTION_SLOWER:
		return pace(ui, 1);
	case ACTION_FASTER:
		return pace(ui, -1);
	case ACTION_ASCII:
		return ascii(ui);
	case ACTION_REDRAW:
		return UI_REDRAW | UI_REPAINT;
	case ACTION_HELP:
		ui->help = true;
		ui->help_top = 0;
		return UI_REDRAW;
	case ACTION_QUIT:
		return UI_QUIT;
	default:
		break;
	}
	return 0;
}

static unsigned int help_key(struct ui *ui, int key)
{
	switch (keys_action(key, VIEW_TREE)) {
	case ACTION_UP:
		ui->help_top -= ui->help_top > 0;
		break;
	case ACTION_DOWN:
		ui->help_top++;
		break;
	case ACTION_PAGE_UP:
	case ACTION_HALF_UP:
		ui->help_top = ui->help_top > 10 ? ui->help_top - 10 : 0;
		break;
	case ACTION_PAGE_DOWN:
	case ACTION_HALF_DOWN:
		ui->help_top += 10;
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
	return views[ui->view]->sort_by(ui, ui->menu.items[ui->menu.cursor].value);
}

static unsigned int prompt_key_pressed(struct ui *ui, int key)
{
	switch (prompt_key(&ui->prompt, key)) {
	case PROMPT_DONE:
		return answer(ui);
	case PROMPT_CANCELLED:
		prompt_close(&ui->prompt);
		return UI_REDRAW;
	default:
		return UI_REDRAW;
	}
}

unsigned int ui_key(struct ui *ui, int key)
{
	unsigned int flags;
	enum action action;
	int err = 0;

	if (ui->prompt.question) {
		flags = prompt_key_pressed(ui, key);
	} else if (ui->menu.title) {
		flags = menu_key_pressed(ui, key);
	} else if (ui->help) {
		flags = help_key(ui, key);
	} else {
		action = keys_action(key, ui->view);
		ui->notice[0] = '\0';
		flags = act(ui, action);
		if (!flags && action != ACTION_NONE)
			flags = views[ui->view]->key(ui, action);
		if (!flags && action == ACTION_ATTACH)
			flags = ask(ui, action,
				    "Attach (PID or name; -X detaches; empty: all):", "");
	}
	if (flags & UI_RELOAD)
		err = load(ui);
	else if (flags & UI_RESORT)
		err = views[ui->view]->sort(ui);
	if (err)
		ui_notice(ui, "%s", strerror(-err));
	if (flags & (UI_RELOAD | UI_RESORT))
		flags |= UI_REDRAW;
	return flags & (UI_REDRAW | UI_REPAINT | UI_QUIT);
}
