/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_UI_PATTERN_H
#define STACKTOP_TUI_UI_PATTERN_H

/*
 * An extended regular expression of a person, matched in any case with thousands of names at each
 * key: plain words need no engine, and what would take an engine too long is refused or ends by a
 * clock.
 */

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/screen/prompt.h"

/* The CPU time that all matches of expressions may take together. Zeroed: no limit. */
struct pattern_watch {
	uint64_t deadline; /* CLOCK_THREAD_CPUTIME_ID ns, 0: none */
	unsigned int runs; /* of the engine, since then */
	bool late;	   /* it has passed: nothing has matched since */
};

void pattern_watch_begin(struct pattern_watch *watch, unsigned int ms);

struct pattern {
	bool set;
	struct pattern_watch *watch; /* not owned; NULL: no limit */
	/* The expression is a word, which may have to be all of the text's beginning or end. */
	bool plain, at_start, at_end;
	size_t length;
	char word[PROMPT_TEXT]; /* in small letters */
	regex_t bytes;		/* of no locale, for ASCII text: three times as fast */
	regex_t chars;		/* of the locale, for all other text */
};

/* Zeroed, it is no pattern. False: text is no expression, or one that may take too long: why says
 * so, and the old pattern stays. "" clears it. */
bool pattern_set(struct pattern *p, const char *text, char *why, size_t size);
void pattern_clear(struct pattern *p);
/* True if the pattern is set and the text matches; where, in bytes. */
bool pattern_find(const struct pattern *p, const char *text, size_t *from, size_t *to);
bool pattern_matches(const struct pattern *p, const char *text);

#endif
