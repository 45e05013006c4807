// SPDX-License-Identifier: GPL-2.0-or-later
/* See search.h. */
#include "tui/ui/search.h"

#include <stdio.h>
#include <string.h>

#include "tui/ui/names.h"
#include "tui/ui/ui.h"
#include "tui/ui/view.h"

#define SEARCH_MS 250 /* for all rows; while a person types, tui/ui/typing.c allows less */

void search_clear(struct search *search)
{
	pattern_clear(&search->compiled);
	search->set = false;
}

unsigned int search_step(struct ui *ui, int step, bool here)
{
	unsigned int flags;

	if (!ui->search.set) {
		ui_notice(ui, "nothing to search for: / asks");
		return UI_REDRAW;
	}
	pattern_watch_begin(&ui->watch, SEARCH_MS);
	if (ui->overlay.ops)
		flags = ui->overlay.ops->find(ui, step, here);
	else
		flags = view_get(ui)->find(ui, step, here);
	if (flags)
		chosen_moved(ui);
	if (!flags && ui->watch.late)
		ui_notice(ui, "%s takes too long: not all was searched", ui->search.pattern);
	else if (!flags)
		ui_notice(ui, "not found: %s", ui->search.pattern);
	return flags ? flags : UI_REDRAW;
}

bool search_take(struct ui *ui, const char *pattern, char *why, size_t size)
{
	struct search *s = &ui->search;

	s->compiled.watch = &ui->watch;
	if (!pattern_set(&s->compiled, pattern, why, size))
		return false;
	s->set = s->compiled.set;
	snprintf(s->pattern, sizeof(s->pattern), "%s", pattern);
	return true;
}

unsigned int search_set(struct ui *ui, const char *pattern)
{
	char why[128];

	if (!search_take(ui, pattern, why, sizeof(why)))
		ui_notice(ui, "%s: %s", pattern, why);
	else if (ui->search.set)
		return search_step(ui, 1, true);
	return UI_REDRAW;
}

void search_quote(char *to, size_t size, const char *text)
{
	size_t n = 0;

	to[n++] = '^';
	for (; *text && n + 3 < size; text++) {
		if (strchr("\\^$.[]|()*+?{}", *text))
			to[n++] = '\\';
		to[n++] = *text;
	}
	if (!*text)
		to[n++] = '$';
	to[n] = '\0';
}

unsigned int search_name(struct ui *ui, const char *name)
{
	char pattern[PROMPT_TEXT];

	search_quote(pattern, sizeof(pattern), name);
	/* The match is under the cursor already: nothing else shows that it is one. */
	ui_notice(ui, "n and N go to the next and previous of this name");
	return search_set(ui, pattern);
}

unsigned int search_func(struct ui *ui, const struct profile_func *func)
{
	char name[512];

	if (!func)
		return 0;
	names_show(func, name, sizeof(name));
	return search_name(ui, name);
}

bool search_matches_func(const struct ui *ui, const struct profile_func *func)
{
	char name[512];

	names_show(func, name, sizeof(name));
	return search_matches(ui, name);
}

bool search_matches(const struct ui *ui, const char *text)
{
	return ui->search.set && pattern_matches(&ui->search.compiled, text);
}
