// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See pattern.h. The C library's engine builds an automaton while it matches: its time grows with
 * the size of the expression, in which repetitions are written out, and without bound with back
 * references. Both are limited here before it sees them.
 */
#include "tui/ui/pattern.h"

#include <ctype.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/base/clock.h"

#define STATES_MAX 400
#define NS_PER_MS  1000000ULL
#define RUNS	   8 /* of the engine between two looks at the clock, which is a system call */

void pattern_watch_begin(struct pattern_watch *watch, unsigned int ms)
{
	watch->deadline = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ms * NS_PER_MS;
	watch->runs = 0;
	watch->late = false;
}

static bool in_time(const struct pattern *p)
{
	struct pattern_watch *w = p->watch;

	if (w && w->deadline && !w->late && w->runs++ % RUNS == 0)
		w->late = clock_ns(CLOCK_THREAD_CPUTIME_ID) > w->deadline;
	return !w || !w->late;
}

/* --- plain words ----------------------------------------------------------------------------- */

static const char special[] = "\\^$.[]|()*+?{}";

static char small(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* [^]word[$] of ASCII characters, special ones behind a backslash. */
static bool take_plain(struct pattern *p, const char *text)
{
	p->at_start = *text == '^';
	text += p->at_start;
	for (; *text && (unsigned char)*text < 0x80; text++) {
		if (*text == '$' && !text[1])
			break;
		if (*text == '\\' && text[1] && strchr(special, text[1]))
			text++;
		else if (strchr(special, *text))
			return false;
		p->word[p->length++] = small(*text);
	}
	p->at_end = *text == '$';
	p->plain = !text[p->at_end] && p->length;
	return p->plain;
}

static bool begins(const char *text, const char *word)
{
	while (*word && small(*text) == *word) {
		text++;
		word++;
	}
	return !*word;
}

static bool find_plain(const struct pattern *p, const char *text, size_t *from)
{
	size_t length = strlen(text), last;

	if (length < p->length)
		return false;
	last = p->at_start ? 0 : length - p->length;
	for (size_t i = p->at_end ? length - p->length : 0; i <= last; i++)
		if (small(text[i]) == p->word[0] && begins(text + i, p->word)) {
			*from = i;
			return true;
		}
	return false;
}

/* --- expressions ----------------------------------------------------------------------------- */

/* Behind a bracket expression, in which nothing is special but its end and [:class:]. */
static const char *behind_brackets(const char *at)
{
	at++;
	at += *at == '^';
	at += *at == ']';
	for (; *at && *at != ']'; at++) {
		const char *end = NULL;
		char close[3] = {0};

		if (*at == '[' && at[1] && strchr(":.=", at[1])) {
			close[0] = at[1];
			close[1] = ']';
			end = strstr(at + 2, close);
		}
		at = end ? end + 1 : at;
	}
	return *at ? at + 1 : at;
}

/* How often a repetition is written out; sets *at behind it. */
static unsigned long repeats(const char **at)
{
	unsigned long least, most;
	char *end;

	if (**at != '{' || !isdigit((unsigned char)(*at)[1]))
		return 1;
	least = most = strtoul(*at + 1, &end, 10);
	if (*end == ',' && isdigit((unsigned char)end[1]))
		most = strtoul(end + 1, &end, 10);
	*at = end + strcspn(end, "}");
	*at += **at == '}';
	most = most > least ? most : least;
	return most > STATES_MAX ? STATES_MAX + 1 : most + 1;
}

/* Why the engine must not have it, NULL: it may. */
static const char *refused(const char *text)
{
	unsigned long sizes[PROMPT_TEXT] = {0}, atom = 0;
	size_t depth = 0;

	for (const char *at = text; *at;) {
		if (*at == '\\' && isdigit((unsigned char)at[1]))
			return "\\1 to \\9 would take too long; a digit needs no backslash";
		if (*at == '(' || *at == ')') {
			if (*at == '(' && depth + 1 < PROMPT_TEXT)
				sizes[++depth] = 0;
			/* What is in the group is the atom that may be repeated. */
			atom = 1 + (*at == ')' && depth ? sizes[depth--] : 0);
			at++;
		} else if (*at == '[') {
			atom = 1;
			at = behind_brackets(at);
		} else {
			atom = 1;
			at += 1 + (*at == '\\' && at[1]);
		}
		while (*at == '{' && isdigit((unsigned char)at[1]) && atom <= STATES_MAX)
			atom *= repeats(&at);
		sizes[depth] += atom;
		if (atom > STATES_MAX || sizes[depth] > STATES_MAX)
			return "this repeats too much";
	}
	return NULL;
}

/* With the byte order of no locale, unless there is no memory for one. */
static int compile_bytes(regex_t *regex, const char *text)
{
	locale_t none = newlocale(LC_ALL_MASK, "C", NULL), before = NULL;
	int err;

	if (none)
		before = uselocale(none);
	err = regcomp(regex, text, REG_EXTENDED | REG_ICASE);
	if (none) {
		uselocale(before);
		freelocale(none);
	}
	return err;
}

static bool compile(struct pattern *p, const char *text, char *why, size_t size)
{
	const char *no = refused(text);
	int err;

	if (no) {
		snprintf(why, size, "%s", no);
		return false;
	}
	err = regcomp(&p->chars, text, REG_EXTENDED | REG_ICASE);
	if (!err) {
		err = compile_bytes(&p->bytes, text);
		if (err)
			regfree(&p->chars);
	}
	if (err)
		regerror(err, NULL, why, size);
	return !err;
}

bool pattern_set(struct pattern *p, const char *text, char *why, size_t size)
{
	struct pattern new = {.set = true, .watch = p->watch};

	if (!text[0]) {
		pattern_clear(p);
		return true;
	}
	if (strlen(text) >= PROMPT_TEXT) {
		snprintf(why, size, "too long");
		return false;
	}
	if (!take_plain(&new, text) && !compile(&new, text, why, size))
		return false;
	pattern_clear(p);
	*p = new;
	return true;
}

void pattern_clear(struct pattern *p)
{
	if (p->set && !p->plain) {
		regfree(&p->bytes);
		regfree(&p->chars);
	}
	*p = (struct pattern){.watch = p->watch};
}

static bool is_ascii(const char *text)
{
	while (*text && (unsigned char)*text < 0x80)
		text++;
	return !*text;
}

bool pattern_find(const struct pattern *p, const char *text, size_t *from, size_t *to)
{
	regmatch_t match;

	if (!p->set)
		return false;
	if (p->plain) {
		if (!find_plain(p, text, from))
			return false;
		*to = *from + p->length;
		return true;
	}
	if (!in_time(p))
		return false;
	if (regexec(is_ascii(text) ? &p->bytes : &p->chars, text, 1, &match, 0))
		return false;
	*from = (size_t)match.rm_so;
	*to = (size_t)match.rm_eo;
	return true;
}

bool pattern_matches(const struct pattern *p, const char *text)
{
	size_t from;

	if (!p->set)
		return false;
	if (p->plain)
		return find_plain(p, text, &from);
	return in_time(p) && regexec(is_ascii(text) ? &p->bytes : &p->chars, text, 0, NULL, 0) == 0;
}
