// SPDX-License-Identifier: GPL-2.0-or-later
/* What a key does that is not a view's own, and in which order actions, overlay and view get it. */
#include "tui/app/actions.h"

#include <stddef.h>
#include <string.h>

#include "tui/views/annotate.h"
#include "tui/views/butterfly.h"
#include "tui/screen/keymap.h"
#include "tui/ui/attach.h"
#include "tui/ui/bycpu.h"
#include "tui/ui/chips.h"
#include "tui/ui/names.h"
#include "tui/screen/columns.h"
#include "tui/profile/source.h"
#include "tui/ui/replay_keys.h"
#include "tui/app/help.h"
#include "tui/app/questions.h"
#include "tui/app/setup.h"
#include "tui/ui/search.h"
#include "tui/ui/selection.h"
#include "tui/ui/timespan.h"
#include "tui/ui/view.h"
#include "tui/ui/scrub.h"

static unsigned int toggle(struct ui *ui, bool *flag, const char *what)
{
	*flag = !*flag;
	ui_notice(ui, "%s %s", what, *flag ? "hidden" : "shown");
	return UI_RELOAD;
}

static unsigned int frames(struct ui *ui)
{
	static const char *const words[FRAMES_MODES] = {
		[FRAMES_MERGED] = "interpreters give way to the frames that they run",
		[FRAMES_ALL] = "all frames are shown, interpreters as well",
		[FRAMES_LANGUAGE] = "of stacks with frames of a language only those are shown"};

	ui->frames = (enum frames_mode)((ui->frames + 1) % FRAMES_MODES);
	ui->config.frames = ui->frames;
	ui_notice(ui, "%s; :save keeps it", words[ui->frames]);
	return UI_RELOAD;
}

/* From samples to waits, to both, and back. */
static unsigned int measure(struct ui *ui)
{
	static const char *const words[MEASURES_SHOWN] = {
		[MEASURE_CPU] =
			"counts time on CPUs; waits are still collected: :stop-waits ends that",
		[MEASURE_OFF] = "counts waits of threads, by what they wait for",
		[MEASURE_WALL] = "counts all time of threads, on CPUs and off",
	};

	ui->measure = (enum measure)((ui->measure + 1) % MEASURES_SHOWN);
	if (ui->measure != MEASURE_CPU && !ui->header.last.waits) {
		if (ui->header.replayed) {
			ui->measure = MEASURE_CPU;
			ui_notice(ui, "recorded without waits: -e off-cpu -w FILE records them");
			return UI_REDRAW;
		}
		if (!profile_is_time(&ui->header.last)) {
			ui->measure = MEASURE_CPU;
			ui_notice(ui, "waits are time: F7 chooses an event that is time as well");
			return UI_REDRAW;
		}
		ui_post(ui, SOURCE_WAITS, "1");
	}
	ui_notice(ui, "%s", words[ui->measure]);
	return UI_RELOAD;
}

static unsigned int threads(struct ui *ui)
{
	if (!ui->threads && !ui_knows_threads(ui))
		return UI_REDRAW;
	ui->threads = !ui->threads;
	ui->grouping = GROUP_NONE;
	ui_notice(ui, ui->threads ? "each thread has a row in Procs: T zooms into one"
				  : "threads are counted with their process");
	return UI_RELOAD;
}

static unsigned int sort_menu(struct ui *ui)
{
	int count, sorted;
	const struct column *columns = view_get(ui)->columns(&count, ui, &sorted);

	menu_open(&ui->menu, ACTION_SORT, "Sort by");
	for (int i = 0; i < count; i++)
		if (columns[i].sortable)
			menu_add(&ui->menu, columns[i].name, i, i == sorted);
	return UI_REDRAW;
}

static unsigned int sort_step(struct ui *ui, int step)
{
	int count, sorted, next;
	const struct column *columns = view_get(ui)->columns(&count, ui, &sorted);

	next = columns_next(columns, count, sorted, step);
	/* Not each has room on the screen. */
	ui_notice(ui, "sorted by %s", columns[next].name);
	return view_get(ui)->sort_by(ui, next);
}

enum ui_view actions_cycled(const struct ui *ui)
{
	return ui->view == VIEW_TREE	  ? VIEW_CALLERS
	       : ui->view == VIEW_CALLERS ? VIEW_FLAME
					  : VIEW_TREE;
}

