/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An address of a C library often has four names or more. The choice among them must be the same in
 * every run and on every machine, or one function would show up as two.
 */
#include "symbols/names/symname.h"

#include <string.h>

static size_t leading_underscores(const struct symname *name)
{
	size_t n = 0;

	while (n < name->length && name->text[n] == '_')
		n++;
	return n;
}

int symname_compare(const struct symname *a, const struct symname *b)
{
	size_t left, right;
	int order;

	if (a->binding != b->binding)
		return a->binding < b->binding ? -1 : 1;
	left = leading_underscores(a);
	right = leading_underscores(b);
	if (left != right)
		return left < right ? -1 : 1;
	if (a->length != b->length)
		return a->length < b->length ? -1 : 1;
	order = memcmp(a->text, b->text, a->length);
	return order < 0 ? -1 : order > 0;
}

/* OCaml's compiler puts a label with the name of the file before and behind its code. */
static bool is_border(const char *text, size_t length)
{
	static const char begin[] = "code_begin", end[] = "code_end";

	return length > strlen("caml") + strlen(begin) && !memcmp(text, "caml", strlen("caml")) &&
	       (!memcmp(text + length - strlen(begin), begin, strlen(begin)) ||
		!memcmp(text + length - strlen(end), end, strlen(end)));
}

bool symname_is_marker(const char *text, size_t length)
{
	if (!length || text[0] == '.')
		return true;
	if (length >= 2 && text[0] == '$' && strchr("adtx", text[1]) && text[1] &&
	    (length == 2 || text[2] == '.'))
		return true;
	if (is_border(text, length))
		return true;
	return length >= 6 && !memcmp(text, "__pfx_", 6);
}

size_t symname_cut_version(const char *text, size_t length)
{
	const char *at;

	if (length < 2)
		return length;
	at = memchr(text + 1, '@', length - 1);
	return at ? (size_t)(at - text) : length;
}
