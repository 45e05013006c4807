// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See perl_check.h. The chain of JMPENVs ends within the interpreter itself, contexts count the
 * recursion of the subs that they call, subs and statements name their files, and symbols name the
 * subs that they have.
 */
#include "symbols/runtime/perl_check.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define STACKS_MAX	 64u
#define CONTEXTS_MAX	 2048
#define CATCHES_MAX	 256u
#define CONTEXT_SIZE_MAX 256u
#define CODE_SIZE	 104u
#define TEXT_MAX	 256u
#define LINE_LIMIT	 (1u << 24)
#define CONTEXT_LAST	 13 /* of types */
#define STASH_MAX	 (1u << 24)
#define INTERPRETER_MAX	 8192u /* bytes */

struct perl_checker {
	const struct perl_layout *l;
	perl_read_fn *read;
	void *arg;
	const char *why;
	uint64_t interp;
	unsigned int subs, contexts;
	uint8_t context[CONTEXT_SIZE_MAX];
	uint8_t code[CODE_SIZE];
};

static int refuse(struct perl_checker *c, const char *why)
{
	c->why = why;
	return -EINVAL;
}

static int read_word(struct perl_checker *c, uint64_t addr, uint64_t *value)
{
	return c->read(c->arg, addr, value, sizeof(*value));
}

static int read_int(struct perl_checker *c, uint64_t addr, uint32_t *value)
{
	return c->read(c->arg, addr, value, sizeof(*value));
}

static uint64_t word_at(const uint8_t *bytes, size_t size, uint32_t at)
{
	uint64_t value = 0;

	if (at <= size - sizeof(value))
		memcpy(&value, bytes + at, sizeof(value));
	return value;
}

static uint64_t context_word(const struct perl_checker *c, uint32_t at)
{
	return word_at(c->context, sizeof(c->context), at);
}

static uint64_t code_word(const struct perl_checker *c, uint32_t at)
{
	return word_at(c->code, sizeof(c->code), at);
}

/* --- texts ----------------------------------------------------------------------------------- */

static bool is_printable(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return false;
	return length > 0;
}

/* Characters up to a zero byte. */
static bool is_file(struct perl_checker *c, uint64_t addr)
{
	char text[TEXT_MAX];
	size_t n = 0;

	/* Byte by byte: nothing may follow it. */
	while (n < TEXT_MAX && !c->read(c->arg, addr + n, text + n, 1) && text[n])
		n++;
	return n < TEXT_MAX && is_printable(text, n);
}

/* A HEK: a shared text, which ends with a zero byte. */
static bool is_text(struct perl_checker *c, uint64_t addr)
{
	uint32_t length;
	char text[TEXT_MAX];

	return addr && !(addr & 3) && !read_int(c, addr + PERL_TEXT_LENGTH, &length) && length &&
	       length < TEXT_MAX && !c->read(c->arg, addr + PERL_TEXT, text, length + 1) &&
	       !text[length] && is_printable(text, length);
}

static bool is_package(struct perl_checker *c, uint64_t stash)
{
	uint64_t body, name, last;
	uint32_t names;

	if (read_word(c, stash + PERL_VALUE_BODY, &body))
		return false;
	if (c->l->stash_last &&
	    (read_word(c, body + c->l->stash_last, &last) ||
	     read_word(c, stash + PERL_VALUE_ARRAY, &body) || last >= STASH_MAX))
		return false;
	if (c->l->stash_last)
		body += 8 * (last + 1);
	if (read_word(c, body + c->l->stash_name, &name) ||
	    read_int(c, body + c->l->stash_names, &names) || (int32_t)names > 1000 ||
	    (int32_t)names < -1000)
		return false;
	if (names && read_word(c, name, &name))
		return false;
	return is_text(c, name);
}

/* A sub that a program in C calls has no statement: PL_compiling, a part of the interpreter, is. */
static bool is_compiling(const struct perl_checker *c, uint64_t cop)
{
	return !c->l->global && cop > c->interp && cop - c->interp < INTERPRETER_MAX;
}