static enum ui_view step_view(enum ui_view view, int step)
{
	int n = VIEW_COUNT - 1;

	return (enum ui_view)((int)view - 1 + step + n) % n + 1;
}

/* To another view, 0 when the action is none of these. */
static unsigned int act_view(struct ui *ui, enum action action)
{
	switch (action) {
	case ACTION_NEXT_VIEW:
		return ui_go(ui, step_view(ui->view, 1));
	case ACTION_PREV_VIEW:
		return ui_go(ui, step_view(ui->view, -1));
	case ACTION_VIEW_1:
	case ACTION_VIEW_2:
	case ACTION_VIEW_3:
	case ACTION_VIEW_4:
	case ACTION_VIEW_5:
	case ACTION_VIEW_6:
	case ACTION_VIEW_7:
	case ACTION_VIEW_8:
		return ui_go(ui, (enum ui_view)(VIEW_PROCS + (action - ACTION_VIEW_1)));
	case ACTION_CYCLE:
		return ui_go(ui, actions_cycled(ui));
	default:
		return 0;
	}
}

/* Changes what is shown, or how; 0 when the action does neither. */
static unsigned int act_show(struct ui *ui, enum action action)
{
	switch (action) {
	case ACTION_SORT:
		return sort_menu(ui);
	case ACTION_SORT_LEFT:
		return sort_step(ui, -1);
	case ACTION_SORT_RIGHT:
		return sort_step(ui, 1);
	case ACTION_ZERO:
		return timespan_zero(ui);
	case ACTION_WEIGH:
		return timespan_weigh(ui);
	case ACTION_SLOWER:
		return timespan_pace(ui, 1);
	case ACTION_FASTER:
		return timespan_pace(ui, -1);
	case ACTION_KERNEL:
		return toggle(ui, &ui->hide_kernel, "kernel frames");
	case ACTION_USER:
		return toggle(ui, &ui->hide_user, "user frames");
	case ACTION_INLINE:
		return toggle(ui, &ui->hide_inline, "inlined calls");
	case ACTION_FRAMES:
		return frames(ui);
	case ACTION_MODULES:
		return toggle(ui, &ui->hide_modules, "names of modules");
	case ACTION_MEASURE:
		return measure(ui);
	case ACTION_THREADS:
		return threads(ui);
	case ACTION_BY_CPU:
		return bycpu_toggle(ui);
	case ACTION_ASCII:
		if (ui->ascii && !ui->utf8)
			ui_notice(ui, "this terminal's locale is not UTF-8");
		else
			ui->ascii = !ui->ascii;
		return UI_REDRAW;
	case ACTION_MOUSE:
		ui->no_mouse = !ui->no_mouse;
		ui_notice(ui, "%s",
			  ui->no_mouse ? "the terminal has the mouse, to select text"
				       : "stacktop has the mouse");
		return UI_REDRAW;
	default:
		return 0;
	}
}

static const struct profile_func *func_under_cursor(const struct ui *ui)
{
	const struct view_ops *view = view_get(ui);

	if (ui->overlay.ops)
		return overlay_function(ui);
	return view->function ? view->function(ui) : NULL;
}

static void zoom_to(struct ui *ui, pid_t pid, uint64_t image)
{
	struct profile *p = ui_profile(ui);
	const struct profile_proc *found;
	struct profile_proc proc;

	profile_lock(p);
	found = query_proc(p, query_find_proc(p, pid, image));
	if (found)
		proc = *found;
	profile_unlock(p);
	if (found)
		ui_zoom(ui, &proc);
}

/* Who ended the waits of what is under the cursor: of the process, or in the function. */
static unsigned int wakers(struct ui *ui)
{
	const struct profile_func *func = ui->view == VIEW_PROCS ? NULL : func_under_cursor(ui);
	pid_t pid = 0;
	uint64_t image = 0;
	char name[512], quoted[1024], text[PROMPT_TEXT];
	unsigned int flags = UI_RELOAD;

	if (!ui->header.last.waits && !ui->header.replayed)
		ui_post(ui, SOURCE_WAITS, "1");
	if (ui->view == VIEW_PROCS) {
		procs_under_cursor(ui, &pid, &image);
		zoom_to(ui, pid, image);
	} else if (func && !func_is_wait(func->kind)) {
		names_show(func, name, sizeof(name));
		search_quote(quoted, sizeof(quoted), name);
		snprintf(text, sizeof(text), "func:%.240s", quoted);
		flags = selection_filter(ui, text);
	}
	return flags | ui_go(ui, VIEW_WAITS);
}

