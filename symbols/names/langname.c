// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See langname.h. The encodings: GHC's compiler/GHC/Utils/Encoding.hs (Z-encoding), OCaml's
 * asmcomp/compilenv.ml, gfortran's trans-decl.cc (gfc_sym_mangled_function_id), Free Pascal's
 * compiler/symdef.pas (make_mangledname). Any name takes one pass from left to right.
 */
#include "symbols/names/langname.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

struct text {
	char *at;
	size_t left; /* with room for the NUL */
	bool failed;
};

static void text_put(struct text *t, const char *data, size_t length)
{
	t->failed |= length >= t->left;
	if (t->failed)
		return;
	memcpy(t->at, data, length);
	t->at += length;
	t->left -= length;
	*t->at = '\0';
}

static void text_puts(struct text *t, const char *data)
{
	text_put(t, data, strlen(data));
}

/* A character as UTF-8. */
static void text_put_code(struct text *t, uint32_t code)
{
	const char bytes[] = {(char)(0xf0 | code >> 18), (char)(0x80 | (code >> 12 & 63)),
			      (char)(0x80 | (code >> 6 & 63)), (char)(0x80 | (code & 63))};
	char one = (char)code, two = (char)(0xc0 | code >> 6), three = (char)(0xe0 | code >> 12);

	t->failed |= !code || code > 0x10ffff;
	if (code < 0x80) {
		text_put(t, &one, 1);
	} else if (code < 0x800) {
		text_put(t, &two, 1);
		text_put(t, bytes + 3, 1);
	} else if (code < 0x10000) {
		text_put(t, &three, 1);
		text_put(t, bytes + 2, 2);
	} else {
		text_put(t, bytes, 4);
	}
}

/* The mark ("_", ".") and digits at the end are not part of it. */
static size_t length_without_number(const char *name, size_t length, char mark)
{
	size_t n = length;

	while (n && isdigit((unsigned char)name[n - 1]))
		n--;
	return n < length && n > 1 && name[n - 1] == mark ? n - 1 : length;
}

/* --- Fortran: __MODULE_MOD_PROCEDURE --------------------------------------------------------- */

static bool fortran(const char *name, struct text *to)
{
	const char *mod = strstr(name, "_MOD_");

	if (strncmp(name, "__", 2) != 0 || !mod || mod == name + 1 || mod == name + 2 ||
	    !mod[strlen("_MOD_")])
		return false;
	text_put(to, name + 2, (size_t)(mod - name - 2));
	text_puts(to, "::");
	text_puts(to, mod + strlen("_MOD_"));
	return true;
}

/* --- OCaml: camlUNIT__FUNCTION_STAMP, camlUNIT.FUNCTION_STAMP from 5.1 on --------------------- */

static int hex_digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A unit `A__B` is B of the library A: its own name is that of the module. */
static bool ocaml(const char *name, struct text *to)
{
	size_t length = strlen(name), end = length_without_number(name, length, '_');
	const char *at = name + strlen("caml"), *last = name;
	if (strncmp(name, "caml", 4) != 0 || !isupper((unsigned char)*at))
		return false;
	for (const char *p = at; p < name + end; p++)
		if (*p == '.' || (p[0] == '_' && p[1] == '_' && p[-1] != '_'))
			last = p + (*p == '.' ? 1 : 2);
	if (last == name || last >= name + end || (end == length && strcmp(last, "entry") != 0))
		return false;
	while (at < name + end) {
		int high = *at == '$' ? hex_digit(at[1]) : -1;
		int low = high >= 0 ? hex_digit(at[2]) : -1;

		if (low >= 0) {
			text_put_code(to, (uint32_t)(high << 4 | low));
			at += 3;
		} else if (at[0] == '_' && at[1] == '_' && at[-1] != '_' && at < last) {
			text_puts(to, ".");
			at += 2;
		} else {
			text_put(to, at++, 1);
		}
	}
	return true;
}

/* --- Haskell: PACKAGE_MODULE_NAME_info, without package in the main one ---------------------- */

struct haskell_letter {
	char code, meaning;
};

static const struct haskell_letter haskell_upper[] = {{'L', '('}, {'R', ')'}, {'M', '['},
						      {'N', ']'}, {'C', ':'}, {'Z', 'Z'}};
static const struct haskell_letter haskell_lower[] = {
	{'z', 'z'},  {'a', '&'}, {'b', '|'}, {'c', '^'}, {'d', '$'}, {'e', '='}, {'g', '>'},
	{'h', '#'},  {'i', '.'}, {'l', '<'}, {'m', '-'}, {'n', '!'}, {'p', '+'}, {'q', '\''},
	{'r', '\\'}, {'s', '/'}, {'t', '*'}, {'u', '_'}, {'v', '%'},
};

/* '\0': not one of these. */
static char haskell_meaning(const struct haskell_letter *letters, size_t n, char code)
{
	for (size_t i = 0; i < n; i++)
		if (letters[i].code == code)
			return letters[i].meaning;
	return '\0';
}

/* Tuples, Z3T is (,,) and Z2H is (#,#). Returns what follows, or NULL. */
static const char *haskell_tuple(const char *at, struct text *to)
{
	char *end;
	unsigned long n = strtoul(at, &end, 10);

	if (n > 64 || (*end != 'T' && *end != 'H'))
		return NULL;
	text_puts(to, *end == 'H' ? "(#" : "(");
	while (n-- > 1)
		text_puts(to, ",");
	text_puts(to, *end == 'H' ? "#)" : ")");
	return end + 1;
}