static int check_statement(struct perl_checker *c, uint64_t cop)
{
	uint64_t file;
	uint32_t line;

	if (!cop || cop & 7 || read_int(c, cop + c->l->cop_line, &line))
		return refuse(c, "a statement is at an impossible line");
	if (!line && is_compiling(c, cop))
		return 0;
	if (line > LINE_LIMIT || !line)
		return refuse(c, "a statement is at an impossible line");
	if (read_word(c, cop + c->l->cop_file, &file))
		return refuse(c, "a statement has no file");
	if (c->l->global) {
		if (read_word(c, file + PERL_VALUE_BODY, &file) ||
		    read_word(c, file + c->l->symbol_name, &file) || !is_text(c, file))
			return refuse(c, "a statement has no symbol of a file");
		file += PERL_TEXT + PERL_FILE_PREFIX;
	}
	if (!is_file(c, file))
		return refuse(c, "a statement has no file");
	return 0;
}

/* --- subs and contexts ----------------------------------------------------------------------- */

static int check_name(struct perl_checker *c)
{
	uint64_t name = code_word(c, c->l->code_name), stash = code_word(c, c->l->code_stash), body;

	if (!((uint32_t)code_word(c, c->l->code_flags) & PERL_CODE_NAMED)) {
		if (read_word(c, name + PERL_VALUE_BODY, &body) ||
		    read_word(c, body + c->l->symbol_name, &name) ||
		    read_word(c, body + c->l->symbol_stash, &stash))
			return refuse(c, "a sub has no symbol");
	}
	if (!is_text(c, name))
		return refuse(c, "a sub has no name");
	if (!is_package(c, stash))
		return refuse(c, "a sub has no package");
	return 0;
}

static int read_code(struct perl_checker *c, uint64_t code)
{
	uint64_t head[2];

	if (!code || code & 7 || c->read(c->arg, code, head, sizeof(head)) ||
	    (head[1] >> 32 & PERL_TYPE_MASK) != PERL_TYPE_CODE ||
	    c->read(c->arg, head[0], c->code, sizeof(c->code)))
		return refuse(c, "a context calls no sub");
	return 0;
}

/* The context calls a sub; in the innermost ones that may be about to begin or to end. */
static int check_sub(struct perl_checker *c)
{
	const uint64_t code = context_word(c, c->l->context_code);
	const uint32_t before = (uint32_t)context_word(c, c->l->context_depth);
	uint64_t root, file;
	uint32_t depth;
	int err;

	if (c->contexts == 1 && !code)
		return 0;
	err = read_code(c, code);
	if (!err)
		err = check_name(c);
	if (err)
		return err;
	file = code_word(c, c->l->code_file);
	root = code_word(c, c->l->code_root);
	depth = (uint32_t)code_word(c, c->l->code_depth);
	if (!is_file(c, file))
		return refuse(c, "a sub has no file");
	/* An operation begins with the next one and with its function. */
	if (!root || root & 7 || read_word(c, root + 16, &file) || !file)
		return refuse(c, "a sub has no operations");
	if (before >= depth && c->contexts > 1)
		return refuse(c, "a sub is not as deep as its context says");
	if (depth > before + CONTEXTS_MAX)
		return refuse(c, "a sub is at an impossible depth");
	c->subs += depth == before + 1;
	return check_statement(c, context_word(c, c->l->context_cop));
}

static int check_eval(struct perl_checker *c)
{
	const uint64_t catch = context_word(c, c->l->context_catch),
		       code = context_word(c, c->l->context_eval);
	uint64_t back;

	if (c->contexts == 1)
		return 0;
	if (!catch || catch & 7 || read_word(c, catch, &back) || back & 7)
		return refuse(c, "an eval has nothing to return to");
	if (!(c->context[0] & PERL_CONTEXT_TRY) && code)
		return read_code(c, code);
	return 0;
}

