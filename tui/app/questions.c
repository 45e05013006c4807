// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The questions on the last line, and what becomes of the answers. Both are here, since the words
 * of a question say how to answer it.
 */
#include "tui/app/questions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/sampler/event.h"
#include "tui/ui/attach.h"
#include "tui/app/cmdline.h"
#include "tui/app/palette.h"
#include "tui/profile/board.h"
#include "tui/profile/source.h"
#include "tui/profile/units.h"
#include "tui/ui/replay_keys.h"
#include "tui/ui/search.h"
#include "tui/ui/selection.h"
#include "tui/ui/typing.h"
#include "tui/ui/view.h"

#define LEVELS_MAX 1100 /* a user stack on a kernel stack */

/* Why the event at this place of the table cannot be sampled here; NULL: it can, or it is not known
 * yet. */
static const char *event_missing(const struct ui *ui, size_t at)
{
	int err = board_event(profile_board(ui->profile), at);

	return !err ? NULL
	       : err == -ENOENT || err == -EOPNOTSUPP || err == -ENODEV
		       ? "this machine has no such counter"
	       : err == -EPERM || err == -EACCES ? "the kernel does not permit it"
						 : strerror(-err);
}

/* The source answers with a message. */
static unsigned int take_sampled(struct ui *ui, const char *name)
{
	size_t count;
	const struct event *events = event_table(&count), *event = event_find(name);
	const char *why = event ? event_missing(ui, (size_t)(event - events)) : NULL;

	if (ui->header.replayed)
		ui_notice(ui, "this is a recording: its event is fixed");
	else if (why)
		ui_notice(ui, "%s: %s", name, why);
	else
		ui_post(ui, SOURCE_EVENT, name);
	return UI_REDRAW;
}

static unsigned int take_measure(struct ui *ui, enum measure measure)
{
	if (ui->header.replayed && !ui->header.last.waits) {
		ui_notice(ui, "recorded without waits: -e off-cpu -w FILE records them");
		return UI_REDRAW;
	}
	ui->measure = measure;
	if (!ui->header.replayed && !profile_is_time(&ui->header.last))
		ui_post(ui, SOURCE_EVENT, "cpu-clock");
	if (!ui->header.replayed)
		ui_post(ui, SOURCE_WAITS, "1");
	ui_notice(ui, "counts %s",
		  measure == MEASURE_OFF ? "waits of threads, by what they wait for"
					 : "all time of threads, on CPUs and off");
	return UI_RELOAD;
}

static unsigned int take_event(struct ui *ui, const char *name)
{
	for (int measure = MEASURE_OFF; measure < MEASURES_SHOWN; measure++)
		if (strcmp(name, measure_name((enum measure)measure)) == 0)
			return take_measure(ui, (enum measure)measure);
	ui->measure = MEASURE_CPU;
	return take_sampled(ui, name);
}

static unsigned int choose_event(struct ui *ui)
{
	size_t count;
	const struct event *events = event_table(&count);

	if (ui->header.replayed)
		return take_sampled(ui, "");
	menu_open(&ui->menu, ACTION_EVENT, "Sample at");
	for (int measure = MEASURE_OFF; measure < MEASURES_SHOWN; measure++)
		menu_add_told(&ui->menu, measure_name((enum measure)measure), (int)count + measure,
			      ui->measure == (enum measure)measure,
			      measure == MEASURE_OFF ? "why threads wait, and for how long"
						     : "all time of threads, on CPUs and off",
			      NULL);
	for (size_t i = 0; i < count; i++)
		menu_add_told(&ui->menu, events[i].name, (int)i,
			      ui->measure == MEASURE_CPU &&
				      !strcmp(events[i].name, ui->header.last.event),
			      units_find(events[i].name) ? units_find(events[i].name)->good : NULL,
			      event_missing(ui, i));
	return UI_REDRAW;
}

