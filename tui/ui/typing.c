// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See typing.h. Each key begins with the cursor where it was before the question, so that a letter
 * taken back takes its step back, too.
 */
#include "tui/ui/typing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/ui/selection.h"
#include "tui/ui/ui.h"
#include "tui/ui/view.h"

#define KEY_MS	   10  /* of the 16 that a key may take, drawing included */
#define REFRESH_MS 250 /* when a person has waited for it, and once a second */
#define OPENED_MAX 4096

struct typing {
	bool on;
	bool there;		  /* the cursor is on what is searched */
	bool wrong;		  /* what is typed is no expression */
	char seen[PROMPT_TEXT];	  /* what was followed last */
	char before[PROMPT_TEXT]; /* the search or filter in force when the question was asked */
	char valid[PROMPT_TEXT];  /* the last filter that could be shown */
	struct view_place place;
	uint64_t opened[OPENED_MAX]; /* nodes, by path; place.more refers to it in a tree */
	char note[PROMPT_TEXT + 160];
};

struct typing *typing_new(void)
{
	return calloc(1, sizeof(struct typing));
}

static void forget(struct typing *t)
{
	if (t->place.more != t->opened)
		free(t->place.more);
	t->place = (struct view_place){0};
	t->on = false;
	t->wrong = t->there = false;
	t->note[0] = '\0';
}

void typing_free(struct typing *t)
{
	if (!t)
		return;
	forget(t);
	free(t);
}

static bool is_search(const struct ui *ui)
{
	return ui->prompt.purpose == ACTION_SEARCH;
}

static unsigned int place(struct ui *ui, bool back)
{
	struct view_place *place = &ui->typing->place;

	if (ui->overlay.ops)
		return ui->overlay.ops->place ? ui->overlay.ops->place(ui, place, back) : 0;
	return view_get(ui)->place ? view_get(ui)->place(ui, place, back) : 0;
}

void typing_begin(struct ui *ui)
{
	struct typing *t = ui->typing;

	forget(t);
	if (!is_search(ui) && ui->prompt.purpose != ACTION_FILTER)
		return;
	t->on = true;
	snprintf(t->before, sizeof(t->before), "%s",
		 is_search(ui)		     ? ui->search.set ? ui->search.pattern : ""
		 : ui->selection->filter.set ? ui->selection->filter.text
					     : "");
	snprintf(t->valid, sizeof(t->valid), "%s", t->before);
	snprintf(t->seen, sizeof(t->seen), "%s", ui->prompt.text);
	place(ui, false);
	if (!t->place.more && !ui->overlay.ops)
		t->place.more = t->opened;
}

void typing_opens(struct ui *ui, uint64_t path)
{
	struct typing *t = ui->typing;

	if (t->on && t->place.more == t->opened && t->place.id[1] < OPENED_MAX)
		t->opened[t->place.id[1]++] = path;
}

void typing_unfolds(struct ui *ui, uint64_t path)
{
	if (ui->typing->on && ui->typing->place.more == ui->typing->opened)
		ui->typing->place.id[2] = path;
}

/* --- a search -------------------------------------------------------------------------------- */

static unsigned int follow_search(struct ui *ui)
{
	struct typing *t = ui->typing;
	unsigned int flags, found;
	char why[96];

	if (!search_take(ui, ui->prompt.text, why, sizeof(why))) {
		snprintf(t->note, sizeof(t->note), "not valid yet, so the last one stays: %s", why);
		t->wrong = true;
		return UI_REDRAW;
	}
	flags = place(ui, true);
	if (!ui->search.set)
		return flags | UI_RELOAD;
	/* The rows may have moved since the question was asked. */
	if (!ui->overlay.ops && view_get(ui)->sort(ui))
		return flags | UI_REDRAW;
	typing_watch(ui);
	found = ui->overlay.ops ? ui->overlay.ops->find(ui, 1, true)
				: view_get(ui)->find(ui, 1, true);
	if (!found && ui->watch.late)
		snprintf(t->note, sizeof(t->note), "this takes longer than a key: Enter searches");
	else if (!found)
		snprintf(t->note, sizeof(t->note), "not found: the cursor is where it was");
	t->there = found;
	return (found ? found : flags) | UI_REDRAW;
}

