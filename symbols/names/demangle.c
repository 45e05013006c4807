/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libiberty does the demangling; this file adds distrust. A name of a few hundred bytes can expand
 * to gigabytes (back references double it at every step), so the text is taken piece by piece
 * through libiberty's callback, and abandoned by longjmp when it gets too long. Names that would
 * take long without any text are refused before (*_is_bounded, packs_are_bounded).
 */
#include "symbols/names/demangle.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "symbols/names/langname.h"

#define MANGLED_MAX    4096u /* libiberty itself refuses C++ names above 1024 */
#define DEMANGLED_MAX  8192u
#define PACKS_MAX      1024u /* as libiberty, whose recursion is not bounded in a part of it */
#define ENTRIES_MAX    8192u /* of a C++ name with packs */
#define BOUND_MAX      256u  /* lifetimes of a name, 50 ns each; real names have a few */
#define REREAD_MAX     8u    /* template template parameters beside a conversion operator */
#define NAME_MAX_BYTES 8192u /* more than any name that comes here has */
#define D_MANGLED_MAX  2048u /* bounds its recursion */
#define D_BACK_MAX     16u   /* back references of types: what they make grows by 3 for every 3 */

struct demangle_output {
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
 * is never all ASCII: jumping out at any other piece leaks nothing.
 */
static void output_add(const char *data, size_t length, void *arg)
{
	struct demangle_output *out = arg;

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

/*
 * Subtracts the size of a C++ name from *left, a substitution each time that it is named. An entry
 * of a rarer kind takes all.
 */
static void entries_count(const struct demangle_component *c, unsigned int depth, size_t *left)
{
	if (!c || !*left)
		return;
	--*left;
	switch (c->type) {
	case DEMANGLE_COMPONENT_TEMPLATE_PARAM:
	case DEMANGLE_COMPONENT_NAME:
	case DEMANGLE_COMPONENT_OPERATOR:
	case DEMANGLE_COMPONENT_BUILTIN_TYPE:
	case DEMANGLE_COMPONENT_SUB_STD:
	case DEMANGLE_COMPONENT_CHARACTER:
	case DEMANGLE_COMPONENT_FUNCTION_PARAM:
	case DEMANGLE_COMPONENT_NUMBER:
	case DEMANGLE_COMPONENT_LAMBDA:
	case DEMANGLE_COMPONENT_UNNAMED_TYPE:
	case DEMANGLE_COMPONENT_DEFAULT_ARG:
	case DEMANGLE_COMPONENT_TAGGED_NAME:
		return;
	case DEMANGLE_COMPONENT_CTOR:
		entries_count(c->u.s_ctor.name, depth + 1, left);
		return;
	case DEMANGLE_COMPONENT_DTOR:
		entries_count(c->u.s_dtor.name, depth + 1, left);
		return;
	case DEMANGLE_COMPONENT_PACK_EXPANSION:
	case DEMANGLE_COMPONENT_QUAL_NAME:
	case DEMANGLE_COMPONENT_VTABLE:
	case DEMANGLE_COMPONENT_VTT:
	case DEMANGLE_COMPONENT_CONSTRUCTION_VTABLE:
	case DEMANGLE_COMPONENT_TYPEINFO:
	case DEMANGLE_COMPONENT_TYPEINFO_NAME:
	case DEMANGLE_COMPONENT_TYPEINFO_FN:
	case DEMANGLE_COMPONENT_THUNK:
	case DEMANGLE_COMPONENT_VIRTUAL_THUNK:
	case DEMANGLE_COMPONENT_COVARIANT_THUNK:
	case DEMANGLE_COMPONENT_GUARD:
	case DEMANGLE_COMPONENT_TLS_INIT:
	case DEMANGLE_COMPONENT_TLS_WRAPPER:
	case DEMANGLE_COMPONENT_REFTEMP:
	case DEMANGLE_COMPONENT_HIDDEN_ALIAS:
	case DEMANGLE_COMPONENT_COMPOUND_NAME:
	case DEMANGLE_COMPONENT_GLOBAL_CONSTRUCTORS:
	case DEMANGLE_COMPONENT_GLOBAL_DESTRUCTORS:
	case DEMANGLE_COMPONENT_TRANSACTION_CLONE:
	case DEMANGLE_COMPONENT_NONTRANSACTION_CLONE:
	case DEMANGLE_COMPONENT_TRANSACTION_SAFE:
	case DEMANGLE_COMPONENT_CLONE:
	case DEMANGLE_COMPONENT_LOCAL_NAME:
	case DEMANGLE_COMPONENT_TYPED_NAME:
	case DEMANGLE_COMPONENT_TEMPLATE:
	case DEMANGLE_COMPONENT_CONST:
	case DEMANGLE_COMPONENT_VOLATILE:
	case DEMANGLE_COMPONENT_RESTRICT:
	case DEMANGLE_COMPONENT_CONST_THIS:
	case DEMANGLE_COMPONENT_VOLATILE_THIS:
	case DEMANGLE_COMPONENT_RESTRICT_THIS:
	case DEMANGLE_COMPONENT_REFERENCE_THIS:
	case DEMANGLE_COMPONENT_RVALUE_REFERENCE_THIS:
	case DEMANGLE_COMPONENT_POINTER:
	case DEMANGLE_COMPONENT_REFERENCE:
	case DEMANGLE_COMPONENT_RVALUE_REFERENCE:
	case DEMANGLE_COMPONENT_VENDOR_TYPE_QUAL:
	case DEMANGLE_COMPONENT_COMPLEX:
	case DEMANGLE_COMPONENT_IMAGINARY:
	case DEMANGLE_COMPONENT_VENDOR_TYPE:
	case DEMANGLE_COMPONENT_FUNCTION_TYPE:
	case DEMANGLE_COMPONENT_ARRAY_TYPE:
	case DEMANGLE_COMPONENT_PTRMEM_TYPE:
	case DEMANGLE_COMPONENT_VECTOR_TYPE:
	case DEMANGLE_COMPONENT_ARGLIST:
	case DEMANGLE_COMPONENT_TEMPLATE_ARGLIST:
	case DEMANGLE_COMPONENT_INITIALIZER_LIST:
	case DEMANGLE_COMPONENT_CAST:
	case DEMANGLE_COMPONENT_CONVERSION:
	case DEMANGLE_COMPONENT_NULLARY:
	case DEMANGLE_COMPONENT_UNARY:
	case DEMANGLE_COMPONENT_BINARY:
	case DEMANGLE_COMPONENT_BINARY_ARGS:
	case DEMANGLE_COMPONENT_TRINARY:
	case DEMANGLE_COMPONENT_TRINARY_ARG1:
	case DEMANGLE_COMPONENT_TRINARY_ARG2:
	case DEMANGLE_COMPONENT_LITERAL:
	case DEMANGLE_COMPONENT_LITERAL_NEG:
	case DEMANGLE_COMPONENT_DECLTYPE:
	case DEMANGLE_COMPONENT_NOEXCEPT:
	case DEMANGLE_COMPONENT_THROW_SPEC:
		if (depth < MANGLED_MAX) {
			entries_count(c->u.s_binary.left, depth + 1, left);
			entries_count(c->u.s_binary.right, depth + 1, left);
			return;
		}
		break;
	default:
		break;
	}
	*left = 0;
}

/*
 * To expand a pack ("Dp", "sp"), libiberty searches for it in all that is to be repeated, and in
 * each substitution each time that it is named, before there is any text: a type that names the one
 * before it twice, 40 times, takes 2^40 steps.
 */
static bool packs_are_bounded(const char *name)
{
	struct demangle_component *root;
	size_t left = ENTRIES_MAX;
	void *memory = NULL;

	if (!strstr(name, "Dp") && !strstr(name, "sp"))
		return true;
	if (strlen(name) > PACKS_MAX)
		return false;
	root = cplus_demangle_v3_components(name, DMGL_NO_OPTS, &memory);
	entries_count(root, 0, &left);
	free(memory);
	return left > 0;
}

/*
 * libiberty bounds its depth, and output_add bounds the text; neither helps where it loops without
 * any text. There are two such places:
 *
 * Rust's binder "G" and a number in base 62 follow the "F" of a function type or the "D" of a trait
 * object and say how many lifetimes follow, which are made up one by one, even in the path of an
 * impl, which is not shown: `_RMIC1aFGzzzzzzzz_EuEu` takes 62^8 turns.
 *
 * In the type of a C++ conversion operator ("cv") it is ambiguous to what the arguments of a
 * template template parameter ("T_I") belong. They are read, given back and read again, and so are
 * those within them: `_ZcvT_IT_IT_I...` takes 2^n turns.
 */

/* Value of a digit in base 62; -1: it is not a digit. */
static int digit62(char c)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	if (islower((unsigned char)c))
		return c - 'a' + 10;
	return isupper((unsigned char)c) ? c - 'A' + 36 : -1;
}

/* The number up to '_'; 0: there is none. A number that is too large stays too large. */
static uint64_t number62(const char *at)
{
	uint64_t value = 0;

	for (; digit62(*at) >= 0; at++)
		if (value <= BOUND_MAX)
			value = value * 62 + (uint64_t)digit62(*at);
	return *at == '_' ? value + 1 : 0;
}

/* Behind "s", a number and "_", if they are there. */
static const char *disambiguator_skip(const char *at)
{
	const char *start = at;

	if (*at++ != 's')
		return start;
	while (digit62(*at) >= 0)
		at++;
	return *at == '_' ? at + 1 : start;
}

/* Behind an identifier: its length, "_" if it begins with a digit, and so many bytes; or NULL. */
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

/* True for a name of a crate and paths in it: identifiers only, and no binder. */
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

/* A G within an identifier looks like a binder, too. */
static bool rust_is_bounded(const char *name)
{
	uint64_t bound = 0;

	for (const char *at = name; *at && bound <= BOUND_MAX; at++)
		if ((at[0] == 'F' || at[0] == 'D') && at[1] == 'G')
			bound += number62(at + 2);
	return bound <= BOUND_MAX || rust_is_plain(name);
}

/* True at a template parameter that is followed by arguments: "T_I", "T0_I", "TL0__I". */
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

/* The whole name as Rust, or up to its compiler's marks as C++, which ignores what follows. */
static bool demangle_to(struct demangle_output *out, const char *name)
{
	int done;

	out->length = 0;
	if (!strncmp(name, "_R", 2) ? !rust_is_bounded(name) : !cplus_is_bounded(name))
		return false;
	if (setjmp(out->overflow))
		return false;
	/* Rust first: its legacy names are well-formed C++ names, too. */
	done = rust_demangle_callback(name, DMGL_NO_OPTS, output_add, out);
	if (!done && packs_are_bounded(name)) {
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
 * Legacy Rust names contain dots, but none that is followed by marks only.
 */
static size_t unmarked_length(const char *name, size_t length)
{
	const char *end = name + length, *mark;

	while ((mark = mark_before(name, end)))
		end = mark;
	return end - name;
}

/*
 * Marks tell which part of a function this is, and are kept; a number made up by LLVM tells
 * nothing.
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

/* A C++ view of a legacy Rust name with a hash that libiberty did not recognise. */
static size_t cut_hash(const char *text, size_t length)
{
	const char *hash = text + length - 19;

	if (length <= 19 || memcmp(hash, "::h", 3) || strspn(hash + 3, "0123456789abcdef") < 16)
		return length;
	return length - 19;
}

/*
 * True if all back references of a D name together stay small. Those of identifiers copy some
 * bytes, but types may refer to types that refer to types. libiberty has no callback for D and does
 * not bound its output. A back reference is "Q" and a number in base 26 that ends with a small
 * letter (D ABI, "Back references"). A Q within an identifier counts, too, if it looks like one.
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
 * Turns "module.function(int).inner(char) const" into "module.function(int).inner", but leaves
 * "name!(int)".
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

static char *demangle_with(struct demangle_output *out, const char *name, size_t length)
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

/* Compilers append marks to these names, too. */
static char *demangle_other(const char *name, size_t length, unsigned int languages)
{
	char *text = malloc(DEMANGLED_MAX + 1);
	const size_t plain = unmarked_length(name, length);
	char *head = strndup(name, plain);
	bool found = false;

	if (text && head && langname(name, languages, text, DEMANGLED_MAX + 1)) {
		found = true;
	} else if (text && head && plain < length &&
		   langname(head, languages, text, DEMANGLED_MAX + 1 - (length - plain))) {
		copy_marks(text + strlen(text), name + plain);
		found = true;
	}
	if (!found && text && head) {
		free(text);
		text = strdup(name);
	}
	if (!head) {
		free(text);
		text = NULL;
	}
	free(head);
	return text;
}

char *demangle(const char *name)
{
	return demangle_in(name, 0);
}

char *demangle_in(const char *name, unsigned int languages)
{
	size_t length = strnlen(name, MANGLED_MAX + 1);
	struct demangle_output *out;
	char *result;

	if (length <= MANGLED_MAX && !strncmp(name, "_D", 2))
		return demangle_d(name, length);
	if (length > MANGLED_MAX)
		return strdup(name);
	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R'))
		return demangle_other(name, length, languages);
	out = malloc(sizeof(*out));
	if (!out)
		return NULL;
	result = demangle_with(out, name, length);
	free(out);
	return result;
}
