// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See shortname.h. Names are foreign text: brackets may be missing, and a `<` may be an operator.
 * What does not match is an ordinary character.
 */
#include "tui/ui/shortname.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tui/profile/profile.h"
#include "tui/screen/grid.h"
#include "tui/ui/names.h"

#define NAME_BYTES 1024 /* of a function of the profile, with NUL */
#define NESTED_MAX 64
#define PARTS_MAX  64 /* namespaces of a name */

static const char word_operator[] = "operator";

struct parsed {
	const char *text;
	int length;
	int16_t end[NAME_BYTES]; /* of an opening bracket, its closing one; 0: no bracket */
	int parameters;		 /* the first group of them; -1: none */
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* Length of "operator<<" and the like at that place; 0: there is none. */
static int operator_at(const char *text, int at)
{
	const int word = (int)strlen(word_operator);
	int length = word;

	if (strncmp(text + at, word_operator, (size_t)word) != 0 || (at && is_word(text[at - 1])))
		return 0;
	if (!strncmp(text + at + word, "()", 2) || !strncmp(text + at + word, "[]", 2))
		return word + 2;
	length += (int)strspn(text + at + word, "<>=-+*/%^&|~!,");
	return length > word || text[at + word] == ' ' ? length : 0;
}

static char opening(char c)
{
	return c == '>' ? '<' : c == ')' ? '(' : c == ']' ? '[' : c == '}' ? '{' : '\0';
}

/* A `<` between other brackets that close is no bracket; those in between are forgotten. */
static int close_bracket(struct parsed *p, const int16_t *open, int depth, int at)
{
	const char wanted = opening(p->text[at]);
	int d = depth;

	while (d && p->text[open[d - 1]] != wanted &&
	       (wanted != '<' && p->text[open[d - 1]] == '<'))
		d--;
	if (!d || p->text[open[d - 1]] != wanted)
		return depth;
	p->end[open[d - 1]] = (int16_t)at;
	return d - 1;
}

static bool is_arrow(const char *text, int at)
{
	return at && text[at] == '>' && (text[at - 1] == '-' || text[at - 1] == '=');
}

static void parse(struct parsed *p, const char *text)
{
	int16_t open[NESTED_MAX];
	int depth = 0;

	p->text = text;
	p->length = (int)strlen(text);
	memset(p->end, 0, ((size_t)p->length + 1) * sizeof(p->end[0]));
	for (int i = 0; i < p->length; i++) {
		const int op = operator_at(text, i);

		if (op)
			i += op - 1;
		else if (strchr("<([{", text[i]) && depth < NESTED_MAX)
			open[depth++] = (int16_t)i;
		else if (opening(text[i]) && !is_arrow(text, i))
			depth = close_bracket(p, open, depth, i);
	}
	p->parameters = -1;
	for (int i = 0; i < p->length && p->parameters < 0; i++) {
		i += operator_at(text, i);
		if (text[i] == '(' && p->end[i] && i && text[i - 1] != ' ' && text[i - 1] != ':')
			p->parameters = i;
		else if (p->end[i])
			i = p->end[i];
	}
}

/* What stands between "<>" or "()" gives way to an ellipsis, from a depth of nesting on. */
static void collapse(const struct grid *g, const char *from, char bracket, int depth, char *to)
{
	const char *dots = grid_glyph(g, GLYPH_ELLIPSIS);
	struct parsed p;
	int16_t ends[NESTED_MAX + 1];
	int nested = 0, n = 0;

	parse(&p, from);
	for (int i = 0; i < p.length; i++) {
		bool ours = from[i] == bracket && p.end[i];

		while (nested && i >= ends[nested - 1])
			nested--;
		if (ours && bracket == '(' &&
		    (!i || from[i - 1] == ' ' || from[i - 1] == ':' || from[i + 1] == '*'))
			ours = false;
		if (!ours || nested + 1 < depth || p.end[i] - i - 1 <= (int)strlen(dots)) {
			if (ours && nested < NESTED_MAX)
				ends[nested++] = p.end[i];
			to[n++] = from[i];
			continue;
		}
		to[n++] = from[i];
		memcpy(to + n, dots, strlen(dots));
		n += (int)strlen(dots);
		i = p.end[i];
		to[n++] = from[i];
	}
	to[n] = '\0';
}

/* At a blank: what follows is neither " const" nor " [clone .cold]". */
static bool begins_name(const char *text)
{
	return text[0] == ' ' && text[1] && !strchr("[(&", text[1]) &&
	       strcmp(text, " const") != 0 && strcmp(text, " volatile") != 0;
}

/* Return type before the name, and what comes behind it: parameters, " const", " [clone .cold]". */
static void cut_around(const char *from, char *to)
{
	struct parsed p;
	int first = 0, last, operators = -1;

	parse(&p, from);
	last = p.length;
	for (int i = 0; i < p.length; i++) {
		const int op = operator_at(from, i);

		if (op) {
			operators = i;
			i += op - (op > (int)strlen(word_operator));
			continue;
		}
		/* The parameters of what a lambda is in do not end the name. */
		if (from[i] == '(' && p.end[i] && p.parameters >= 0 && i >= p.parameters &&
		    (from[p.end[i] + 1] == '\0' || from[p.end[i] + 1] == ' ')) {
			last = i;
			break;
		}
		if (begins_name(from + i) && operators < 0 &&
		    (p.parameters < 0 || i < p.parameters))
			first = i + 1;
		if (p.end[i])
			i = p.end[i];
	}
	if (first >= last)
		first = 0;
	memmove(to, from + first, (size_t)(last - first));
	to[last - first] = '\0';
}

/* Where the namespaces, classes and the function of the name begin. */
static int find_parts(const char *text, int16_t *starts)
{
	struct parsed p;
	int n = 1;

	parse(&p, text);
	starts[0] = 0;
	for (int i = 0; i < p.length; i++) {
		i += operator_at(text, i);
		if (p.end[i])
			i = p.end[i];
		else if (text[i] == ':' && text[i + 1] == ':' && n < PARTS_MAX)
			starts[n++] = (int16_t)(i++ + 2);
	}
	return n;
}

static bool fits(const struct grid *g, const char *text, int cells)
{
	return grid_width(g, text) <= cells;
}

static const char *next_char(const char *text)
{
	do
		text++;
	while (((unsigned char)*text & 0xc0) == 0x80);
	return text;
}

/* The end of the text behind an ellipsis. */
static void keep_end(const struct grid *g, const char *text, int cells, char *to, size_t size)
{
	int width = grid_width(g, text);

	while (*text && width > cells - 1) {
		const char *next = next_char(text);
		char one[8];

		snprintf(one, sizeof(one), "%.*s", (int)(next - text), text);
		width -= grid_width(g, one);
		text = next;
	}
	snprintf(to, size, "%s%s", grid_glyph(g, GLYPH_ELLIPSIS), text);
}

/* The beginning of the text, before an ellipsis. */
static void keep_beginning(const struct grid *g, const char *text, int cells, char *to, size_t size)
{
	const char *at = text;
	int used = 0;

	while (*at) {
		const char *next = next_char(at);
		char one[8];

		snprintf(one, sizeof(one), "%.*s", (int)(next - at), at);
		used += grid_width(g, one);
		if (used > cells - 1)
			break;
		at = next;
	}
	snprintf(to, size, "%.*s%s", (int)(at - text), text, grid_glyph(g, GLYPH_ELLIPSIS));
}

/* As many of the innermost parts as there is room for, with the outermost one if that fits. */
static bool cut_parts(const struct grid *g, const char *text, int cells, char *to, size_t size)
{
	const char *dots = grid_glyph(g, GLYPH_ELLIPSIS);
	int16_t starts[PARTS_MAX];
	int n = find_parts(text, starts);

	for (int k = 2; k < n; k++) {
		snprintf(to, size, "%.*s%s::%s", starts[1], text, dots, text + starts[k]);
		if (fits(g, to, cells))
			return true;
	}
	for (int k = 1; k < n; k++) {
		snprintf(to, size, "%s::%s", dots, text + starts[k]);
		if (fits(g, to, cells))
			return true;
	}
	snprintf(to, size, "%s", text + starts[n - 1]);
	return fits(g, to, cells);
}

static bool is_scoped(const char *name)
{
	struct parsed p;

	if (strstr(name, "::"))
		return true;
	parse(&p, name);
	for (int i = 0; i < p.length; i++)
		if (name[i] == '<' && p.end[i])
			return true;
	return false;
}

/* The name of a class template's member, or of a function template, without its arguments. */
static void drop_arguments(const struct grid *g, char *name)
{
	char empty[16];
	size_t length = strlen(name), n;

	snprintf(empty, sizeof(empty), "<%s>", grid_glyph(g, GLYPH_ELLIPSIS));
	n = strlen(empty);
	if (length > n && !strcmp(name + length - n, empty))
		name[length - n] = '\0';
}

static bool shorten(const struct grid *g, const char *name, int cells, char *work, char *to,
		    size_t size)
{
	static const struct {
		char bracket;
		int depth;
	} steps[] = {{'<', 2}, {'<', 1}, {'(', 1}};

	snprintf(work, SHORTNAME_MAX, "%s", name);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		collapse(g, work, steps[i].bracket, steps[i].depth, to);
		if (fits(g, to, cells))
			return true;
		snprintf(work, SHORTNAME_MAX, "%s", to);
	}
	cut_around(work, work);
	snprintf(to, size, "%s", work);
	return fits(g, to, cells) || cut_parts(g, work, cells, to, size);
}