/* What is under the cursor, for other programs; 0: nothing is. */
static unsigned int copy(struct ui *ui)
{
	const struct view_ops *view = view_get(ui);
	const struct profile_func *func = func_under_cursor(ui);

	ui->copied[0] = '\0';
	if (view->copy && !ui->overlay.ops)
		view->copy(ui, ui->copied, sizeof(ui->copied));
	else if (func)
		names_show(func, ui->copied, sizeof(ui->copied));
	if (!ui->copied[0])
		return 0;
	ui_notice(ui, "copied %s", ui->copied);
	return UI_REDRAW | UI_COPY;
}

/* Until the next key: long names take a while to read. */
static unsigned int whole_name(struct ui *ui)
{
	const struct profile_func *func = func_under_cursor(ui);
	char name[1100];

	if (!func)
		return 0;
	names_show(func, name, sizeof(name));
	ui_notice(ui, "%s%s%s", name, func->module[0] ? "  " : "", func->module);
	ui->notice_name = true;
	ui->notice_until = UINT64_MAX;
	return UI_REDRAW;
}

/* Actions that are the same in every view; the rest is the view's. */
static unsigned int act(struct ui *ui, enum action action)
{
	unsigned int flags = act_view(ui, action);

	if (!flags)
		flags = act_show(ui, action);
	if (flags)
		return flags;
	switch (action) {
	case ACTION_SEARCH:
	case ACTION_FILTER:
	case ACTION_LIMIT:
	case ACTION_TREE_DEPTH:
	case ACTION_WRITE:
	case ACTION_PICTURE:
	case ACTION_COMMAND:
	case ACTION_EVENT:
		return questions_ask(ui, action);
	case ACTION_SEARCH_NEXT:
		return search_step(ui, 1, false);
	case ACTION_SEARCH_PREV:
		return search_step(ui, -1, false);
	case ACTION_COPY:
		return copy(ui);
	case ACTION_WAKERS:
		return wakers(ui);
	case ACTION_WHOLE_NAME:
		return whole_name(ui);
	case ACTION_UNTAG:
		return selection_untag(ui);
	case ACTION_BACK:
		return selection_back(ui);
	case ACTION_TAKE_BACK:
		return chips_take_last(ui);
	case ACTION_GIVE_UP:
		ui_post(ui, SOURCE_GIVE_UP, "");
		return UI_REDRAW;
	case ACTION_REDRAW:
		return UI_REDRAW | UI_REPAINT;
	case ACTION_SETUP:
		return setup_open(ui);
	case ACTION_HELP:
		return help_open(ui);
	case ACTION_QUIT:
		return UI_QUIT;
	default:
		return scrub_act(ui, action);
	}
}

/* The function under the cursor. */
static unsigned int annotate(struct ui *ui)
{
	const struct profile_func *func = func_under_cursor(ui);
	pid_t pid = ui->zoom.on ? ui->zoom.pid : 0;
	uint64_t image = ui->zoom.image;

	if (ui->view == VIEW_PROCS)
		procs_under_cursor(ui, &pid, &image);
	else if (!ui->zoom.on && view_get(ui)->process)
		view_get(ui)->process(ui, &pid, &image);
	return func ? annotate_open(ui, func, pid, image) : 0;
}

static unsigned int butterfly(struct ui *ui)
{
	const struct profile_func *func = func_under_cursor(ui);

	return func ? butterfly_open(ui, func, ui->view == VIEW_PROCS) : 0;
}

/* What no view had a use for. */
static unsigned int act_last(struct ui *ui, enum action action)
{
	uint64_t image;
	pid_t pid;

	switch (action) {
	case ACTION_ANNOTATE:
	case ACTION_CODE:
		return annotate(ui);
	case ACTION_BUTTERFLY:
		return butterfly(ui);
	case ACTION_INSPECT:
		/* Where no process is under the cursor, that which is zoomed into. */
		if (ui->zoom.on)
			return unwind_inspect(ui, ui->zoom.pid, 0);
		if (view_get(ui)->process && view_get(ui)->process(ui, &pid, &image))
			return unwind_inspect(ui, pid, 0);
		ui_notice(ui, "the walk of which process? Press i on one in Procs");
		return UI_REDRAW;
	case ACTION_ATTACH:
	case ACTION_RESET:
	case ACTION_FILTER_USER:
	case ACTION_FILTER_GROUP:
		return questions_ask(ui, action);
	default:
		return 0;
	}
}

