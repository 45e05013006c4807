// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See filter.h. A word before a colon is only a column when it names one: "std::sort" is none, nor
 * is the name that the title of a process begins with, "nginx: worker".
 */
#include "tui/ui/filter.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "tui/profile/language.h"
#include "tui/ui/names.h"
#include "tui/profile/profile.h"

static const struct {
	const char *name;
	enum filter_of of;
} columns[] = {[FILTER_ANY] = {"", FILTER_OF_ROW},
#define FILTER_ROW(id, name, of) [FILTER_##id] = {name, of},
	       FILTER_COLUMNS(FILTER_ROW)
#undef FILTER_ROW
};

static enum filter_column column_of(const char **text)
{
	size_t length = strcspn(*text, ":");

	for (size_t i = FILTER_ANY + 1; (*text)[length] && i < sizeof(columns) / sizeof(*columns);
	     i++) {
		if (strlen(columns[i].name) == length &&
		    strncmp(columns[i].name, *text, length) == 0) {
			*text += length + 1;
			return (enum filter_column)i;
		}
	}
	return FILTER_ANY;
}

void filter_clear(struct filter *f)
{
	pattern_clear(&f->pattern);
	f->set = false;
}

static bool is_language(const char *text)
{
	static const char *const words[] = {"native",
#define LANGUAGE_WORD(id, mark, name) mark,
					    LANGUAGES(LANGUAGE_WORD)
#undef LANGUAGE_WORD
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(words[i], text) == 0)
			return true;
	return false;
}

bool filter_set(struct filter *f, const char *text, char *why, size_t size)
{
	struct filter new = {
		.set = true, .negated = text[0] == '!', .pattern.watch = f->pattern.watch};
	const char *at = text + new.negated;
	char reason[128];

	if (!text[0]) {
		filter_clear(f);
		return true;
	}
	new.column = column_of(&at);
	new.of = columns[new.column].of;
	if (!*at) {
		snprintf(why, size, "%s: nothing to look for", text);
		return false;
	}
	if (new.column == FILTER_LANG && !is_language(at)) {
		snprintf(why, size, "%s: languages are py, php, pl, rb, js, java, and native",
			 text);
		return false;
	}
	if (!pattern_set(&new.pattern, at, reason, sizeof(reason))) {
		snprintf(why, size, "%s: %s", text, reason);
		return false;
	}
	snprintf(new.text, sizeof(new.text), "%s", text);
	filter_clear(f);
	*f = new;
	return true;
}

bool filter_doubt(const char *text, char *why, size_t size)
{
	static const char names[] =
#define FILTER_NAME(id, name, of) ", " name
		FILTER_COLUMNS(FILTER_NAME);
#undef FILTER_NAME
	const char *word = text + (text[0] == '!'), *end = word;

	while (isalnum((unsigned char)*end) || *end == '_' || *end == '-')
		end++;
	if (!isalpha((unsigned char)*word) || end[0] != ':' || strchr(": ", end[1]) ||
	    column_of(&word) != FILTER_ANY)
		return false;
	snprintf(why, size, "no column \"%.*s\": searched as text; columns are %s",
		 (int)(end - word), word, names + strlen(", "));
	return true;
}

static bool matches(const struct filter *f, const char *text)
{
	return pattern_matches(&f->pattern, text);
}

bool filter_keeps_cpu(const struct filter *f, unsigned int cpu)
{
	size_t from, to;
	char text[16];

	if (!f->set || f->of != FILTER_OF_CPU)
		return false;
	snprintf(text, sizeof(text), "%u", cpu);
	return (pattern_find(&f->pattern, text, &from, &to) && from == 0 && to == strlen(text)) !=
	       f->negated;
}

bool filter_keeps_text(const struct filter *f, const char *text)
{
	return !f->set || f->of != FILTER_OF_ROW || matches(f, text) != f->negated;
}

bool filter_keeps_proc(const struct filter *f, const struct profile_proc *proc)
{
	const enum filter_column column = f->column;
	char pid[16];
	bool found = false;

	if (!f->set || (f->of != FILTER_OF_ROW && f->of != FILTER_OF_PROC))
		return true;
	snprintf(pid, sizeof(pid), "%d", (int)proc->pid);
	if (column == FILTER_ANY || column == FILTER_COMM)
		found |= matches(f, proc->comm);
	if (column == FILTER_ANY || column == FILTER_COMMAND)
		found |= matches(f, proc->cmdline);
	if (column == FILTER_ANY || column == FILTER_USER)
		found |= matches(f, proc->user);
	if (column == FILTER_ANY || column == FILTER_PID)
		found |= matches(f, pid);
	if (column == FILTER_ANY || column == FILTER_CGROUP)
		found |= matches(f, proc->group);
	return found != f->negated;
}

bool filter_finds_func(const struct filter *f, const struct profile_func *func)
{
	char name[1100];

	if (!f->set || f->of == FILTER_OF_PROC || f->of == FILTER_OF_CPU)
		return false;
	if (f->of == FILTER_OF_END)
		return func->kind == FUNC_END && matches(f, func->name);
	if (f->column == FILTER_MODULE)
		return matches(f, func->module);
	if (f->column == FILTER_LANG) {
		const char *language = language_mark(func->kind);

		return strcmp(language ? language : "native", strchr(f->text, ':') + 1) == 0;
	}
	names_show(func, name, sizeof(name));
	return matches(f, name);
}