/* One part, up to `end`; false: it is not Z-encoded. */
static bool haskell_part(const char *at, const char *end, struct text *to)
{
	const char *begin = at;

	while (at && at < end && !to->failed) {
		const bool upper = *at == 'Z';
		char meaning;
		char *last;

		if (*at != 'z' && *at != 'Z') {
			text_put(to, at++, 1);
			continue;
		}
		at++;
		if (isdigit((unsigned char)*at) && upper) {
			at = haskell_tuple(at, to);
			continue;
		}
		if (isdigit((unsigned char)*at)) { /* a character by its number */
			text_put_code(to, (uint32_t)strtoul(at, &last, 16));
			at = *last == 'U' ? last + 1 : NULL;
			continue;
		}
		meaning =
			upper ? haskell_meaning(haskell_upper,
						sizeof(haskell_upper) / sizeof(*haskell_upper), *at)
			      : haskell_meaning(haskell_lower,
						sizeof(haskell_lower) / sizeof(*haskell_lower),
						*at);
		if (!meaning)
			return false;
		text_put(to, &meaning, 1);
		at++;
	}
	return at == end && at > begin;
}

/* Length of the name without what tells the kinds of code of a closure; 0: it is none. */
static size_t haskell_length(const char *name)
{
	static const char *const ends[] = {"_con_info",	 "_static_info",  "_info",
					   "_con_entry", "_static_entry", "_entry",
					   "_slow",	 "_fast",	  "_ret"};
	const size_t length = strlen(name);

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		const size_t n = strlen(ends[i]);

		if (length > n && !strcmp(name + length - n, ends[i]))
			return length - n;
	}
	return 0;
}

/* The module: behind the package, if there is one. NULL: this is not such a name. */
static const char *haskell_module(const char *name, size_t length)
{
	const char *end = name + length, *first = memchr(name, '_', length), *second;

	if (!first || first == name)
		return NULL;
	second = memchr(first + 1, '_', (size_t)(end - first - 1));
	if (!second)
		return isupper((unsigned char)*name) ? name : NULL;
	if (memchr(second + 1, '_', (size_t)(end - second - 1)))
		return NULL;
	return isupper((unsigned char)first[1]) ? first + 1 : NULL;
}

static bool haskell(const char *name, struct text *to)
{
	const size_t length = haskell_length(name);
	const char *module = length ? haskell_module(name, length) : NULL, *end = name + length;
	const char *function;

	if (!module)
		return false;
	function = memchr(module, '_', (size_t)(end - module));
	if (!function || !haskell_part(module, function, to))
		return false;
	text_puts(to, ".");
	return haskell_part(function + 1, end, to);
}

/* --- Pascal: UNIT$_$CLASS_$__$$_METHOD$PARAMETER$$RESULT ------------------------------------- */

/* The scope up to `end`; each part of it may have parameters of its own. */
static void pascal_scope(const char *at, const char *end, struct text *to)
{
	bool skipping = false;

	if (!strncmp(at, "P$", 2)) /* the program */
		at += 2;
	while (at < end) {
		const bool inner =
			end - at >= 3 && (!memcmp(at, "$_$", 3) || !memcmp(at, "_$_", 3));

		if (inner && at + 3 < end)
			text_puts(to, ".");
		skipping = inner ? false : skipping || *at == '$';
		if (!inner && !skipping)
			text_put(to, at, 1);
		at += inner ? 3 : 1;
	}
}

static bool pascal(const char *name, struct text *to)
{
	static const char mark[] = "_$$_";
	const char *at = strstr(name, mark);
	size_t length;

	if (!at || !isupper((unsigned char)*name))
		return false;
	pascal_scope(name, at, to);
	at += strlen(mark);
	length = strcspn(at, "$");
	text_puts(to, ".");
	text_put(to, at, length);
	return length > 0;
}

/* --- Ada: PACKAGE__PROCEDURE__2 -------------------------------------------------------------- */

/* libiberty gives what it does not know in angle brackets. */
static bool ada(const char *name, struct text *to)
{
	char *text = ada_demangle(name, DMGL_NO_OPTS);
	const bool good = text && *text && *text != '<';

	if (good)
		text_puts(to, text);
	free(text);
	return good;
}

/* --- all ------------------------------------------------------------------------------------- */

unsigned int langname_asks(const char *name)
{
	const char *pair = strstr(name, "__");

	if (haskell_length(name) && haskell_module(name, haskell_length(name)))
		return LANGNAME_HASKELL;
	if (!strncmp(name, "_ada_", 5) || (islower((unsigned char)*name) && pair && pair[2]))
		return LANGNAME_ADA;
	return 0;
}

const char *langname_runtime(unsigned int language)
{
	return language == LANGNAME_HASKELL ? "stg_" : "__gnat_";
}

bool langname(const char *name, unsigned int languages, char *to, size_t room)
{
	const unsigned int language = langname_asks(name) & languages;
	struct text text = {to, room, false};
	bool found;

	*to = '\0';
	found = name[0] == '_'	 ? fortran(name, &text)
		: name[0] == 'c' ? ocaml(name, &text)
				 : pascal(name, &text);
	if (!found && language) {
		text = (struct text){to, room, false};
		found = language == LANGNAME_HASKELL ? haskell(name, &text) : ada(name, &text);
	}
	return found && !text.failed && *to;
}