/* --- keys that do nothing -------------------------------------------------------------------- */

/* A key that does nothing looks like one that does not work, unless a reason is given. */
static const struct {
	enum action action;
	unsigned int views;
	const char *why;
} dead[] = {
	{ACTION_PLAY, IN_ALL, "nothing is replayed: stacktop -r FILE shows a recording"},
	{ACTION_JUMP, IN_ALL, "nothing is replayed: stacktop -r FILE shows a recording"},
	{ACTION_ANNOTATE, IN_UNWIND,
	 "only a function has code: Enter goes to places, i catches a walk"},
	{ACTION_CFI, IN_UNWIND, "only a frame of a walk has CFI: i catches a walk"},
	{ACTION_ANNOTATE, IN_FRAMES, "there is no function under the cursor"},
	{ACTION_CODE, IN_ALL, "there is no function under the cursor"},
	{ACTION_BUTTERFLY, IN_ALL, "there is no function under the cursor"},
	{ACTION_ZOOM_MODULE, IN_NAMES, "there is no function under the cursor"},
	{ACTION_WHOLE_NAME, IN_NAMES, "there is no function under the cursor"},
	{ACTION_HOTTEST_LEAF, IN_CALLS, "there are no stacks yet"},
	{ACTION_COPY, IN_FRAMES, "there is nothing under the cursor"},
	{ACTION_SAME_NAME, IN_FRAMES, "there is nothing under the cursor"},
	{ACTION_ZOOM, IN_PROCS, "there is no process under the cursor"},
	{ACTION_TAG, IN_PROCS, "there is no process under the cursor"},
	{ACTION_TAG_PLAY, IN_PROCS, "there is no process under the cursor"},
};

static unsigned int explain(struct ui *ui, enum action action)
{
	for (size_t i = 0; i < sizeof(dead) / sizeof(dead[0]); i++)
		if (dead[i].action == action && dead[i].views & VIEW_BIT(ui_keys(ui))) {
			ui_notice(ui, "%s", dead[i].why);
			return UI_REDRAW;
		}
	return 0;
}

/* Moves a cursor. */
static bool moves(enum action action)
{
	return (action >= ACTION_UP && action <= ACTION_LAST) ||
	       (action >= ACTION_TREE_OUT && action <= ACTION_FLAME_RIGHT) ||
	       action == ACTION_FLAME_ZOOM;
}

static unsigned int key(struct ui *ui, enum action action)
{
	unsigned int flags;

	if (ui->overlay.ops)
		return ui->overlay.ops->key(ui, (int)action);
	flags = view_get(ui)->key(ui, action);
	if (flags && moves(action))
		chosen_moved(ui);
	return flags;
}

unsigned int actions_do(struct ui *ui, enum action action)
{
	const struct key_row *row = keymap_row(action);
	unsigned int flags;

	if (!row || !(row->views & VIEW_BIT(ui_keys(ui))))
		return 0;
	ui->notice[0] = '\0';
	attach_forget(ui);
	if (action == ACTION_FOLLOW) {
		ui->follow = !ui->follow;
		ui_notice(ui, ui->follow ? "the cursor stays on its row, also through exec"
					 : "the cursor stays in its place");
	}
	flags = ui->header.replayed && !scrub_moves(ui, action) ? replay_keys_act(ui, action) : 0;
	if (!flags)
		flags = act(ui, action);
	if (!flags)
		flags = key(ui, action);
	if (!flags)
		flags = act_last(ui, action);
	return flags ? flags : explain(ui, action);
}

unsigned int actions_explain(struct ui *ui, int key)
{
	const struct key_row *row = NULL;
	char views[96];
	bool most;

	for (int i = 1; i <= VIEW_KEYS_COUNT && !row; i++) {
		enum ui_view view = (enum ui_view)(i % VIEW_KEYS_COUNT); /* code is the last one */

		row = keymap_row(keymap_action(&ui->config.keys, key, view));
	}
	if (!row)
		return 0;
	keys_views(row, views, sizeof(views));
	most = strncmp(views, "not ", 4) == 0;
	ui_notice(ui, "%s in %s: %s", most ? "not" : "only", views + (most ? 4 : 0), row->help);
	return UI_REDRAW;
}