/* --- a filter -------------------------------------------------------------------------------- */

static unsigned int set_filter(struct ui *ui, const char *text, char *why, size_t size)
{
	if (!selection_set(ui, text, why, size))
		return 0;
	return (ui->typing->on ? place(ui, true) : 0) | UI_RELOAD;
}

static unsigned int follow_filter(struct ui *ui)
{
	struct typing *t = ui->typing;
	char why[PROMPT_TEXT + 96];
	const char *reason = why;
	unsigned int flags = set_filter(ui, ui->prompt.text, why, sizeof(why));

	t->wrong = !flags;
	/* "(: Unmatched (": the text stands in the line below. */
	if (t->wrong && strncmp(why, ui->prompt.text, strlen(ui->prompt.text)) == 0)
		reason += strlen(ui->prompt.text) + strlen(": ");
	if (t->wrong)
		snprintf(t->note, sizeof(t->note), "not valid yet, so the last one stays: %s",
			 reason);
	else if (filter_doubt(ui->prompt.text, why, sizeof(why)))
		snprintf(t->note, sizeof(t->note), "%s", why);
	return flags | UI_REDRAW;
}

bool typing_loaded(struct ui *ui)
{
	struct typing *t = ui->typing;
	const struct filter *filter = &ui->selection->filter;
	char why[96];

	if (!filter->set || !ui->watch.late) {
		snprintf(t->valid, sizeof(t->valid), "%s", filter->set ? filter->text : "");
		return false;
	}
	if (strcmp(t->valid, filter->text) == 0)
		t->valid[0] = '\0'; /* names have come that take longer than those before */
	if (t->on)
		snprintf(t->note, sizeof(t->note), "this takes longer than a key: Enter filters");
	else
		ui_notice(ui, "%s takes too long, and does not filter", filter->text);
	set_filter(ui, t->valid, why, sizeof(why));
	return true;
}

/* --- both ------------------------------------------------------------------------------------ */

void typing_watch(struct ui *ui)
{
	ui->selection->filter.pattern.watch = &ui->watch;
	pattern_watch_begin(&ui->watch, ui->typing->on ? KEY_MS : REFRESH_MS);
}

unsigned int typing_follow(struct ui *ui)
{
	struct typing *t = ui->typing;

	/* What is proposed is no answer yet. */
	if (!t->on || strcmp(t->seen, ui->prompt.text) == 0)
		return UI_REDRAW;
	snprintf(t->seen, sizeof(t->seen), "%s", ui->prompt.text);
	t->note[0] = '\0';
	t->wrong = t->there = false;
	return is_search(ui) ? follow_search(ui) : follow_filter(ui);
}

unsigned int typing_cancel(struct ui *ui)
{
	struct typing *t = ui->typing;
	unsigned int flags = UI_REDRAW;
	char why[96];

	if (!t->on)
		return flags;
	if (is_search(ui)) {
		search_take(ui, t->before, why, sizeof(why));
		flags |= place(ui, true) | UI_RELOAD;
	} else if (strcmp(t->before, ui->selection->filter.set ? ui->selection->filter.text : "")) {
		flags |= set_filter(ui, t->before, why, sizeof(why));
	}
	forget(t);
	return flags;
}

unsigned int typing_keep(struct ui *ui)
{
	/* A wrong answer changes nothing. */
	if (ui->typing->wrong)
		return typing_cancel(ui);
	if (typing_found(ui))
		chosen_moved(ui);
	forget(ui->typing);
	return UI_REDRAW;
}

bool typing_found(const struct ui *ui)
{
	return ui->typing->on && ui->typing->there;
}

const char *typing_note(const struct ui *ui)
{
	return ui->typing->note[0] ? ui->typing->note : NULL;
}
