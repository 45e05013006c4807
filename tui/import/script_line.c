// SPDX-License-Identifier: GPL-2.0-or-later
/* See script_line.h. Each line is read from its front to its end, without going back far. */
#include "tui/import/script_line.h"

#include <string.h>

#define NS_PER_SEC 1000000000ull

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Cuts the first word off. */
static struct import_text take_word(struct import_text *text)
{
	struct import_text word = import_trim(*text);
	size_t n = 0;

	while (n < word.length && !is_blank(word.at[n]))
		n++;
	text->length = word.length - n;
	text->at = n ? word.at + n : word.at;
	word.length = n;
	return word;
}

static bool cut_end(struct import_text *word, char c)
{
	if (!word->length || word->at[word->length - 1] != c)
		return false;
	word->length--;
	return true;
}

/* "1234" or "1234/1236". */
static bool take_ids(struct import_text word, struct script_head *out)
{
	const char *slash = memchr(word.at, '/', word.length);
	struct import_text pid = {word.at, slash ? (size_t)(slash - word.at) : word.length};
	struct import_text tid = pid;
	uint64_t a, b;

	if (slash)
		tid = (struct import_text){slash + 1, word.length - pid.length - 1};
	if (!import_number(pid, INT32_MAX, &a) || !import_number(tid, INT32_MAX, &b))
		return false;
	out->pid = (int64_t)a;
	out->tid = (uint32_t)b;
	return true;
}

/* "[003]" */
static bool take_cpu(struct import_text word, struct script_head *out)
{
	uint64_t cpu;

	if (!word.length || *word.at != '[' || !cut_end(&word, ']'))
		return false;
	word.at++;
	word.length--;
	if (!import_number(word, 8192, &cpu))
		return false;
	out->cpu = (uint32_t)cpu + 1;
	return true;
}

/* "25577.260652:", with six or nine digits */
static bool take_time(struct import_text word, struct script_head *out)
{
	const char *dot = word.length ? memchr(word.at, '.', word.length) : NULL;
	struct import_text seconds, part;
	uint64_t s, ns;

	if (!dot || !cut_end(&word, ':'))
		return false;
	seconds = (struct import_text){word.at, (size_t)(dot - word.at)};
	part = (struct import_text){dot + 1, word.length - seconds.length - 1};
	if (part.length > 9 || !import_number(seconds, (uint64_t)1 << 32, &s) ||
	    !import_number(part, NS_PER_SEC, &ns))
		return false;
	for (size_t i = part.length; i < 9; i++)
		ns *= 10;
	out->time = s * NS_PER_SEC + ns;
	out->timed = true;
	return true;
}

/* Cuts ":ppp", ":u" and the like: perf-list(1), Event modifiers. */
static void cut_modifiers(struct import_text *event)
{
	size_t n = event->length;

	while (n && event->at[n - 1] && strchr("ukhGHpPSDIWeb", event->at[n - 1]))
		n--;
	if (n > 1 && n < event->length && event->at[n - 1] == ':')
		event->length = n - 1;
}

/* What follows the ids. */
static bool take_rest(struct import_text text, struct script_head *out)
{
	struct import_text left = text, word = take_word(&left);

	if (take_cpu(word, out))
		word = take_word(&left);
	if (take_time(word, out))
		word = take_word(&left);
	if (import_number(word, (uint64_t)1 << 48, &out->period)) {
		out->periodic = true;
		word = take_word(&left);
	}
	if (!word.length)
		return out->timed;
	if (!cut_end(&word, ':') || !word.length)
		return false;
	cut_modifiers(&word);
	out->event = word;
	out->rest = import_trim(left);
	return true;
}

/* Names have blanks, digits and colons: of several ways to read a line the fullest is right. */
static unsigned int fullness(struct import_text ids, const struct script_head *head)
{
	return (memchr(ids.at, '/', ids.length) ? 4u : 0) + (head->timed ? 2u : 0) +
	       (head->event.length ? 1u : 0);
}

bool script_head(struct import_text line, struct script_head *out)
{
	struct import_text all = import_trim(line);
	unsigned int best = 0;
	bool found = false;

	for (size_t i = 0; i < all.length; i++) {
		struct import_text left, ids;
		struct script_head head;

		if (!is_digit(all.at[i]) || (i && !is_blank(all.at[i - 1])))
			continue;
		head = (struct script_head){.comm = import_trim((struct import_text){all.at, i})};
		left = (struct import_text){all.at + i, all.length - i};
		ids = take_word(&left);
		/* A line that begins with a number is one of a process without a name, if that is
		 * sure. */
		if (!take_ids(ids, &head) || !take_rest(left, &head) ||
		    (!i && fullness(ids, &head) < 7) || (found && fullness(ids, &head) <= best))
			continue;
		best = fullness(ids, &head);
		*out = head;
		found = true;
	}
	return found;
}

/* --- frames ---------------------------------------------------------------------------------- */

static bool is_hex(struct import_text word)
{
	for (size_t i = 0; i < word.length; i++)
		if (!is_digit(word.at[i]) && !(word.at[i] >= 'a' && word.at[i] <= 'f'))
			return false;
	return word.length > 0 && word.length <= 16;
}

static bool has_digit(struct import_text word)
{
	for (size_t i = 0; i < word.length; i++)
		if (is_digit(word.at[i]))
			return true;
	return false;
}

static bool ends_in(struct import_text text, const char *with)
{
	size_t n = strlen(with);

	return text.length >= n && !memcmp(text.at + text.length - n, with, n);
}

/* The last " (FILE)"; files have brackets of their own, if they were deleted. */
static bool cut_file(struct import_text *text, struct import_text *file)
{
	static const char deleted[] = " (deleted))";
	size_t end = text->length, n;

	if (!ends_in(*text, ")"))
		return false;
	n = ends_in(*text, deleted) ? end - strlen(deleted) : end - 1;
	for (size_t i = n; i-- > 0;) {
		if (text->at[i] != '(' || (i && !is_blank(text->at[i - 1])))
			continue;
		*file = (struct import_text){text->at + i + 1, n - i - 1};
		text->length = i;
		*text = import_trim(*text);
		return true;
	}
	return false;
}

/* "+0x1f" */
static void cut_offset(struct import_text *name)
{
	const char *plus = name->length ? memrchr(name->at, '+', name->length) : NULL;
	struct import_text digits;

	if (!plus || (size_t)(name->at + name->length - plus) < 4 || plus[1] != '0' ||
	    plus[2] != 'x')
		return;
	digits = (struct import_text){plus + 3, (size_t)(name->at + name->length - plus) - 3};
	if (is_hex(digits))
		name->length = (size_t)(plus - name->at);
}

static bool take_frame(struct import_text text, struct import_frame *out, bool whole)
{
	struct import_text left = import_trim(text), word;
	bool file;

	*out = (struct import_frame){0};
	file = cut_file(&left, &out->module);
	if (file && out->module.length == strlen("inlined") && ends_in(out->module, "inlined")) {
		out->inlined = true;
		out->module.length = 0;
	}
	out->name = left;
	word = take_word(&left);
	/* Without an address a name could look like one: "add (libc.so.6)". */
	if (is_hex(word) && (left.length || (file && has_digit(word))))
		out->name = import_trim(left);
	else if (whole)
		return false;
	cut_offset(&out->name);
	return file || (!whole && out->name.length);
}

bool script_frame(struct import_text line, struct import_frame *out)
{
	return line.length && is_blank(*line.at) && take_frame(line, out, false);
}

bool script_frame_only(struct import_text text, struct import_frame *out)
{
	return text.length && take_frame(text, out, true);
}
