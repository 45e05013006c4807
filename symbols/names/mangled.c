// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libiberty bounds how deep it goes, and demangle.c how much comes out; neither helps where it goes
 * round without a word. There are two such places:
 *
 * Rust's binder "G", and a number in base 62, stands behind the "F" of a function type or the "D"
 * of a trait object and says how many lifetimes follow, which are made up one by one, also within
 * the path of an impl, of which nothing is shown: `_RMIC1aFGzzzzzzzz_EuEu` takes 62^8 turns.
 *
 * In the type of a C++ conversion operator ("cv") it is unclear whose the arguments of a template
 * template parameter ("T_I") are. They are read, given back and read again, and so are those within
 * them: `_ZcvT_IT_IT_I...` takes 2^n turns.
 */
#include "symbols/names/mangled.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#define BOUND_MAX      256u  /* lifetimes of a name, 50 ns each; people write a few */
#define REREAD_MAX     8u    /* template template parameters beside a conversion operator */
#define NAME_MAX_BYTES 8192u /* more than any name that comes here has */

/* Value of a digit in base 62, -1: it is none. */
static int digit62(char c)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	if (islower((unsigned char)c))
		return c - 'a' + 10;
	return isupper((unsigned char)c) ? c - 'A' + 36 : -1;
}

/* The number up to '_', 0 when there is none. What is too large stays too large. */
static uint64_t number62(const char *at)
{
	uint64_t value = 0;

	for (; digit62(*at) >= 0; at++)
		if (value <= BOUND_MAX)
			value = value * 62 + (uint64_t)digit62(*at);
	return *at == '_' ? value + 1 : 0;
}

/* Behind "s", a number and "_", where that is there. */
static const char *disambiguator_skip(const char *at)
{
	const char *start = at;

	if (*at++ != 's')
		return start;
	while (digit62(*at) >= 0)
		at++;
	return *at == '_' ? at + 1 : start;
}

/* Behind an identifier: its length, "_" where it begins with a digit, and so many bytes; or NULL.
 */
static const char *identifier_skip(const char *at)
{
	size_t length = 0;

	at = disambiguator_skip(at);
	at += *at == 'u';
	if (!isdigit((unsigned char)*at))
		return NULL;
	if (*at == '0')
		at++;
	else
		for (; isdigit((unsigned char)*at); at++)
			if (length <= NAME_MAX_BYTES)
				length = length * 10 + (size_t)(*at - '0');
	at += *at == '_';
	return strnlen(at, length) == length ? at + length : NULL;
}

/* True for nothing but a crate and what is in it by name: identifiers only, and no binder. */
static bool rust_is_plain(const char *name)
{
	const char *at = name + strlen("_R");
	size_t depth = 1;

	for (; at[0] == 'N' && isalpha((unsigned char)at[1]); at += 2)
		depth++;
	if (*at++ != 'C')
		return false;
	while (depth-- && (at = identifier_skip(at)))
		;
	return at && !*at;
}

/* A G within an identifier looks like a binder's, too. */
static bool rust_is_bounded(const char *name)
{
	uint64_t bound = 0;

	for (const char *at = name; *at && bound <= BOUND_MAX; at++)
		if ((at[0] == 'F' || at[0] == 'D') && at[1] == 'G')
			bound += number62(at + 2);
	return bound <= BOUND_MAX || rust_is_plain(name);
}

/* True at a template parameter that arguments follow: "T_I", "T0_I", "TL0__I". */
static bool is_applied(const char *at)
{
	if (*at != 'T')
		return false;
	at++;
	while (isdigit((unsigned char)*at) || *at == 'L' || *at == '_')
		if (*at++ == '_' && *at == 'I')
			return true;
	return false;
}

static bool cplus_is_bounded(const char *name)
{
	unsigned int applied = 0;

	if (!strstr(name, "cv"))
		return true;
	for (; *name; name++)
		applied += is_applied(name);
	return applied <= REREAD_MAX;
}

bool mangled_is_bounded(const char *name)
{
	return !strncmp(name, "_R", 2) ? rust_is_bounded(name) : cplus_is_bounded(name);
}