void shortname_fit(const struct grid *g, const char *name, int cells, char *to, size_t size)
{
	char work[SHORTNAME_MAX], text[SHORTNAME_MAX];

	if (cells < 1 || fits(g, name, cells)) {
		snprintf(to, size, "%s", cells < 1 ? "" : name);
	} else if (strlen(name) >= NAME_BYTES || !is_scoped(name)) {
		keep_beginning(g, name, cells, to, size);
	} else if (shorten(g, name, cells, work, text, sizeof(text))) {
		snprintf(to, size, "%s", text);
	} else {
		drop_arguments(g, text);
		if (fits(g, text, cells))
			snprintf(to, size, "%s", text);
		else
			keep_end(g, text, cells, to, size);
	}
}

/* The separator of parts that follows: "." of Python, Java and JavaScript, "::" and "#" of Ruby,
 * "\\" of PHP. NULL: none. */
static const char *next_part(const char *name, const char *separators)
{
	name += strspn(name, separators);
	name += strcspn(name, separators);
	return *name ? name : NULL;
}

static void keep_parts(const struct grid *g, const char *name, const char *separators, int cells,
		       char *to, size_t size)
{
	const char *dots = grid_glyph(g, GLYPH_ELLIPSIS);

	for (const char *at = next_part(name, separators); at; at = next_part(at, separators))
		if (grid_width(g, dots) + grid_width(g, at) <= cells) {
			snprintf(to, size, "%s%s", dots, at);
			return;
		}
	keep_end(g, name, cells, to, size);
}