static unsigned int reset(struct ui *ui, const char *text)
{
	if (ui->header.replayed) {
		ui_notice(ui, "this is a recording: its shards cannot be reset");
	} else if (strcmp(text, "all") == 0) {
		ui_post(ui, SOURCE_RESET_SHARDS, "");
		ui_notice(ui, "resetting all shards");
	} else if (text[0] && strlen(text) < 6 && strspn(text, "0123456789") == strlen(text)) {
		ui_post(ui, SOURCE_RESET_SHARD, text);
		ui_notice(ui, "resetting shard %s", text);
	} else if (text[0]) {
		ui_notice(ui, "'%s' is neither a number nor \"all\"; nothing was reset", text);
	}
	return UI_REDRAW;
}

static unsigned int limit(struct ui *ui, const char *text)
{
	char *end;
	double percent = strtod(text, &end);

	if (end == text || *end || !(percent >= 0 && percent <= 100)) {
		ui_notice(ui, "'%s' is not a number from 0 to 100", text);
		return UI_REDRAW;
	}
	ui->limit = percent / 100;
	return UI_RELOAD;
}

static unsigned int depth(struct ui *ui, const char *text)
{
	char *end;
	unsigned long levels = strtoul(text, &end, 10);
	unsigned int flags;

	if (end == text || *end || *text == '-' || !levels || levels > LEVELS_MAX) {
		ui_notice(ui, "'%s' is not a number from 1 to %d", text, LEVELS_MAX);
		return UI_REDRAW;
	}
	ui->levels = (uint32_t)levels;
	flags = ui->overlay.ops ? 0 : view_get(ui)->key(ui, ACTION_TREE_DEPTH);
	if (!flags)
		ui_notice(ui, "only Tree and Callers have levels");
	return flags ? flags : UI_REDRAW;
}

unsigned int questions_answer(struct ui *ui, enum action action, const char *text)
{
	switch (action) {
	case ACTION_COMMAND:
		return cmdline_run(ui, text);
	case ACTION_SEARCH:
		return search_set(ui, text);
	case ACTION_FILTER:
		return selection_filter(ui, text);
	case ACTION_FILTER_USER:
	case ACTION_FILTER_GROUP:
		return selection_filter_column(ui, action, text);
	case ACTION_LIMIT:
		return limit(ui, text);
	case ACTION_TREE_DEPTH:
		return depth(ui, text);
	case ACTION_EVENT:
		return take_event(ui, text);
	case ACTION_ATTACH:
		return attach_take(ui, text);
	case ACTION_RESET:
		return reset(ui, text);
	case ACTION_PICTURE:
		snprintf(ui->picture, sizeof(ui->picture), "%s", text);
		return ui->picture[0] ? UI_REDRAW | UI_PICTURE : UI_REDRAW;
	case ACTION_JUMP:
		return replay_keys_jump(ui, text);
	case ACTION_WRITE:
		snprintf(ui->output, sizeof(ui->output), "%s", text);
		return ui->output[0] ? UI_REDRAW | UI_WRITE : UI_REDRAW;
	default:
		ui_notice(ui, "%s takes no argument",
			  keymap_row(action) ? keymap_row(action)->name : "that");
		return UI_REDRAW;
	}
}

static unsigned int answer(struct ui *ui)
{
	char text[PROMPT_TEXT];
	bool found = typing_found(ui);
	unsigned int flags = typing_keep(ui);

	prompt_history_add(&ui->recall, &ui->prompt);
	/* An answer may ask the next question. */
	snprintf(text, sizeof(text), "%s", ui->prompt.text);
	prompt_close(&ui->prompt);
	return found ? flags : flags | questions_answer(ui, (enum action)ui->prompt.purpose, text);
}

static unsigned int ask(struct ui *ui, enum action action, const char *question, const char *offer)
{
	prompt_open(&ui->prompt, (int)action, question, offer);
	return UI_REDRAW;
}

/* Offers a file of this moment. */
static unsigned int ask_file(struct ui *ui, enum action action, const char *question,
			     const char *name)
{
	char offer[64];

	snprintf(offer, sizeof(offer), "%s-%.8s.svg", name, ui->clock);
	for (char *c = offer; *c; c++)
		if (*c == ':')
			*c = '-';
	return ask(ui, action, question, offer);
}

