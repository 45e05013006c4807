/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libiberty does the demangling; what is added here is distrust. A name of a few hundred bytes can
 * stand for a text of gigabytes (back references double it at every step), so the text is taken
 * piece by piece through libiberty's callback, and left by longjmp when it gets too long; what
 * takes long without a text is told before (mangled.c).
 */
#include "symbols/demangle.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "symbols/mangled.h"

#define MANGLED_MAX   4096u /* libiberty itself refuses C++ names above 1024 */
#define DEMANGLED_MAX 8192u
#define D_MANGLED_MAX 2048u /* bounds its recursion */
#define D_BACK_MAX    16u   /* back references of types: what they make grows by 3 for every 3 */

struct output {
	jmp_buf overflow;
	size_t length;
	char text[DEMANGLED_MAX + 1];
};

static bool all_ascii(const char *data, size_t length)
{
	while (length--)
		if ((unsigned char)data[length] >= 0x80)
			return false;
	return true;
}

/*
 * The only memory that libiberty holds while it calls back is a decoded Punycode identifier, which
 * is never all ASCII: leaving at any other piece leaks nothing.
 */
static void output_add(const char *data, size_t length, void *arg)
{
	struct output *out = arg;

	if (!length) /* libiberty may pass NULL then, which memcpy must not get */
		return;
	if (length <= DEMANGLED_MAX - out->length) {
		memcpy(out->text + out->length, data, length);
		out->length += length;
		return;
	}
	out->length = DEMANGLED_MAX;
	if (all_ascii(data, length))
		longjmp(out->overflow, 1);
}

/* The whole name as Rust, or up to its compiler's marks as C++, which ignores what follows. */
static bool demangle_to(struct output *out, const char *name)
{
	int done;

	out->length = 0;
	if (!mangled_is_bounded(name))
		return false;
	if (setjmp(out->overflow))
		return false;
	/* Rust first: its legacy names are well-formed C++ names, too. */
	done = rust_demangle_callback(name, DMGL_NO_OPTS, output_add, out);
	if (!done) {
		out->length = 0;
		done = cplus_demangle_v3_callback(name, DMGL_NO_OPTS, output_add, out);
	}
	return done && out->length && out->length < DEMANGLED_MAX &&
	       !memchr(out->text, '\0', out->length);
}

/* One mark, going backwards from end: a dot and small letters, or a dot and digits. */
static const char *mark_before(const char *name, const char *end)
{
	const char *p = end;

	while (p > name && isdigit((unsigned char)p[-1]))
		p--;
	if (p == end)
		while (p > name && (islower((unsigned char)p[-1]) || p[-1] == '_'))
			p--;
	return p < end && p > name && p[-1] == '.' ? p - 1 : NULL;
}

/*
 * Length of the name without the marks that compilers append (`.cold`, `.part.0.constprop.1`).
 * Legacy Rust names have dots of their own, but none that only marks follow.
 */
static size_t unmarked_length(const char *name, size_t length)
{
	const char *end = name + length, *mark;

	while ((mark = mark_before(name, end)))
		end = mark;
	return end - name;
}

/* Marks say which part of a function this is, and are kept; a number made up by LLVM says nothing.
 */
static void copy_marks(char *to, const char *marks)
{
	size_t length = 0;

	while (*marks) {
		if (!strncmp(marks, ".llvm.", 6)) {
			marks += 6;
			marks += strspn(marks, "0123456789");
			continue;
		}
		to[length++] = *marks++;
	}
	to[length] = '\0';
}

/* A C++ view of a legacy Rust name whose hash libiberty did not recognise. */
static size_t cut_hash(const char *text, size_t length)
{
	const char *hash = text + length - 19;

	if (length <= 19 || memcmp(hash, "::h", 3) || strspn(hash + 3, "0123456789abcdef") < 16)
		return length;
	return length - 19;
}

/*
 * Whether all back references of a D name together stay small: those of identifiers copy some
 * bytes, but types may refer to types that refer to types. libiberty takes no callback for D and
 * does not bound what it makes. "Q", then a number in base 26 whose last digit is a small letter (D
 * ABI, "Back references"). A Q within an identifier is counted, too, if it looks like one.
 */
static bool d_is_bounded(const char *name, size_t length)
{
	size_t back, at, i, types = 0;

	if (length > D_MANGLED_MAX)
		return false;
	for (at = 0; at < length; at++) {
		if (name[at] != 'Q')
			continue;
		for (back = 0, i = at + 1; isupper((unsigned char)name[i]) && back < length; i++)
			back = back * 26 + (size_t)(name[i] - 'A');
		if (!islower((unsigned char)name[i]))
			continue;
		back = back * 26 + (size_t)(name[i] - 'a');
		if (back <= at && !isdigit((unsigned char)name[at - back]))
			types++;
	}
	return types <= D_BACK_MAX;
}

/*
 * "module.function(int).inner(char) const" to "module.function(int).inner", but "name!(int)" is
 * left.
 */
static void d_cut_parameters(char *text)
{
	char *end = strrchr(text, ')'), *at = end;
	int depth = 0;

	if (!end || end[1 + strspn(end + 1, " abcdefghijklmnopqrstuvwxyz")])
		return;
	for (; at > text; at--) {
		depth += (*at == ')') - (*at == '(');
		if (!depth)
			break;
	}
	if (at > text && at[-1] != '!')
		*at = '\0';
}

static char *demangle_d(const char *name, size_t length)
{
	char *text = d_is_bounded(name, length) ? dlang_demangle(name, DMGL_NO_OPTS) : NULL;

	if (!text || strlen(text) > DEMANGLED_MAX) {
		free(text);
		return strdup(name);
	}
	d_cut_parameters(text);
	return text;
}

static char *demangle_with(struct output *out, const char *name, size_t length)
{
	size_t plain = unmarked_length(name, length);
	char *head = strndup(name, plain), *result;

	if (!head)
		return NULL;
	if (!demangle_to(out, head)) {
		free(head);
		return strdup(name);
	}
	free(head);
	out->text[out->length] = '\0';
	out->length = cut_hash(out->text, out->length);
	result = malloc(out->length + length - plain + 1);
	if (!result)
		return NULL;
	memcpy(result, out->text, out->length);
	copy_marks(result + out->length, name + plain);
	return result;
}

char *demangle(const char *name)
{
	size_t length = strnlen(name, MANGLED_MAX + 1);
	struct output *out;
	char *result;

	if (length <= MANGLED_MAX && !strncmp(name, "_D", 2))
		return demangle_d(name, length);
	if (length > MANGLED_MAX || name[0] != '_' || (name[1] != 'Z' && name[1] != 'R'))
		return strdup(name);
	out = malloc(sizeof(*out));
	if (!out)
		return NULL;
	result = demangle_with(out, name, length);
	free(out);
	return result;
}
