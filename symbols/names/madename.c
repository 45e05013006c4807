// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See madename.h. V8 (src/logging/log.cc) writes TAG:MARK NAME FILE:LINE:COLUMN, where TAG was
 * LazyCompile, Function or Script before it was JS, MARK tells which compiler made the code, and
 * there was no column at first. HotSpot writes the type of the result, the method and those of its
 * parameters; agents write descriptors or other separators.
 */
#include "symbols/names/madename.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- JavaScript ------------------------------------------------------------------------------ */

/* Behind the tag; NULL: it is none of a function. */
static const char *js_tag(const char *text)
{
	static const char *const tags[] = {"JS:", "LazyCompile:", "Function:", "Script:", "Eval:"};

	for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); i++)
		if (strncmp(text, tags[i], strlen(tags[i])) == 0)
			return text + strlen(tags[i]);
	return NULL;
}

/* Behind "~", "^", "+", "*", "+'" and "*'". */
static const char *js_mark(const char *at)
{
	if (!*at || !strchr("~^+*", *at))
		return at;
	at++;
	return *at == '\'' ? at + 1 : at;
}

static bool is_file(const char *at)
{
	static const char *const starts[] = {"/",	"file:",	"node:",
					     "http:",	"https:",	"internal/",
					     "webpack", "evalmachine.", "[eval"};

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (strncmp(at, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

/*
 * Where the file begins: behind the first space, unless a later one is followed by what files begin
 * with (`get size /a.js`). NULL: there is none.
 */
static const char *js_file(const char *at)
{
	const char *first = NULL;

	if (is_file(at))
		return at;
	for (; (at = strchr(at, ' ')); at++) {
		if (is_file(at + 1))
			return at + 1;
		if (!first)
			first = at + 1;
	}
	return first;
}

/* Cuts ":123" off the end; false: there is none. */
static bool cut_number(char *text, uint32_t *number)
{
	char *at = strrchr(text, ':'), *end;
	unsigned long value;

	if (!at || !isdigit((unsigned char)at[1]))
		return false;
	value = strtoul(at + 1, &end, 10);
	if (*end)
		return false;
	*number = value < INT32_MAX ? (uint32_t)value : 0;
	*at = '\0';
	return true;
}

static bool js_read(const char *text, struct madename *out)
{
	const char *name = js_tag(text), *file;
	uint32_t column = 0, line = 0;
	int length;

	if (!name)
		return false;
	name = js_mark(name);
	file = js_file(name);
	length = file ? (int)(file - name) : (int)strlen(name);
	if (length && name[length - 1] == ' ')
		length--;
	snprintf(out->name, sizeof(out->name), "%.*s", length, name);
	if (!out->name[0])
		snprintf(out->name, sizeof(out->name), "%s", MADENAME_NONE);
	snprintf(out->file, sizeof(out->file), "%s", file ? file : "");
	if (cut_number(out->file, &column)) {
		if (!cut_number(out->file, &line))
			line = column;
		out->line = line;
	}
	file = madename_path(out->file);
	memmove(out->file, file, strlen(file) + 1);
	if (!out->file[0])
		snprintf(out->file, sizeof(out->file), "?");
	return true;
}

const char *madename_path(const char *file)
{
	return strncmp(file, "file:///", 8) == 0 ? file + 7 : file;
}

/* --- Java ------------------------------------------------------------------------------------ */

/* "Lpkg/Class;::method" and "pkg.Class::method"; false: it is none. */
static bool java_agent(const char *text, struct madename *out)
{
	const char *mark = strstr(text, "::");
	size_t class, method;

	if (!mark || mark == text || strcspn(text, " (") < (size_t)(mark - text))
		return false;
	class = (size_t)(mark - text);
	if (*text == 'L' && text[class - 1] == ';') {
		text++;
		class -= 2;
	}
	method = strcspn(mark + 2, "( ");
	if (!class || !method)
		return false;
	snprintf(out->name, sizeof(out->name), "%.*s.%.*s", (int)class, text, (int)method,
		 mark + 2);
	for (size_t i = 0; i < class && out->name[i]; i++)
		if (out->name[i] == '/')
			out->name[i] = '.';
	return true;
}

/* "int pkg.Class.method(int)", "pkg.Class.method": stubs have no dot there. */
static bool java_read(const char *text, struct madename *out)
{
	size_t end = strcspn(text, "("), begin = end;
	const char *dot;

	if (java_agent(text, out))
		return true;
	while (begin && text[begin - 1] != ' ')
		begin--;
	dot = memchr(text + begin, '.', end - begin);
	if (!dot || dot == text + begin || dot + 1 == text + end ||
	    isdigit((unsigned char)text[begin]) || memchr(text, ':', end) ||
	    (begin && text[end] != '('))
		return false;
	snprintf(out->name, sizeof(out->name), "%.*s", (int)(end - begin), text + begin);
	return true;
}

/* --- all ------------------------------------------------------------------------------------- */

bool madename_read(const char *text, bool hotspot, struct madename *out)
{
	out->language = MADENAME_OTHER;
	out->line = 0;
	out->name[0] = out->file[0] = '\0';
	if (js_read(text, out))
		out->language = MADENAME_JS;
	else if (hotspot && java_read(text, out))
		out->language = MADENAME_JAVA;
	return out->language != MADENAME_OTHER;
}