static int check_context(struct perl_checker *c, uint64_t addr)
{
	int type;

	if (c->read(c->arg, addr, c->context, c->l->context_size))
		return refuse(c, "a context cannot be read");
	c->contexts++;
	type = c->context[0] & PERL_CONTEXT_MASK;
	if (type > CONTEXT_LAST)
		return refuse(c, "a context is of no type");
	if (type == PERL_CONTEXT_SUB && c->context[0] & PERL_CONTEXT_FAKE)
		return 0;
	if (type == PERL_CONTEXT_SUB || type == PERL_CONTEXT_FORMAT)
		return check_sub(c);
	if (type == PERL_CONTEXT_EVAL)
		return check_eval(c);
	return 0;
}

static int check_stack(struct perl_checker *c, uint64_t stack, uint64_t *back)
{
	uint64_t contexts;
	uint32_t top, max;
	int err = 0;

	if (!stack || stack & 7 || read_word(c, stack + PERL_STACK_CONTEXTS, &contexts) ||
	    read_word(c, stack + PERL_STACK_BACK, back) ||
	    read_int(c, stack + PERL_STACK_TOP, &top) || read_int(c, stack + PERL_STACK_MAX, &max))
		return refuse(c, "a stack cannot be read");
	if ((int32_t)max < 0 || (int32_t)top > (int32_t)max || (int32_t)top < -1 || !contexts)
		return refuse(c, "a stack has an impossible size");
	for (int32_t i = (int32_t)top; i >= 0 && c->contexts < CONTEXTS_MAX && !err; i--)
		err = check_context(c, contexts + (uint64_t)i * c->l->context_size);
	return err;
}

/* --- the interpreter ------------------------------------------------------------------------- */

/* Variables of the native stack, each above the one before, and at the end the interpreter's own.
 */
static int check_catches(struct perl_checker *c, uint64_t interp)
{
	uint64_t at, before = 0;

	if (read_word(c, interp + c->l->interp_catch, &at))
		return refuse(c, "the interpreter cannot be read");
	for (unsigned int n = 0; n < CATCHES_MAX; n++) {
		if (at == interp + c->l->interp_start)
			return 0;
		if (!at || at & 7 || at <= before)
			break;
		before = at;
		if (read_word(c, at, &at))
			break;
	}
	return refuse(c, "what catches exceptions does not end with the interpreter");
}

/* A lone wrong offset shows: these are neighbours. */
static bool is_consistent(const struct perl_layout *l)
{
	return l->context_size <= CONTEXT_SIZE_MAX && l->global <= 1 &&
	       (l->global || (l->interp_start == l->interp_catch + 8 &&
			      l->interp_stack == l->interp_cop + 16)) &&
	       l->cop_file == l->cop_line + 12 && l->context_retop == l->context_cop + 32 &&
	       l->context_depth == l->context_code + 8 && l->context_eval == l->context_code + 16 &&
	       l->context_catch == l->context_eval + 8 && l->context_size == l->context_catch + 8 &&
	       l->code_root == l->code_stash + 16 && l->code_name == l->code_root + 8 &&
	       l->code_file == l->code_name + 8 && l->code_depth == l->code_flags + 4 &&
	       l->code_flags == l->code_file + 28 && l->symbol_stash == l->symbol_name + 8 &&
	       l->stash_names == l->stash_name + 28;
}

int perl_check(const struct perl_layout *layout, uint64_t first, perl_read_fn *read, void *arg,
	       const char **why)
{
	struct perl_checker c = {.l = layout, .read = read, .arg = arg};
	uint64_t interp = 0, stack = 0, cop = 0;
	int err = is_consistent(layout) ? 0 : refuse(&c, "its layout contradicts itself");

	if (layout->global)
		interp = first;
	else if (!err && read_word(&c, first, &interp))
		err = refuse(&c, "the state cannot be read");
	if (!err && !interp)
		return -ENOENT;
	c.interp = interp;
	if (!err)
		err = check_catches(&c, interp);
	if (!err && (read_word(&c, interp + layout->interp_stack, &stack) ||
		     read_word(&c, interp + layout->interp_cop, &cop)))
		err = refuse(&c, "the interpreter cannot be read");
	if (!err)
		err = check_statement(&c, cop);
	for (unsigned int n = 0; !err && stack && n < STACKS_MAX; n++)
		err = check_stack(&c, stack, &stack);
	if (!err && !c.subs)
		err = -ENOENT;
	*why = c.why;
	return err;
}
