/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_FILTER_H
#define STACKTOP_TUI_UI_FILTER_H

/*
 * A filter as it is typed: [!][column:]regular expression. It only says what matches;
 * tui/ui/selection.h decides which rows and samples that keeps. "lang:" has no expression behind
 * it but the mark of a language, or "native".
 */

#include <stdbool.h>
#include <stddef.h>

#include "tui/screen/prompt.h"
#include "tui/ui/pattern.h"

struct profile_func;
struct profile_proc;

/* id, name before the colon, of what it is a column */
#define FILTER_COLUMNS(X)                                                                          \
	X(COMM, "comm", FILTER_OF_PROC)                                                            \
	X(COMMAND, "command", FILTER_OF_PROC)                                                      \
	X(USER, "user", FILTER_OF_PROC)                                                            \
	X(PID, "pid", FILTER_OF_PROC)                                                              \
	X(CGROUP, "cgroup", FILTER_OF_PROC)                                                        \
	X(FUNC, "func", FILTER_OF_FUNC)                                                            \
	X(MODULE, "module", FILTER_OF_FUNC)                                                        \
	X(LANG, "lang", FILTER_OF_FUNC)                                                            \
	X(REASON, "reason", FILTER_OF_END)                                                         \
	X(CPU, "cpu", FILTER_OF_CPU)

enum filter_of {
	FILTER_OF_ROW, /* no column: what the view lists */
	FILTER_OF_PROC,
	FILTER_OF_FUNC,
	FILTER_OF_END, /* of a walk that ended early */
	FILTER_OF_CPU, /* that the sample was taken on */
};

enum filter_column {
	FILTER_ANY,
#define FILTER_ENUM(id, name, of) FILTER_##id,
	FILTER_COLUMNS(FILTER_ENUM)
#undef FILTER_ENUM
};

struct filter {
	bool set;
	bool negated;
	enum filter_column column;
	enum filter_of of;
	char text[PROMPT_TEXT]; /* as it was typed */
	struct pattern pattern; /* set with it; its watch may be set at any time */
};

/* A zeroed struct is no filter. "" clears it. False: text is no filter, the old one stays, and the
 * reason is in why. */
bool filter_set(struct filter *f, const char *text, char *why, size_t size);
void filter_clear(struct filter *f);
/* True where a word and a colon begin the text as a column would that there is not, as in
 * "foo:bar", which is a regular expression. why: says so, and which columns there are. */
bool filter_doubt(const char *text, char *why, size_t size);

/* What is kept: what matches, or does not where the filter is negated. Without a filter, or with
 * one that is about something else, all is. */
bool filter_keeps_proc(const struct filter *f, const struct profile_proc *proc);
/* A CPU by its number, which has to match as a whole; unlike above, only this filter keeps any. */
bool filter_keeps_cpu(const struct filter *f, unsigned int cpu);
/* A row of any other kind; only a filter without a column is about it. */
bool filter_keeps_text(const struct filter *f, const char *text);

/* Whether the function is one that the filter looks for, negated or not; for paths, which are
 * kept when they contain one, or when they contain none. */
bool filter_finds_func(const struct filter *f, const struct profile_func *func);

#endif