const char *questions_help(const struct ui *ui)
{
	if (!ui->prompt.question)
		return NULL;
	if (typing_note(ui))
		return typing_note(ui);
	switch ((enum action)ui->prompt.purpose) {
	case ACTION_SEARCH:
		return "word or regex; Enter keeps, Esc goes back; Up: earlier";
	case ACTION_FILTER:
		return "word or regex; !word: without; user:root ...; Up: earlier";
	case ACTION_FILTER_USER:
		return "a user's name or a regex; !name: all other users";
	case ACTION_FILTER_GROUP:
		return "a part of its name, or a regex; !part: all others";
	case ACTION_ATTACH:
		return "PID, name, user:X, cgroup:X, container:X; Tab completes";
	case ACTION_WRITE:
		return "the suffix chooses the format; Esc cancels";
	case ACTION_COMMAND:
		return "Up Down choose, Tab takes it; in an empty line Up: earlier";
	default:
		return NULL;
	}
}

/* step: to an earlier answer (-1) or a later one. */
static unsigned int recall(struct ui *ui, int step)
{
	if (prompt_history_knows(&ui->prompt) &&
	    !prompt_history_step(&ui->recall, &ui->prompt, step))
		ui_notice(ui, step < 0 ? "there is no earlier answer" : "there is no later answer");
	palette_follow(ui, true);
	return UI_REDRAW;
}

unsigned int questions_key(struct ui *ui, int key)
{
	bool command = ui->prompt.purpose == ACTION_COMMAND;
	enum prompt_result result;

	if (command && palette_key(ui, key))
		return UI_REDRAW;
	if (key == KEYCODE_TAB && cmdline_complete(ui))
		return UI_REDRAW;
	result = prompt_key(&ui->prompt, key);
	if (command)
		palette_follow(ui, false);
	switch (result) {
	case PROMPT_DONE:
		return command && !palette_take(ui) ? UI_REDRAW : answer(ui);
	case PROMPT_CANCELLED:
		prompt_close(&ui->prompt);
		return typing_cancel(ui);
	case PROMPT_EARLIER:
		return recall(ui, -1) | typing_follow(ui);
	case PROMPT_LATER:
		return recall(ui, 1) | typing_follow(ui);
	default:
		return typing_follow(ui);
	}
}

static unsigned int open_question(struct ui *ui, enum action action)
{
	char offer[16];

	switch (action) {
	case ACTION_SEARCH:
		return ask(ui, action, "Search:", "");
	case ACTION_FILTER:
		return selection_ask(ui, action);
	case ACTION_FILTER_USER:
	case ACTION_FILTER_GROUP:
		return selection_ask_column(ui, action, NULL);
	case ACTION_LIMIT:
		snprintf(offer, sizeof(offer), "%g", 100 * ui->limit);
		return ask(ui, action, "Hide nodes below this percentage:", offer);
	case ACTION_TREE_DEPTH:
		return ask(ui, action, "Open the tree down to level:", "");
	case ACTION_ATTACH:
		return attach_ask(ui, "");
	case ACTION_EVENT:
		return choose_event(ui);
	case ACTION_RESET:
		return ask(ui, action, "Reset shard (a number, or \"all\"; Esc cancels):", "all");
	case ACTION_WRITE:
		return ask_file(ui, action,
				"Samples to (.svg .pb.gz .json .session ...):", "flame");
	case ACTION_PICTURE:
		return ask_file(ui, action, "Write the screen to (.svg, .ansi, .txt):", "stacktop");
	case ACTION_COMMAND:
		return ask(ui, action, ":", "");
	default:
		return 0;
	}
}

unsigned int questions_ask(struct ui *ui, enum action action)
{
	unsigned int flags = open_question(ui, action);

	typing_begin(ui);
	palette_begin(ui);
	return flags;
}