void shortname_func(const struct grid *g, const struct profile_func *func, int cells, char *to,
		    size_t size)
{
	char name[SHORTNAME_MAX];

	names_show(func, name, sizeof(name));
	if (func_is_language(func->kind) && cells >= 1 && !fits(g, name, cells))
		keep_parts(g, name, ".:#\\", cells, to, size);
	else
		shortname_fit(g, name, cells, to, size);
}

void shortname_path(const struct grid *g, const char *path, int cells, char *to, size_t size)
{
	if (cells < 1 || fits(g, path, cells))
		snprintf(to, size, "%s", cells < 1 ? "" : path);
	else if (strchr(path, '/'))
		keep_parts(g, path, "/", cells, to, size);
	else
		keep_beginning(g, path, cells, to, size);
}

/* Bytes of the text that fit: up to a blank, or behind a character that parts of names end with, if
 * that is not far from the end. */
static int bytes_of_row(const struct grid *g, const char *text, int width)
{
	const char *at = text, *good = text;
	int used = 0, good_used = 0;

	while (*at) {
		const char *next = next_char(at);
		char one[8];

		snprintf(one, sizeof(one), "%.*s", (int)(next - at), at);
		used += grid_width(g, one);
		if (used > width)
			break;
		at = next;
		if (strchr(" ,:/", at[-1])) {
			good = at;
			good_used = used;
		}
	}
	if (*at && good_used > width / 2)
		at = good;
	return (int)(at == text ? next_char(text) - text : at - text);
}

int shortname_wrap(struct grid *g, int row, int rows, int col, int width, enum role role,
		   const char *name)
{
	char part[SHORTNAME_MAX];
	int n = 0;

	for (; *name && width > 0; n++) {
		int bytes = bytes_of_row(g, name, width);

		snprintf(part, sizeof(part), "%.*s", n == rows - 1 ? (int)strlen(name) : bytes,
			 name);
		if (n < rows)
			grid_fit(g, row + n, col, width, role, part);
		name += bytes;
	}
	return n;
}

void shortname_draw(struct grid *g, int row, int col, int width, enum role role, const char *name)
{
	char text[SHORTNAME_MAX];

	if (width > g->cols - col)
		width = g->cols - col;
	shortname_fit(g, name, width, text, sizeof(text));
	grid_fit(g, row, col, width, role, text);
}
