// SPDX-License-Identifier: GPL-2.0-or-later
/* See conflines.h. */
#include "tui/util/conflines.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "symbols/base/text.h"

#define NAME_BYTES                                                                                 \
	"abcdefghijklmnopqrstuvwxyz"                                                               \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ"                                                               \
	"0123456789-_"

void conflines_begin(struct conflines *c, char *text, size_t length)
{
	*c = (struct conflines){.at = text, .end = text + length};
}

/* What a terminal or a log would not show as it is; tabs between words become blanks. */
static const char *unclean(char *line, size_t length)
{
	char clean[CONFLINES_LENGTH + 1];

	if (length > CONFLINES_LENGTH)
		return "the line is longer than 4096 bytes";
	if (length && line[length - 1] == '\r')
		return "the line ends as on Windows; only a line feed may end it";
	for (char *tab = line; (tab = memchr(tab, '\t', length - (size_t)(tab - line)));)
		*tab = ' ';
	if (text_clean(clean, sizeof(clean), line, length) != length ||
	    memcmp(clean, line, length) != 0)
		return "there are control characters, or bytes that are not UTF-8";
	return NULL;
}

static bool is_rest(const char *at)
{
	at += strspn(at, " ");
	return !*at || *at == '#';
}

/* Takes the quotes off in place. */
static const char *unquote(char *quote, const char **value)
{
	char *to = quote;
	const char *from = quote + 1;

	for (; *from != '"'; *to++ = *from++) {
		if (*from == '\\' && (from[1] == '"' || from[1] == '\\'))
			from++;
		else if (*from == '\\')
			return "within quotes, \\ may only stand before \" or \\";
		if (!*from)
			return "the closing quote is missing";
	}
	if (!is_rest(from + 1))
		return "there is something behind the closing quote";
	*to = '\0';
	*value = quote;
	return NULL;
}

/* Ends the text before a comment, and before the blanks in front of it. */
static void cut(char *text)
{
	size_t length;

	for (char *at = text; (at = strchr(at, '#')); at++)
		if (at == text || at[-1] == ' ') {
			*at = '\0';
			break;
		}
	length = strlen(text);
	while (length && text[length - 1] == ' ')
		text[--length] = '\0';
}

/* A line without blanks in front, which is no comment. */
static const char *split(struct conflines *c, char *line)
{
	size_t length = strspn(line, NAME_BYTES);
	char *at = line + length;

	if (!length)
		return "a line is `name = value', or a comment behind #";
	at += strspn(at, " ");
	c->name = line;
	if (*at != '=') {
		if (*at && (*at != '#' || at == line + length))
			return "a line is `name = value', or a comment behind #";
		line[length] = '\0';
		return NULL;
	}
	at++;
	at += strspn(at, " ");
	line[length] = '\0';
	if (*at == '"')
		return unquote(at, &c->value);
	cut(at);
	c->value = at;
	return NULL;
}

int conflines_next(struct conflines *c)
{
	while (!c->wrong && c->at < c->end) {
		char *line = c->at, *end = memchr(line, '\n', (size_t)(c->end - line));

		if (!end)
			end = c->end;
		c->at = end < c->end ? end + 1 : end;
		c->line++;
		c->name = c->value = NULL;
		*end = '\0';
		c->wrong = unclean(line, (size_t)(end - line));
		line += strspn(line, " ");
		if (c->wrong || is_rest(line))
			continue;
		c->wrong = split(c, line);
		if (!c->wrong)
			return 1;
	}
	return c->wrong ? -EINVAL : 0;
}
